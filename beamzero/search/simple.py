"""Choosing without looking ahead: any legal move, or the one that the evaluator scores highest."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.games import Game, State
from beamzero.games.chance import settle_all
from beamzero.search.children import listed_moves, value_children
from beamzero.search.evaluator import (
    Evaluator,
    RootMoves,
    SearchResult,
    choose_best,
    choose_move,
    scores_of_moves,
    side_sign,
)


@dataclasses.dataclass(frozen=True)
class AnyMove:
    """Every legal move with the same probability."""

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        legal = jax.vmap(game.legal)(states)
        share = legal.astype(jnp.float32)
        batch = legal.shape[0]
        return SearchResult(
            action=random_moves(game, states, key),
            values=jnp.where(legal, 0.0, -jnp.inf),
            policy=share / jnp.sum(share, axis=1, keepdims=True),
            value=jnp.zeros(batch, jnp.float32),
            nodes=jnp.ones(batch, jnp.int32),
            proven=jnp.zeros(legal.shape, jnp.bool_),
        )


@dataclasses.dataclass(frozen=True)
class OneLook:
    """The highest of the evaluator's scores, asked once: the PROBS agent without a search."""

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        moves, _, listed = listed_moves(game, states)
        values = jnp.where(listed, scores_of_moves(evaluator, states, moves), -jnp.inf)
        roots = RootMoves(moves, listed, values, proven=jnp.zeros(listed.shape, jnp.bool_))
        return choose_move(game, roots, jnp.ones(listed.shape[0], jnp.int32), key)


@dataclasses.dataclass(frozen=True)
class BestChild:
    """The move to the position that the evaluator values highest: the TD agent without a search."""

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        moves, count, listed = listed_moves(game, states)
        children = value_children(game, evaluator, states, moves, listed)
        own = jnp.where(listed, side_sign(game, states)[:, None] * children.value, -jnp.inf)
        return choose_move(game, RootMoves(moves, listed, own, children.over & listed), count, key)


@dataclasses.dataclass(frozen=True)
class Likeliest:
    """The move that the policy gives most, asked once: the AlphaZero agent without a search.

    Such a net does not tell moves apart by value, so each has that of the position.
    """

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        value, scores = evaluator.value_and_scores(states)
        legal = jax.vmap(game.legal)(states)
        scores = jnp.where(legal, scores, -jnp.inf)
        return SearchResult(
            action=choose_best(scores, key)[0],
            values=jnp.where(legal, value[:, None], -jnp.inf),
            policy=jax.nn.softmax(scores, axis=1),
            value=value,
            nodes=jnp.ones(legal.shape[0], jnp.int32),
            proven=jnp.zeros(legal.shape, jnp.bool_),
        )


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A move drawn by the policy, asked once: for games where nobody must be able to tell what one will play."""

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        result = Likeliest()(game, evaluator, states, key)
        return result._replace(action=jax.random.categorical(key, jnp.log(result.policy)).astype(jnp.int32))


def random_moves(game: Game, states: State, key: Array) -> Array:
    """int32 [B]: a legal move in each state, all equally likely."""
    batch = jax.tree.leaves(states)[0].shape[0]
    return jax.vmap(game.pick)(states, jax.random.uniform(key, (batch,)))


def mean_moves(game: Game, games: int = 64) -> float:
    """How many legal moves a position of random games has, on average, on the host."""
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), games))
    moves = positions = 0
    for ply in range(game.max_plies):
        states, found, counted = _random_ply(game, states, jax.random.key(ply))
        moves, positions = moves + int(found), positions + int(counted)
        if not int(counted):
            break
    return moves / positions


@functools.partial(jax.jit, static_argnums=0)
def _random_ply(game: Game, states: State, key: Array) -> tuple[State, Array, Array]:
    """The states after a random move, how many moves there were, and in how many positions."""
    running = ~jax.vmap(game.over)(states)
    count = jnp.where(running, jax.vmap(game.moves)(states)[1], 0)
    after = jax.vmap(game.step)(states, random_moves(game, states, key))
    return settle_all(game, after, jax.random.fold_in(key, 1)), jnp.sum(count), jnp.sum(running)
