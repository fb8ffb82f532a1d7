"""Choices without a search: any legal move, or the one that the evaluator scores highest."""

from __future__ import annotations

import abc
import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.games import Game, State
from beamzero.games.chance import draw_chance
from beamzero.search.children import listed_moves, value_children
from beamzero.search.evaluator import (
    Evaluator,
    RootMoves,
    SearchResult,
    choose_best,
    choose_move,
    scores_of_moves,
    side_sign,
    spread,
)
from beamzero.search.protocol import OneStep, Spent


class _MoveCarry(NamedTuple):
    """The moves of B positions with their values."""

    roots: RootMoves
    nodes: Array  # int32 [B] positions that were made
    evaluations: Array  # int32 [B] positions put to the evaluator


class _ByMoves(OneStep):
    """A search that gives each move a value in one step, and chooses the highest."""

    @abc.abstractmethod
    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> _MoveCarry: ...

    def done(self, game: Game, carry: _MoveCarry) -> Array:
        return jnp.ones(carry.nodes.shape, jnp.bool_)

    def result(self, game: Game, carry: _MoveCarry, key: Array) -> SearchResult:
        return choose_move(game, carry.roots, carry.nodes, key)

    def spent(self, game: Game, carry: _MoveCarry) -> Spent:
        return _spent(carry.nodes, carry.evaluations)


@dataclasses.dataclass(frozen=True)
class OneLook(_ByMoves):
    """The move with the highest of the evaluator's scores: the PROBS agent without a search."""

    plays_policy = True

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> _MoveCarry:
        moves, _, listed = listed_moves(game, states)
        values = jnp.where(listed, scores_of_moves(evaluator, states, moves), -jnp.inf)
        one = jnp.ones(listed.shape[0], jnp.int32)
        return _MoveCarry(RootMoves(moves, listed, values, proven=jnp.zeros(listed.shape, jnp.bool_)), one, one)


@dataclasses.dataclass(frozen=True)
class BestChild(_ByMoves):
    """The move to the position that the evaluator values highest: the TD agent without a search."""

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> _MoveCarry:
        moves, count, listed = listed_moves(game, states)
        children = value_children(game, evaluator, states, moves, listed)
        own = jnp.where(listed, side_sign(game, states)[:, None] * children.value, -jnp.inf)
        asked = jnp.sum(listed & ~children.over, axis=1, dtype=jnp.int32)
        return _MoveCarry(RootMoves(moves, listed, own, children.over & listed), count, asked)


class _Policy(NamedTuple):
    """The policy and the value of B positions."""

    legal: Array  # bool [B, A]
    scores: Array  # float32 [B, A] logits; -inf where illegal
    value: Array  # float32 [B]


class _OnePolicy(OneStep):
    """A search that asks for a policy once. The net gives no values of moves: each has the position's value."""

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> _Policy:
        value, scores = evaluator.value_and_scores(states)
        legal = jax.vmap(game.legal)(states)
        return _Policy(legal, jnp.where(legal, scores, -jnp.inf), value)

    def done(self, game: Game, carry: _Policy) -> Array:
        return jnp.ones(carry.value.shape, jnp.bool_)

    def result(self, game: Game, carry: _Policy, key: Array) -> SearchResult:
        legal, scores, value = carry
        return SearchResult(
            action=choose_best(scores, key)[0],
            values=jnp.where(legal, value[:, None], -jnp.inf),
            policy=jax.nn.softmax(scores, axis=1),
            value=value,
            nodes=jnp.ones(legal.shape[0], jnp.int32),
            proven=jnp.zeros(legal.shape, jnp.bool_),
        )

    def spent(self, game: Game, carry: _Policy) -> Spent:
        one = jnp.ones(carry.value.shape, jnp.int32)
        return _spent(one, one)


@dataclasses.dataclass(frozen=True)
class Likeliest(_OnePolicy):
    """The move of highest probability in the policy: the AlphaZero agent without a search."""

    def with_every_move(self) -> LikeliestWithValues:
        return LikeliestWithValues()


