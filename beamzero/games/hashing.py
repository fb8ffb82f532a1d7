"""Keys of positions, for the tables of searches.

The classic Zobrist key is the exclusive or of random numbers, one for each piece on its square, kept up to date move by
move. On a board of words it is cheaper to mix the words themselves, at any time and without a table of numbers; the key
is as good.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

_SEEDS = (np.uint32(0x9E3779B9), np.uint32(0x85EBCA6B))
_FACTORS = (np.uint32(0x7FEB352D), np.uint32(0xC2B2AE35))


def hash_words(*words: Array) -> Array:
    """Mix one or more uint32 scalars, whose order counts, into a key, uint32 [2]."""
    return jnp.stack([_chain(words, seed, factor) for seed, factor in zip(_SEEDS, _FACTORS, strict=True)])


def _chain(words: tuple[Array, ...], seed: np.uint32, factor: np.uint32) -> Array:
    key: Array | np.uint32 = seed
    for word in words:
        key = _mix((key ^ word) * factor + seed, factor)
    return jnp.asarray(key)


def _mix(word: Array, factor: np.uint32) -> Array:
    """Mix the bits of `word`: each bit of the result depends on all of them, and no two words give the same result."""
    word = (word ^ word >> np.uint32(16)) * factor
    word = (word ^ word >> np.uint32(15)) * np.uint32(0x846CA68B)
    return word ^ word >> np.uint32(16)


def pack_bytes(*counts: Array) -> list[Array]:
    """Pack the uint8 vectors `counts` into uint32 scalars, four numbers each."""
    row = jnp.concatenate(counts)
    words = jnp.pad(row, (0, -row.size % 4)).reshape(-1, 4).astype(jnp.uint32)
    packed = jnp.sum(words << np.array([[0, 8, 16, 24]], np.uint32), axis=1, dtype=jnp.uint32)
    return [packed[i] for i in range(packed.size)]


def words_of(tree: Any) -> list[Array]:
    """List the elements of all arrays of a pytree as uint32 scalars; a large array is folded into 16 of them first."""
    return [word for leaf in jax.tree.leaves(tree) for word in _as_words(jnp.asarray(leaf))]


def _as_words(array: Array) -> list[Array]:
    if jnp.issubdtype(array.dtype, jnp.floating):
        array = lax.bitcast_convert_type(array.astype(jnp.float32), jnp.uint32)
    flat = array.astype(jnp.uint32).reshape(-1)
    if flat.size > 64:  # A large state is folded first: a chain of thousands of words would take minutes to compile.
        flat = _fold(flat, 16)
    return [flat[i] for i in range(flat.size)]


def _fold(flat: Array, width: int) -> Array:
    """Fold a uint32 vector of any length into [width]: each word is mixed with its place, then they are added up."""
    size = -(-flat.size // width) * width
    place = np.arange(size, dtype=np.uint32)
    padded = jnp.pad(flat, (0, size - flat.size))
    mixed = _mix((padded ^ jnp.asarray(place * np.uint32(0x9E3779B1))) * _FACTORS[0] + jnp.asarray(place), _FACTORS[1])
    return jnp.sum(mixed.reshape(-1, width), axis=0, dtype=jnp.uint32)
