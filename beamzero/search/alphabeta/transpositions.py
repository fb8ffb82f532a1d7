"""The transposition table: results of searches by the keys of positions, in a fixed size.

Every answer is the one that a search without the table would give: an entry serves only a search of its own depth, or
a deeper one where no line goes on beyond the depth of the entry.
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
    """The result of a search of one position, as the table keeps it."""

    there: Array  # bool [] whether the table has the position
    score: Array  # int32 []
    bound: Array  # int32 [] EXACT, AT_LEAST or AT_MOST
    complete: Array  # bool [] whether all lines ended by the rules within the depth
    depth: Array  # int32 [] plies searched
    move: Array  # int32 [] the best one, or NO_MOVE


def empty_table(entries: int) -> Array:
    """Make an empty table, uint32 [entries + 1, 4]; `entries` is a power of two, or 0. The last row is never read."""
    return jnp.zeros((entries + 1, ROW), jnp.uint32)


def place_of(table: Array, key: Array) -> Array:
    """Find the row, int32 [], of a key, uint32 [2]."""
    return (key[0] & np.uint32(max(0, table.shape[0] - 2))).astype(jnp.int32)


def read(row: Array, key: Array) -> Entry:
    """Read a row, uint32 [4], as the entry of a key; `there` is false where the row holds another position."""
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
    """Write an entry as a row, uint32 [4]."""
    parts = ((entry.move, 0), (entry.bound, 16), (entry.complete, 18), (np.int32(1), 19), (entry.depth, 20))
    shifted = [jnp.asarray(part).astype(jnp.uint32) << np.uint32(by) for part, by in parts]
    meta = functools.reduce(jnp.bitwise_or, shifted)
    return jnp.stack([key[0], key[1], lax.bitcast_convert_type(entry.score, jnp.uint32), meta])


def serves(entry: Entry, depth: Array) -> Array:
    """Tell, bool [], whether a search of `depth` plies would find the score of the entry."""
    return entry.there & ((entry.depth == depth) | entry.complete & (entry.depth <= depth))


def _bits(word: Array, low: int, number: int) -> Array:
    """Read `number` bits of a word from the bit `low` on, int32 []."""
    return (word >> np.uint32(low) & np.uint32(2**number - 1)).astype(jnp.int32)