class _PolicyAndChildren(NamedTuple):
    """The policy of B positions, and the values of their children."""

    policy: _Policy
    values: Array  # float32 [B, A] of each move for the side to move; -inf where illegal
    proven: Array  # bool [B, A] moves that end the game
    nodes: Array  # int32 [B] positions that were made
    evaluations: Array  # int32 [B]


@dataclasses.dataclass(frozen=True)
class LikeliestWithValues(OneStep):
    """The move of highest probability in the policy, with the net's value of the position after each move."""

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> _PolicyAndChildren:
        moves, count, listed = listed_moves(game, states)
        children = value_children(game, evaluator, states, moves, listed)
        own = side_sign(game, states)[:, None] * children.value
        return _PolicyAndChildren(
            Likeliest().start(game, evaluator, states, key),
            spread(moves, listed, own, game.num_actions, -jnp.inf),
            spread(moves, listed, children.over, game.num_actions, False),
            1 + count,
            1 + jnp.sum(listed & ~children.over, axis=1, dtype=jnp.int32),
        )

    def done(self, game: Game, carry: _PolicyAndChildren) -> Array:
        return Likeliest().done(game, carry.policy)

    def result(self, game: Game, carry: _PolicyAndChildren, key: Array) -> SearchResult:
        found = Likeliest().result(game, carry.policy, key)
        return found._replace(values=carry.values, proven=carry.proven, nodes=carry.nodes)

    def spent(self, game: Game, carry: _PolicyAndChildren) -> Spent:
        return _spent(carry.nodes, carry.evaluations)


@dataclasses.dataclass(frozen=True)
class Drawn(_OnePolicy):
    """A move drawn by the policy, for games in which no opponent may foresee it."""

    plays_policy = True

    def result(self, game: Game, carry: _Policy, key: Array) -> SearchResult:
        result = super().result(game, carry, key)
        return result._replace(action=jax.random.categorical(key, jnp.log(result.policy)).astype(jnp.int32))


@dataclasses.dataclass(frozen=True)
class AnyMove(OneStep):
    """Any legal move, all equally likely."""

    plays_policy = True

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> State:
        return states

    def done(self, game: Game, carry: State) -> Array:
        return jnp.ones(_batch(carry), jnp.bool_)

    def result(self, game: Game, carry: State, key: Array) -> SearchResult:
        legal = jax.vmap(game.legal)(carry)
        share = legal.astype(jnp.float32)
        batch = legal.shape[0]
        return SearchResult(
            action=random_moves(game, carry, key),
            values=jnp.where(legal, 0.0, -jnp.inf),
            policy=share / jnp.sum(share, axis=1, keepdims=True),
            value=jnp.zeros(batch, jnp.float32),
            nodes=jnp.ones(batch, jnp.int32),
            proven=jnp.zeros(legal.shape, jnp.bool_),
        )

    def spent(self, game: Game, carry: State) -> Spent:
        one = jnp.ones(_batch(carry), jnp.int32)
        return _spent(one, jnp.zeros_like(one))


def _spent(nodes: Array, evaluations: Array) -> Spent:
    """Count one unit of work, and these nodes and evaluations, int32 [B] each."""
    return Spent(jnp.int32(1), nodes, evaluations, jnp.zeros_like(nodes))


def _batch(states: State) -> int:
    """Give B, the number of states."""
    return jax.tree.leaves(states)[0].shape[0]


def random_moves(game: Game, states: State, key: Array) -> Array:
    """Draw a legal move in each of B states, all equally likely. Returns int32 [B]."""
    batch = jax.tree.leaves(states)[0].shape[0]
    return jax.vmap(game.pick)(states, jax.random.uniform(key, (batch,)))


def mean_moves(game: Game, games: int = 64) -> float:
    """Average the number of legal moves over the positions of random games."""
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
    """Play a random move in B states. Returns the states after it, the number of moves, and that of running games."""
    running = ~jax.vmap(game.over)(states)
    count = jnp.where(running, jax.vmap(game.moves)(states)[1], 0)
    after = jax.vmap(game.step)(states, random_moves(game, states, key))
    return draw_chance(game, after, jax.random.fold_in(key, 1)), jnp.sum(count), jnp.sum(running)
