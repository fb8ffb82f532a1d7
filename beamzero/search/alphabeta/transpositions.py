"""A table of fixed size that remembers what a search has found, by the keys of positions.

Every answer is the one that a search without the table would give: an entry serves only a search of the same depth, or
one that is deeper where nothing lies beyond the depth of the entry.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
NO_MOVE = 0xFFFF

# An entry is a row of four words:
#   0, 1  the key
#   2     the score, counted from the position itself
#   3     bits 0 to 15 the best move; 16, 17 which bound the score is; 18 whether all lines were played to the end;
#         19 set in every entry; 20 to 31 the depth
ROW = 4
ENTRY_BYTES = 4 * ROW


class Entry(NamedTuple):
    """What the table says of a position."""

    there: Array  # bool [] whether it says anything
    score: Array  # int32 []
    bound: Array  # int32 [] EXACT, AT_LEAST or AT_MOST
    complete: Array  # bool [] whether all lines ended by the rules within the depth
    depth: Array  # int32 [] how many plies were searched
    move: Array  # int32 [] the best one, or NO_MOVE


def empty_table(entries: int) -> Array:
    """uint32 [entries + 1, 4]; `entries` is a power of two, or 0. The last row holds nothing that is ever read."""
    return jnp.zeros((entries + 1, ROW), jnp.uint32)


def place_of(table: Array, key: Array) -> Array:
    """int32 []: the row of a key, uint32 [2]."""
    return (key[0] & np.uint32(max(0, table.shape[0] - 2))).astype(jnp.int32)


def read(row: Array, key: Array) -> Entry:
    """What a row, uint32 [4], says of the position with this key."""
    meta = row[3]
    return Entry(
        there=(row[0] == key[0]) & (row[1] == key[1]) & (_bits(meta, 19, 1) == 1),
        score=lax.bitcast_convert_type(row[2], jnp.int32),
        bound=_bits(meta, 16, 2),
        complete=_bits(meta, 18, 1) == 1,
        depth=_bits(meta, 20, 12),
        move=_bits(meta, 0, 16),
    )


def write(key: Array, entry: Entry) -> Array:
    """The row, uint32 [4], for this entry."""
    parts = ((entry.move, 0), (entry.bound, 16), (entry.complete, 18), (np.int32(1), 19), (entry.depth, 20))
    shifted = [jnp.asarray(part).astype(jnp.uint32) << np.uint32(by) for part, by in parts]
    meta = functools.reduce(jnp.bitwise_or, shifted)
    return jnp.stack([key[0], key[1], lax.bitcast_convert_type(entry.score, jnp.uint32), meta])


def serves(entry: Entry, depth: Array) -> Array:
    """bool []: whether a search of `depth` plies would find the same score."""
    return entry.there & ((entry.depth == depth) | entry.complete & (entry.depth <= depth))


def _bits(word: Array, low: int, number: int) -> Array:
    return (word >> np.uint32(low) & np.uint32(2**number - 1)).astype(jnp.int32)
