"""Choosing without looking ahead: any legal move, or the one that the evaluator scores highest."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
from jax import Array

from beamzero.games import Game, State
from beamzero.search.evaluator import Evaluator, SearchResult, choose_best, legal_moves


@dataclasses.dataclass(frozen=True)
class AnyMove:
    """Every legal move with the same probability."""

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        legal = legal_moves(game, states)
        return _without_search(jnp.where(legal, 0.0, -jnp.inf), key)


@dataclasses.dataclass(frozen=True)
class OneLook:
    """The highest of the evaluator's scores, asked once: the PROBS agent without a search."""

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        legal = legal_moves(game, states)
        return _without_search(jnp.where(legal, evaluator.scores(states), -jnp.inf), key)


def _without_search(values: Array, key: Array) -> SearchResult:
    action, policy = choose_best(values, key)
    return SearchResult(
        action=action,
        values=values,
        policy=policy,
        value=jnp.max(values, axis=1),
        nodes=jnp.ones(values.shape[0], jnp.int32),
        proven=jnp.zeros(values.shape, jnp.bool_),
    )
