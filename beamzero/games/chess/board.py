"""The squares of a chess board, and steps between them, in one direction or in all of them at once.

Bit 8 * rank + file stands for a square, on boards of up to 8 x 8 squares; smaller boards leave the other bits unset.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.games.bits import Bits, constant

Direction = tuple[int, int]
"""A step: files to the right, ranks up."""

_Tree = TypeVar("_Tree")


def choose(condition: Array | np.ndarray, first: Bits, second: Bits) -> Bits:
    """Return `first` where `condition` holds, else `second`."""
    return Bits(jnp.where(condition, first.lo, second.lo), jnp.where(condition, first.hi, second.hi))


def stack(sets: Iterable[Bits]) -> Bits:
    """Stack sets side by side."""
    lo, hi = zip(*sets, strict=True)
    return Bits(jnp.stack(lo), jnp.stack(hi))


def back(direction: Direction) -> Direction:
    """Return the opposite direction."""
    files, ranks = direction
    return -files, -ranks


def once(values: _Tree) -> _Tree:
    """Return `values`, unsigned words of any shape, such that each is computed once.

    XLA on a CPU joins long chains of cheap operations and computes what they share anew for each use, and for each
    element of a use, which costs more than all the rest. It does not see through a loop, and to turn all bits over
    twice costs next to nothing.
    """
    return lax.fori_loop(0, 2, lambda _, values: jax.tree.map(jnp.bitwise_not, values), values)


class Compass:
    """Steps in D directions at once, on a board of `size` x `size`: sets [] or [D] to sets [D].

    A step is a rotation of the 64 bits, which serves both ways, and a mask for what would leave the board.
    """

    def __init__(self, size: int, directions: tuple[Direction, ...]) -> None:
        by = np.array([8 * ranks + files for files, ranks in directions]) % 64
        self._swap, self._up = by >= 32, (by % 32).astype(np.uint32)
        arrivals = [_arrivals(size, direction) for direction in directions]
        self._arrivals = Bits(np.array([x.lo for x in arrivals]), np.array([x.hi for x in arrivals]))

    def step(self, squares: Bits) -> Bits:
        """Return the squares one step from each of `squares`; those off the board are gone."""
        lo, hi = choose(self._swap, Bits(squares.hi, squares.lo), squares)
        up, down = self._up, np.uint32(32) - self._up
        return Bits(lo << up | hi >> down, hi << up | lo >> down) & self._arrivals


def _arrivals(size: int, direction: Direction) -> Bits:
    """Return the squares that a step in `direction` from another one of the board can lead to."""
    files, ranks = direction
    inside = range(size)
    return constant(
        *(8 * rank + file for rank in inside for file in inside if rank - ranks in inside and file - files in inside)
    )


class Board:
    """The squares of a board of `size` x `size`, and single steps between them."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.squares = constant(*(8 * rank + file for rank in range(size) for file in range(size)))
        self.dark = constant(*(8 * r + f for r in range(size) for f in range(size) if (r + f) % 2 == 0))

    def rank(self, rank: int) -> Bits:
        """Return all squares of a rank, counted from 0."""
        return constant(*(8 * rank + file for file in range(self.size)))

    def step(self, squares: Bits, direction: Direction) -> Bits:
        """Return the squares one step from each of `squares`; those off the board are gone."""
        files, ranks = direction
        return squares.shift(8 * ranks + files) & _arrivals(self.size, direction)

    def see(self, squares: Bits, direction: Direction, through: Bits) -> Bits:
        """Return the squares seen from `squares` along `direction`: all in `through`, and the first that is not.

        The view grows by one square, by two, and by three more: all that there is between two edges of a board.
        """
        files, ranks = direction
        by = 8 * ranks + files
        one = through & _arrivals(self.size, direction)
        two = one & one.shift(by)
        view = squares
        for length, free in ((1, one), (2, two), (3, two & one.shift(2 * by))):
            view |= free & view.shift(length * by)
        return self.step(view, direction)

    def flip(self, squares: Bits) -> Bits:
        """Return the squares as the other side sees them: ranks in the other order, files as they are."""
        turned = Bits(_swap_bytes(squares.hi), _swap_bytes(squares.lo))
        return turned.shift(8 * (self.size - 8))


def _swap_bytes(word: Array) -> Array:
    word = (word & np.uint32(0x00FF00FF)) << np.uint32(8) | word >> np.uint32(8) & np.uint32(0x00FF00FF)
    return word << np.uint32(16) | word >> np.uint32(16)
