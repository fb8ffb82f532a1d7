"""What players of checkers count: men and kings, how far the men have come, and which pieces can be taken."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games.bits import count
from beamzero.games.checkers.board import BITS, HOME_ROWS, able, jumps, neighbours, union

NAMES = ("men", "kings", "rows walked", "men at home", "centre", "pieces attacked", "pieces to take")
POINTS = (1.0, 1.5, 0.03, 0.15, 0.1, 0.2, 0.4)

_CENTRE = np.bitwise_or.reduce(BITS[2:6, 2:6], axis=None)
_ROW_BITS = (np.uint32(0xF0F0F0F0), np.uint32(0xFF00FF00), np.uint32(0xFFFF0000))
"""The squares in whose row number, counted from 0 at Black's home row, the bits of 1, 2 and 4 are set."""


def features(black: Array, white: Array, kings: Array, is_first: Array) -> Array:
    """float32 [len(NAMES)]: the mover's less the other side's.

    Men walk rows from their home row on; those still there keep the others from becoming kings. The centre is the
    middle half of the middle four rows. A piece is attacked if a jump can take it. The pieces to take are those that
    the mover attacks: it is its turn, so they are as good as gone.
    """
    takes = _taken(black, white, kings, True), _taken(white, black, kings, False)
    pairs = zip(_pieces(black, kings, 0), _pieces(white, kings, 1))
    leads = [first - second for first, second in (*pairs, takes)]
    found = [*(jnp.where(is_first, lead, -lead) for lead in leads), jnp.where(is_first, *takes)]
    return jnp.stack([number.astype(jnp.float32) for number in found])


def _pieces(pieces: Array, kings: Array, side: int) -> list[Array]:
    """int32 [] each: men, kings, rows walked, men at home, pieces in the centre."""
    men = pieces & ~kings
    walked = [count(men & (rows if side == 0 else ~rows)) << i for i, rows in enumerate(_ROW_BITS)]
    return [
        count(men),
        count(pieces & kings),
        walked[0] + walked[1] + walked[2],
        count(men & HOME_ROWS[side]),
        count(pieces & _CENTRE),
    ]


def _taken(pieces: Array, others: Array, kings: Array, is_first: bool) -> Array:
    """int32 []: how many of `others` a jump of the side with these `pieces` can take."""
    starts = jumps(able(pieces, kings, is_first), pieces, others)
    return count(union([neighbours(squares, direction) for direction, squares in enumerate(starts)]))
