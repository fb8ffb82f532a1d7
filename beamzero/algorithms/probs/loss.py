"""The rows that Q learns from, and its loss. V learns by the `ValueLoss` that all algorithms share."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from beamzero.games import State
from beamzero.nets import Net, Weights
from beamzero.search.evaluator import spread
from beamzero.training.fit import Aside, mean_square, observe


class QRows(NamedTuple):
    """Rows that Q learns from."""

    states: State  # [N, ...]
    moves: Array  # int32 [N, K] the legal moves
    values: Array  # float32 [N, K] the search's value of each; -inf in empty slots


@dataclasses.dataclass(frozen=True)
class QLoss:
    """Squared error between Q and the search's values, over the legal moves only."""

    net: Net
    symmetry: bool

    def __call__(self, weights: Weights, rows: QRows, real: Array, key: Array) -> tuple[Array, Aside]:
        values = spread(rows.moves, jnp.isfinite(rows.values), rows.values, self.net.game.num_actions, -jnp.inf)
        observations, values = observe(self.net, self.symmetry, rows.states, values, key)
        legal = jnp.isfinite(values) & real[:, None]
        scores, moved = self.net.while_learning(weights, observations, real)
        return mean_square(scores - values, legal), Aside(moved, {})
