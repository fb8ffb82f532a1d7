"""Lines that can still be completed, on a board of any size: sets of squares as the bits of a few words.

Row r of column c is bit c * (rows + 1) + r. The spare bit on top of each column is never set, so that no line runs from
one column into the next.

     2   6  10       rows = 3, columns = 3; 3, 7 and 11 are spare
     1   5   9
     0   4   8
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games.bits import count_bits

_NONE = np.uint32(0)


class Words(tuple[Any, ...]):
    """A set of squares: uint32 [] each, the lowest first. The operators are those of sets."""

    def __and__(self, other: Words) -> Words:
        return Words(a & b for a, b in zip(self, other, strict=True))

    def __or__(self, other: Words) -> Words:
        return Words(a | b for a, b in zip(self, other, strict=True))

    def __sub__(self, other: Words) -> Words:
        return Words(a & ~b for a, b in zip(self, other, strict=True))

    def shift(self, by: int) -> Words:
        """Move all squares `by` places up, or down where that is negative; those that leave the words are gone."""
        whole, rest = divmod(by, 32)
        padded = dict(enumerate(self))
        near = [padded.get(i - whole, _NONE) for i in range(len(self))]
        if not rest:
            return Words(near)
        far = [padded.get(i - whole - 1, _NONE) for i in range(len(self))]
        return Words(a << np.uint32(rest) | b >> np.uint32(32 - rest) for a, b in zip(near, far, strict=True))

    def number(self) -> Array:
        """Count the squares, int32 []."""
        return sum((count_bits(word) for word in self), start=jnp.int32(0))


@dataclasses.dataclass(frozen=True)
class OpenLines:
    """Lines of `length` squares, upright, level and slanting."""

    rows: int
    columns: int
    length: int

    @property
    def _num_words(self) -> int:
        return -(-(self.rows + 1) * self.columns // 32)

    @property
    def _steps(self) -> list[int]:
        """The number of bits between the squares of a line, for each direction in which one fits."""
        up, on = self.length <= self.rows, self.length <= self.columns
        fits = {1: up, self.rows + 1: on, self.rows + 2: up and on, self.rows: up and on}
        return [step for step, there in fits.items() if there]

    def squares(self, wanted: Callable[[int, int], bool]) -> Words:
        """Make the fixed set of those squares whose row and column are `wanted`."""
        places = [(row, column) for row in range(self.rows) for column in range(self.columns) if wanted(row, column)]
        number = sum(1 << column * (self.rows + 1) + row for row, column in places)
        return Words(np.uint32(number >> 32 * i & 0xFFFFFFFF) for i in range(self._num_words))

    def pack(self, columns: Array) -> Words:
        """Make the set with these columns, uint [columns]: bit r of each is its row r; the spare bit may be set too."""
        words: list[Any] = [_NONE] * (self._num_words + 1)
        for i in range(self.columns):
            column = columns[i].astype(jnp.uint32)
            word, by = divmod(i * (self.rows + 1), 32)
            words[word] |= column << np.uint32(by)
            if by + self.rows >= 32:
                words[word + 1] |= column >> np.uint32(32 - by)
        return Words(words[:-1])

    def count(self, own: Words, empty: Words) -> tuple[Words, Array]:
        """Find the empty squares that complete a line of `own`; and count its lines that lack just two, int32 []."""
        completing, lacking_two = empty - empty, jnp.int32(0)
        for step in self._steps:
            # Of the lines that begin at each square: those that lack no stone so far, those that lack one, and two.
            none, one, two = own, empty, empty - empty
            for i in range(1, self.length):
                owned, free = own.shift(-i * step), empty.shift(-i * step)
                none, one, two = none & owned, one & owned | none & free, two & owned | one & free
            for i in range(self.length):
                completing |= one.shift(i * step)
            lacking_two += two.number()
        return completing & empty, lacking_two
