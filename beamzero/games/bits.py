"""Sets of squares as bits: 32 of them in a word, 64 in a pair of words.

States keep words as scalars, not in arrays: a batch is then one flat row of words, which a compiler works on many at a
time. Othello's random play is 15 times slower on a CPU with each pair as an array.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import jax.numpy as jnp
import numpy as np
from jax import Array

_Set = TypeVar("_Set", "Bits", Array)


class Bits(NamedTuple):
    """A set of squares 0 to 63; the operators are those of sets."""

    lo: Any  # uint32 squares 0 to 31
    hi: Any  # uint32 squares 32 to 63

    def __and__(self, other: Bits) -> Bits:
        return Bits(self.lo & other.lo, self.hi & other.hi)

    def __or__(self, other: Bits) -> Bits:
        return Bits(self.lo | other.lo, self.hi | other.hi)

    def __sub__(self, other: Bits) -> Bits:
        return Bits(self.lo & ~other.lo, self.hi & ~other.hi)

    def any(self) -> Array:
        return (self.lo | self.hi) != 0

    def number(self) -> Array:
        """Count the squares, int32 []."""
        return count_bits(self.lo) + count_bits(self.hi)

    def shift(self, by: int) -> Bits:
        """Move all squares up by fewer than 32 places, or down where `by` is negative; those that leave are gone."""
        if by < 0:
            return Bits(self.lo >> np.uint32(-by) | self.hi << np.uint32(32 + by), self.hi >> np.uint32(-by))
        return Bits(self.lo << np.uint32(by), self.hi << np.uint32(by) | self.lo >> np.uint32(32 - by))

    def has(self, squares: Array | np.ndarray) -> Array:
        """Tell which of `squares` [...] are in the set, bool [...]."""
        return has(jnp.where(squares < 32, self.lo, self.hi), squares & 31)

    def nth(self, rank: Array | np.ndarray) -> Array:
        """Find the square of the set that has `rank` [...] others of it below, int32 [...]."""
        below = count_bits(self.lo)
        is_high = rank >= below
        place = nth_bit(jnp.where(is_high, self.hi, self.lo), jnp.where(is_high, rank - below, rank))
        return jnp.where(is_high, place + 32, place)


def only_if(condition: Array, squares: Bits) -> Bits:
    """Return `squares` where `condition` holds, else none."""
    return Bits(jnp.where(condition, squares.lo, np.uint32(0)), jnp.where(condition, squares.hi, np.uint32(0)))


def bit(square: Array) -> Bits:
    """Make the set of one square, int32 []."""
    one = np.uint32(1) << (square & 31).astype(jnp.uint32)
    return Bits(jnp.where(square < 32, one, np.uint32(0)), jnp.where(square < 32, np.uint32(0), one))


def constant(*squares: int) -> Bits:
    """Make a fixed set of some squares."""
    number = sum(1 << square for square in set(squares))
    return Bits(np.uint32(number & 0xFFFFFFFF), np.uint32(number >> 32))


EMPTY = constant()
"""The set of no squares."""


def union(sets: Iterable[_Set]) -> _Set:
    """Unite sets of squares, each given as Bits or as a word."""
    return functools.reduce(operator.or_, sets)


# --- single words ----------------------------------------------------------------------------------------------------


def count_bits(word: Array) -> Array:
    """Count the bits of a word that are set, int32."""
    return jnp.bitwise_count(word).astype(jnp.int32)


def has(word: Array, places: Array | np.ndarray) -> Array:
    """Tell which of the bits `places` [...] of a word are set, bool [...]."""
    return (word >> places.astype(np.uint32) & np.uint32(1)) != 0


def nth_bit(word: Array, rank: Array | np.ndarray) -> Array:
    """Find the set bit of a word that has `rank` [...] others below it, int32 [...], by halving the word five times."""
    place = jnp.zeros_like(rank)
    for half in (16, 8, 4, 2, 1):
        low = word & np.uint32(2**half - 1)
        below = count_bits(low)
        is_above = rank >= below
        rank = jnp.where(is_above, rank - below, rank)
        word = jnp.where(is_above, word >> np.uint32(half), low)
        place = jnp.where(is_above, place + half, place)
    return place
