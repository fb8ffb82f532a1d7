"""Features of Othello: moves, corners and the squares beside them, edges, exposed discs, and discs."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array

from beamzero.games.bits import Bits, constant

OTHELLO_POINTS = {
    "mobility": 4.0,
    "corners to take": 1.0,
    "corners": 1.6,
    "edge discs from a corner": 0.4,
    "X squares": -1.0,
    "C squares": -0.5,
    "frontier discs": -0.2,
    "discs": 0.2,
}
"""The features, and how many points one of each is worth."""


class Squares:
    """The squares of a board of `size` x `size`, sorted by how good they are; bits as in `OthelloState`."""

    def __init__(self, size: int) -> None:
        self.size = size
        last = size - 1
        self._board = self._where(lambda row, column: True)
        self._not_left = self._where(lambda row, column: column > 0)
        self._not_right = self._where(lambda row, column: column < last)
        self._level_edges = self._where(lambda row, column: row in (0, last))
        self._upright_edges = self._where(lambda row, column: column in (0, last))
        self._edges = self._level_edges | self._upright_edges
        self._corners = self._level_edges & self._upright_edges
        self._ring = self._where(lambda row, column: min(row, column, last - row, last - column) == 1)

    def _where(self, wanted: Callable[[int, int], bool]) -> Bits:
        line = range(self.size)
        return constant(*(8 * row + column for row in line for column in line if wanted(row, column)))

    def features(self, own: Bits, other: Bits, own_moves: Bits, other_moves: Bits) -> Array:
        """Count features, float32 [len(OTHELLO_POINTS)]: own less other's.

        Moves are the squares where each side may put a disc. Mobility is the lead in moves as a share of them all. X
        squares and C squares are those beside an empty corner, on the diagonal and on the edge. An edge disc from a
        corner is in an unbroken line from a corner of its own side, so that it can never be turned. A frontier disc is
        next to an empty square. Discs count the more the fuller the board is: by the fourth power of its filled share.
        """
        empty = self._board - own - other
        corners, exposed, beside = self._corners, self._near(empty), self._near(empty & self._corners)
        filled = 1 - empty.number().astype(jnp.float32) / self.size**2
        moves = own_moves.number(), other_moves.number()
        return jnp.stack(
            [
                _lead(*moves) / (moves[0] + moves[1] + 2).astype(jnp.float32),
                _lead((own_moves & corners).number(), (other_moves & corners).number()),
                _lead((own & corners).number(), (other & corners).number()),
                _lead(self._from_corners(own).number(), self._from_corners(other).number()),
                _lead((own & beside - self._edges).number(), (other & beside - self._edges).number()),
                _lead((own & beside & self._edges).number(), (other & beside & self._edges).number()),
                _lead((own & exposed).number(), (other & exposed).number()),
                _lead(own.number(), other.number()) * (filled * filled) * (filled * filled),
            ]
        )

    def order(self, empty: Bits, square: Array) -> Array:
        """Rate a square, int32 []: corners first, then edges, the middle, the ring around it; C and X squares last."""
        beside = self._near(empty & self._corners) - self._corners
        worst, bad, ring, edge, corner = (
            squares.has(square).astype(jnp.int32)
            for squares in (beside - self._edges, beside & self._edges, self._ring, self._edges, self._corners)
        )
        return 80 - 20 * ring + 40 * edge + 80 * corner - 60 * worst - 90 * bad

    def _near(self, squares: Bits) -> Bits:
        """Return these squares and all next to them."""
        wide = squares | (squares & self._not_right).shift(1) | (squares & self._not_left).shift(-1)
        return (wide | wide.shift(8) | wide.shift(-8)) & self._board

    def _from_corners(self, discs: Bits) -> Bits:
        """Find the `discs` on the edges, corners aside, that stand in an unbroken line of them from a corner."""
        found = discs & self._corners
        for edges, steps in ((self._level_edges, (1, -1)), (self._upright_edges, (8, -8))):
            for step in steps:
                run = discs & self._corners
                for _ in range(self.size - 2):
                    run |= discs & edges & run.shift(step)
                found |= run
        return found - self._corners


def _lead(own: Array, other: Array) -> Array:
    return (own - other).astype(jnp.float32)
