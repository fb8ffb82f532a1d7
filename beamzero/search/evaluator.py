"""Evaluators, which give a search values and scores of positions, and results, which a search gives back."""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial

from beamzero.core.tables import TextTable
from beamzero.games import Game, State


class Evaluator(NamedTuple):
    """Two functions of a batch of states, as a pytree: new weights do not compile again.

    Each is a `jax.tree_util.Partial` of a function that compares by value and of the weights it needs.
    """

    value: Partial
    """A function of states [B] to float32 [B]: the expected result for the side to move, in [-1, 1]."""

    scores: Partial
    """A function of states [B] to float32 [B, A]: Q of each action for the side to move, or policy logits."""

    exact: Partial | None = None
    """A function of states [B] to bool [B] and float32 [B]: whether a table of solved positions has them, and the
    result for the side to move; None where there is no table. Only searches that play lines to their end ask it."""

    both: Partial | None = None
    """A function of states [B] to value and scores at once, where one net gives both; None where two nets do."""

    def value_and_scores(self, states: State) -> tuple[Array, Array]:
        """Give the values, float32 [B], and the scores, float32 [B, A]; one net that gives both is run once."""
        return (self.value(states), self.scores(states)) if self.both is None else self.both(states)


@dataclasses.dataclass(frozen=True)
class _Zeros:
    """A function of states [B] to zeros, float32 [B] or [B, width]."""

    width: int | None = None

    def __call__(self, states: State) -> Array:
        batch = jax.tree.leaves(states)[0].shape[0]
        return jnp.zeros((batch,) if self.width is None else (batch, self.width), jnp.float32)


def zero_evaluator(game: Game) -> Evaluator:
    """Make an evaluator that knows nothing: every value and every score is 0."""
    return Evaluator(value=Partial(_Zeros()), scores=Partial(_Zeros(game.num_actions)))


class SearchResult(NamedTuple):
    """The result of a search, for a batch of B roots."""

    action: Array  # int32 [B] the move to play; chosen at random by the key between equal ones
    values: Array  # float32 [B, A] the value of each move for the side to move at the root; -inf where illegal
    policy: Array  # float32 [B, A] the probability with which the search would choose each move
    value: Array  # float32 [B] the value of the root for its side to move
    nodes: Array  # int32 [B] positions that the search made
    proven: Array  # bool [B, A] moves whose value the rules alone decide

    def __repr__(self) -> str:
        if isinstance(self.action, jax.core.Tracer) or np.ndim(self.values) > 2:
            return f"SearchResult(values={self.values!r})"
        if np.ndim(self.values) == 1:
            return str(_moves_table(jax.device_get(self)))
        rows = zip(*jax.device_get((self.action, self.value, self.nodes)), strict=True)
        texts = [
            (str(number), str(action), f"{value:+z.2f}", f"{nodes:,}")
            for number, (action, value, nodes) in enumerate(rows)
        ]
        return str(TextTable(("position", "action", "value", "nodes"), texts))


def _moves_table(found: SearchResult) -> TextTable:
    """Lay out the legal moves of one position, the likeliest first."""
    legal = [action for action in np.argsort(-found.policy, kind="stable").tolist() if found.values[action] > -np.inf]
    rows = [
        (
            str(action),
            f"{found.values[action]:+z.2f}",
            f"{found.policy[action]:.0%}",
            "proven" if found.proven[action] else "",
        )
        for action in legal
    ]
    return TextTable(("action", "value", "policy", ""), rows)


@functools.partial(jax.jit, inline=True)
def choose_best(values: Array, key: Array) -> tuple[Array, Array]:
    """Draw one of the highest `values` [B, A]. Returns it, int32 [B], and the even policy over them, float32 [B, A]."""
    best = values == jnp.max(values, axis=1, keepdims=True)
    draw = jax.random.uniform(key, values.shape)
    action = jnp.argmax(jnp.where(best, draw, -1.0), axis=1).astype(jnp.int32)
    share = best.astype(jnp.float32)
    return action, share / jnp.sum(share, axis=1, keepdims=True)


def first_highest(numbers: Array) -> Array:
    """Find the argmax of `numbers` [B, N] without NaN, the first of equal ones. Returns int32 [B].

    On a CPU, XLA's own argmax is six times slower.
    """
    size = numbers.shape[1]
    backwards = jnp.arange(size, 0, -1, dtype=jnp.float32)[None]
    highest = jnp.max(numbers, axis=1, keepdims=True)
    return size - jnp.max(jnp.where(numbers == highest, backwards, 0.0), axis=1).astype(jnp.int32)


class RootMoves(NamedTuple):
    """The moves of B roots and their values, in K slots."""

    moves: Array  # int32 [B, K]
    listed: Array  # bool [B, K] which slots hold a move
    values: Array  # float32 [B, K] for the side to move; -inf in empty slots
    proven: Array  # bool [B, K]


def choose_move(game: Game, roots: RootMoves, nodes: Array, key: Array) -> SearchResult:
    """Draw one of the best moves of each of B roots, and lay out all numbers by action; `nodes` [B] are positions."""
    moves, listed, values, proven = roots
    slot, policy = choose_best(values, key)

    def by_action(numbers: Array, fill: float) -> Array:
        return spread(moves, listed, numbers, game.num_actions, fill)

    return SearchResult(
        action=jnp.take_along_axis(moves, slot[:, None], axis=1)[:, 0],
        values=by_action(values, -jnp.inf),
        policy=by_action(policy, 0.0),
        value=jnp.max(values, axis=1),
        nodes=nodes,
        proven=by_action(proven, False),
    )


def scores_of_moves(evaluator: Evaluator, states: State, moves: Array) -> Array:
    """Give the evaluator's scores of `moves` [B, K], float32 [B, K]; anything in empty slots."""
    return jnp.take_along_axis(evaluator.scores(states), moves, axis=1)


def side_sign(game: Game, states: State) -> Array:
    """Give +1 where side 0 chooses next, -1 where side 1 does, float32 [B]. A value times this is that for side 0."""
    return (1 - 2 * jax.vmap(game.next_side)(states)).astype(jnp.float32)


def spread(moves: Array, listed: Array, values: Array, num_actions: int, fill: float) -> Array:
    """Lay out `values` [B, K] of moves by action, [B, A]: `fill` where no slot that is `listed` [B, K] has the move."""
    places = jnp.where(listed, moves, num_actions)
    rows = jnp.arange(moves.shape[0], dtype=jnp.int32)[:, None]
    return jnp.full((moves.shape[0], num_actions), fill, values.dtype).at[rows, places].set(values, mode="drop")
