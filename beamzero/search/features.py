"""A game's own evaluation: a weighted sum of its features, as a value."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.search.evaluator import Evaluator, zero_evaluator


@dataclasses.dataclass(frozen=True)
class _FeatureValue:
    game: Game

    def __call__(self, weights: Array, states: State) -> Array:
        """float32 [B]: the values of states for the side to move; `weights` [F] are logarithms of odds."""
        return jnp.tanh(0.5 * log_odds(self.game, weights, states))


def log_odds(game: Game, weights: Array, states: State) -> Array:
    """float32 [B]: by how much the side to move is ahead, as the logarithm of its odds of winning."""
    # Sums of products, not a matrix product: there are few features, and so they join the work that finds them.
    return jnp.sum(jax.vmap(game.features)(states) * weights[None], axis=1)


def hand_made_weights(game: Game) -> np.ndarray:
    """float32 [F]: the weights that a game gives its features, as logarithms of odds."""
    return np.array(game.point_weights, np.float32) * np.float32(game.point)


def feature_evaluator(game: Game, weights: Sequence[float] | np.ndarray | None = None) -> Evaluator:
    """The game's features with these weights, or with those made by hand; knows nothing where a game has none."""
    known = hand_made_weights(game) if weights is None else np.asarray(weights, np.float32)
    if known.shape != (len(game.feature_names),):
        raise BadInput(f"{game.name} has {len(game.feature_names)} features, but there are {known.size} weights")
    if not known.size:
        return zero_evaluator(game)
    return zero_evaluator(game)._replace(value=Partial(_FeatureValue(game), jax.device_put(known)))
