"""Features of checkers: men and kings, how far the men have come, and which pieces can be taken."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games.bits import count_bits, union
from beamzero.games.checkers.board import BITS, HOME_ROWS, able, jumps, neighbours

CHECKERS_POINTS = {
    "men": 1.0,
    "kings": 1.5,
    "rows walked": 0.03,
    "men at home": 0.15,
    "centre": 0.1,
    "pieces attacked": 0.2,
    "pieces to take": 0.4,
}
"""The features, and how many men one of each is worth."""

_CENTRE = np.bitwise_or.reduce(BITS[2:6, 2:6], axis=None)
_ROW_BITS = (np.uint32(0xF0F0F0F0), np.uint32(0xFF00FF00), np.uint32(0xFFFF0000))
"""The squares in whose row number, counted from 0 at Black's home row, the bits of 1, 2 and 4 are set."""


def features(black: Array, white: Array, kings: Array, is_first: Array) -> Array:
    """Count features, float32 [len(CHECKERS_POINTS)]: the mover's less the other side's.

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
    """Count, int32 [] each, a side's men, kings, rows walked, men at home, pieces in the centre."""
    men = pieces & ~kings
    walked = [count_bits(men & (rows if side == 0 else ~rows)) << i for i, rows in enumerate(_ROW_BITS)]
    return [
        count_bits(men),
        count_bits(pieces & kings),
        walked[0] + walked[1] + walked[2],
        count_bits(men & HOME_ROWS[side]),
        count_bits(pieces & _CENTRE),
    ]


def _taken(pieces: Array, others: Array, kings: Array, is_first: bool) -> Array:
    """Count those of `others`, int32 [], that a jump of the side with these `pieces` can take."""
    starts = jumps(able(pieces, kings, is_first), pieces, others)
    return count_bits(union([neighbours(squares, direction) for direction, squares in enumerate(starts)]))
