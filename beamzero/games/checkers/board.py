"""The board of draughts: 32 dark squares as the bits of a word, their neighbours, and positions as text.

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

ALL_SQUARES, NO_SQUARES = np.uint32(0xFFFFFFFF), np.uint32(0)
LAST_ROWS = (np.uint32(0xF0000000), np.uint32(0x0000000F))
"""The squares where Black's men become kings, and where White's do."""
HOME_ROWS = LAST_ROWS[::-1]
"""The squares where the rearmost of Black's men begin, and of White's."""

SQUARE_NUMBERS = np.array(
    [[(row % 2 == column % 2) * (4 * row + 4 - column // 2) for column in range(8)] for row in range(8)]
)
"""[8, 8]: the numbers of the squares as Black sees them, its home row first, from its left; 0 for the light ones."""
BITS = np.where(SQUARE_NUMBERS > 0, np.uint32(1) << np.maximum(SQUARE_NUMBERS - 1, 0).astype(np.uint32), NO_SQUARES)
"""uint32 [8, 8]: the bits of the squares in the same order, none for the light ones."""

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
    """Return the squares, uint32, to which a step in `direction` leads from `squares`; those off the board are gone."""
    (some, by), (rest, rest_by) = _STEPS[direction]
    return _shift(squares & some, by) | _shift(squares & rest, rest_by)


def _shift(word: Any, by: int) -> Any:
    return word << np.uint32(by) if by > 0 else word >> np.uint32(-by)


def able(pieces: Array, kings: Array, is_first: Any) -> list[Array]:
    """List for each direction those of a side's `pieces` that ever go there: men forward, kings anywhere."""
    down = pieces & jnp.where(is_first, ALL_SQUARES, kings)
    up = pieces & jnp.where(is_first, kings, ALL_SQUARES)
    return [down, down, up, up]


def jumps(able: list[Array], own: Array, other: Array) -> list[Array]:
    """List for each direction its `able` pieces that have one of `other` before them and nothing behind that."""
    return [able[d] & neighbours(other & neighbours(~(own | other), 3 - d), 3 - d) for d in range(4)]


def count_all_bits(words: list[Array]) -> Array:
    """Count the bits that are set in all words, int32."""
    return functools.reduce(jnp.add, map(bits.count_bits, words))


def nth_place(words: list[Array], rank: Array) -> Array:
    """Find the set bit with `rank` [...] others before it, counted through all words: 32 * word + bit, int32 [...]."""
    word, first, seen = words[0], jnp.zeros_like(rank), bits.count_bits(words[0])
    within = rank
    for i in range(1, len(words)):
        is_later = rank >= seen
        word, first, within = (
            jnp.where(is_later, words[i], word),
            jnp.where(is_later, np.int32(32 * i), first),
            jnp.where(is_later, rank - seen, within),
        )
        seen = seen + bits.count_bits(words[i])
    return first + bits.nth_bit(word, within)


def pack_squares(numbers: Iterable[int]) -> int:
    """Pack squares, given by their numbers, into a word; 0 is no square."""
    return sum(1 << number >> 1 for number in numbers)


def list_squares(word: int) -> list[int]:
    """List the numbers of the squares in a word."""
    return [place + 1 for place in range(32) if word >> place & 1]


# --- positions as text -----------------------------------------------------------------------------------------------

_FEN = re.compile(
    r"(?P<side>[BW])(?=.*:W(?P<white>[K\d,]*))(?=.*:B(?P<black>[K\d,]*))(:[WB](K?\d+(,K?\d+)*)?){2}"
    r"(:H(?P<quiet>\d{1,4}))?(:J(?P<jumper>\d{1,2}))?\.?"
)


class CheckersFen(NamedTuple):
    """The parts of a FEN of checkers."""

    black: int  # pieces, as words
    white: int
    kings: int
    jumper: int  # the piece that must jump on
    side: int  # 0 Black to move, 1 White
    quiet: int  # plies without a capture


def write_checkers_fen(fen: CheckersFen) -> str:
    """Write a position as players do, ``B:W21,22,K30:B1,K7``: who moves, and each side's squares, K before a king's.

    ``:H12`` follows after 12 plies without a capture, and ``:J7`` where the piece on 7 must jump on.
    """
    kings = list_squares(fen.kings)
    white, black = (
        ",".join(f"K{number}" if number in kings else str(number) for number in list_squares(pieces))
        for pieces in (fen.white, fen.black)
    )
    quiet = f":H{fen.quiet}" if fen.quiet else ""
    jumper = "".join(f":J{number}" for number in list_squares(fen.jumper))
    return f"{'BW'[fen.side]}:W{white}:B{black}{quiet}{jumper}"


def read_checkers_fen(text: str) -> CheckersFen:
    """Read a position as `write_checkers_fen` writes it; BadInput where there can be none with these pieces."""
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
    black, white = (pack_squares(int(name.lstrip("K")) for name in names) for names in named.values())
    kings = pack_squares(int(name[1:]) for name in both if name.startswith("K"))
    if (black & int(LAST_ROWS[0]) | white & int(LAST_ROWS[1])) & ~kings:
        raise BadInput(f"{text!r} cannot be: a man on its last row is a king")
    return CheckersFen(black, white, kings, pack_squares([jumper]), "BW".index(found["side"]), int(found["quiet"] or 0))
