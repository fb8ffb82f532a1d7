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
    """A function of weights [F], as logarithms of odds, and states [B] to values, float32 [B], for the side to move."""

    game: Game

    def __call__(self, weights: Array, states: State) -> Array:
        return jnp.tanh(0.5 * log_odds(self.game, weights, states))


def log_odds(game: Game, weights: Array, states: State) -> Array:
    """Give the logarithm of the odds, float32 [B], that the side to move wins."""
    # Sums of products, not a matrix product: there are few features, and so they join the work that finds them.
    return jnp.sum(jax.vmap(game.features)(states) * weights[None], axis=1)


def hand_made_weights(game: Game) -> np.ndarray:
    """Give the weights of a game's features, float32 [F], as logarithms of odds."""
    return np.array(game.point_weights, np.float32) * np.float32(game.point)


def feature_evaluator(game: Game, weights: Sequence[float] | np.ndarray | None = None) -> Evaluator:
    """Make an evaluator of a game's features with `weights` [F], by default the hand-made ones.

    It knows nothing where a game has no features.
    """
    known = hand_made_weights(game) if weights is None else np.asarray(weights, np.float32)
    if known.shape != (len(game.feature_names),):
        raise BadInput(f"{game.name} has {len(game.feature_names)} features, but there are {known.size} weights")
    if not known.size:
        return zero_evaluator(game)
    return zero_evaluator(game)._replace(value=Partial(_FeatureValue(game), jax.device_put(known)))
