"""The board of draughts: 32 dark squares as the bits of a word, what is next to what, and positions as text.

Players number the squares; square n is bit n - 1.

         1     2     3     4      Black's home row: its men move down
      5     6     7     8
         9    10    11    12
     13    14    15    16
        17    18    19    20
     21    22    23    24
        25    26    27    28
     29    30    31    32         White's home row: its men move up
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from beamzero.errors import BadInput

ALL, NONE = np.uint32(0xFFFFFFFF), np.uint32(0)
LAST_ROWS = (np.uint32(0xF0000000), np.uint32(0x0000000F))
"""Where Black's men become kings, and where White's do."""

NUMBERS = np.array([[(row % 2 == column % 2) * (4 * row + 4 - column // 2) for column in range(8)] for row in range(8)])
"""[8, 8]: the squares as Black sees them, its home row first, each row from its left; 0 for the light ones."""
BITS = np.where(NUMBERS > 0, np.uint32(1) << np.maximum(NUMBERS - 1, 0).astype(np.uint32), NONE)
"""uint32 [8, 8]: the bit of each, none for the light ones."""

_INDENTED, _FLUSH = np.uint32(0x0F0F0F0F), np.uint32(0xF0F0F0F0)
"""The rows that begin with a light square, such as the top one, and those that begin with a dark one."""
_NOT_LEFT, _NOT_RIGHT = ~np.uint32(0x10101010), ~np.uint32(0x08080808)
"""All squares but those at the left edge, and but those at the right edge."""
_STEPS = (
    ((_INDENTED, 4), (_FLUSH & _NOT_LEFT, 3)),  # down and to the left
    ((_INDENTED & _NOT_RIGHT, 5), (_FLUSH, 4)),  # down and to the right
    ((_INDENTED, -4), (_FLUSH & _NOT_LEFT, -5)),  # up and to the left
    ((_INDENTED & _NOT_RIGHT, -3), (_FLUSH, -4)),  # up and to the right
)
"""For each direction, how far the bits of two halves of the board shift. Opposite directions add up to 3."""


def neighbours(squares: Any, direction: int) -> Any:
    """uint32: where a step in `direction` leads from each of `squares`; what would leave the board is gone."""
    (some, by), (rest, rest_by) = _STEPS[direction]
    return _shift(squares & some, by) | _shift(squares & rest, rest_by)


def _shift(word: Any, by: int) -> Any:
    return word << np.uint32(by) if by > 0 else word >> np.uint32(-by)


def word(numbers: Iterable[int]) -> int:
    """The squares of these numbers; 0 is none."""
    return sum(1 << number >> 1 for number in numbers)


def numbers(word: int) -> list[int]:
    """The numbers of these squares."""
    return [place + 1 for place in range(32) if word >> place & 1]


# --- positions as text -----------------------------------------------------------------------------------------------

_FEN = re.compile(
    r"(?P<side>[BW])(?=.*:W(?P<white>[K\d,]*))(?=.*:B(?P<black>[K\d,]*))(:[WB](K?\d+(,K?\d+)*)?){2}"
    r"(:H(?P<quiet>\d{1,4}))?(:J(?P<jumper>\d{1,2}))?\.?"
)


class Position(NamedTuple):
    """What a text tells of a position."""

    black: int  # pieces, as words
    white: int
    kings: int
    jumper: int  # the piece that must jump on
    side: int  # 0 Black to move, 1 White
    quiet: int  # plies without a capture


def write_fen(position: Position) -> str:
    """A position as players write it, ``B:W21,22,K30:B1,K7``: who moves, and each side's squares, K before a king's.

    ``:H12`` follows after 12 plies without a capture, and ``:J7`` where the piece on 7 must jump on.
    """
    kings = numbers(position.kings)
    white, black = (
        ",".join(f"K{number}" if number in kings else str(number) for number in numbers(pieces))
        for pieces in (position.white, position.black)
    )
    quiet = f":H{position.quiet}" if position.quiet else ""
    jumper = "".join(f":J{number}" for number in numbers(position.jumper))
    return f"{'BW'[position.side]}:W{white}:B{black}{quiet}{jumper}"


def read_fen(text: str) -> Position:
    """The position that such a text describes; BadInput where there can be none with these pieces."""
    found = _FEN.fullmatch(text.strip().upper())
    if not found:
        raise BadInput(f"{text!r} is no position: write one like B:W21,22,K30:B1,K7")
    named = {side: [name for name in found[side].split(",") if name] for side in ("black", "white")}
    both = [*named["black"], *named["white"]]
    taken = [int(name.lstrip("K")) for name in both]
    jumper = int(found["jumper"] or 0)
    if not {*taken} | {jumper or 1} <= {*range(1, 33)} or len({*taken}) < len(taken):
        raise BadInput(f"{text!r} cannot be: squares are 1 to 32, and no two pieces share one")
    if not both:
        raise BadInput(f"{text!r} cannot be: there is no piece on the board")
    if max(map(len, named.values())) > 12:
        raise BadInput(f"{text!r} cannot be: a side has at most 12 pieces")
    black, white = (word(int(name.lstrip("K")) for name in names) for names in named.values())
    kings = word(int(name[1:]) for name in both if name.startswith("K"))
    if (black & int(LAST_ROWS[0]) | white & int(LAST_ROWS[1])) & ~kings:
        raise BadInput(f"{text!r} cannot be: a man on its last row is a king")
    return Position(black, white, kings, word([jumper]), "BW".index(found["side"]), int(found["quiet"] or 0))
