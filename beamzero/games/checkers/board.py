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

import functools
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import bits

ALL, NONE = np.uint32(0xFFFFFFFF), np.uint32(0)
LAST_ROWS = (np.uint32(0xF0000000), np.uint32(0x0000000F))
"""Where Black's men become kings, and where White's do."""
HOME_ROWS = LAST_ROWS[::-1]
"""Where the rearmost of Black's men begin, and of White's."""

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


def able(pieces: Array, kings: Array, is_first: Any) -> list[Array]:
    """For each direction, those of a side's `pieces` that ever go there: men forward, kings anywhere."""
    down = pieces & jnp.where(is_first, ALL, kings)
    up = pieces & jnp.where(is_first, kings, ALL)
    return [down, down, up, up]


def jumps(able: list[Array], own: Array, other: Array) -> list[Array]:
    """For each direction, those of its `able` pieces that have one of `other` before them and nothing behind that."""
    return [able[d] & neighbours(other & neighbours(~(own | other), 3 - d), 3 - d) for d in range(4)]


def union(words: list[Array]) -> Array:
    """uint32: the squares that are in any word."""
    return functools.reduce(jnp.bitwise_or, words)


def number(words: list[Array]) -> Array:
    """int32: how many bits are set in all words."""
    return functools.reduce(jnp.add, map(bits.count, words))


def nth(words: list[Array], rank: Array) -> Array:
    """int32 [...]: the set bit that has `rank` others before it, counted through all words: 32 * word + bit."""
    word, first, seen = words[0], jnp.zeros_like(rank), bits.count(words[0])
    within = rank
    for i in range(1, len(words)):
        is_later = rank >= seen
        word, first, within = (
            jnp.where(is_later, words[i], word),
            jnp.where(is_later, np.int32(32 * i), first),
            jnp.where(is_later, rank - seen, within),
        )
        seen = seen + bits.count(words[i])
    return first + bits.nth(word, within)


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
