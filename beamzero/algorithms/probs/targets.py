"""Training targets: for Q by a beam search from every remembered state, for V by outcomes and Q; and the loss of Q.

V has the `ValueLoss` that all algorithms share.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.algorithms.probs.replay import Memory
from beamzero.core.packing import apply_in_chunks, chunk_rows, pack, take_rows
from beamzero.games import Game, State
from beamzero.games.chance import chance_is_next
from beamzero.nets import Net, Weights
from beamzero.search.beam import BeamSearch
from beamzero.search.children import listed_moves
from beamzero.search.evaluator import Evaluator, RootMoves, scores_of_moves, spread
from beamzero.training.fit import Aside, mean_square, observe


class Searches(NamedTuple):
    """States to search from, as many as run in one program."""

    states: State  # [B, ...]
    real: Array  # bool [B] whether there is anything to search
    expansions: Array  # int32 [] to stop after, if the search's own limit is not lower


def cut_searches(memory: Memory, batch: int, expansions: int) -> list[Searches]:
    """Cut the real rows of `memory` into searches, `batch` at a time. Other `expansions` compile nothing anew."""
    limit = jnp.int32(expansions)
    return [_cut(batch, memory, jnp.int32(first), limit) for first in range(0, int(memory.size), batch)]


@functools.partial(jax.jit, static_argnums=0)
def _cut(batch: int, memory: Memory, first: Array, expansions: Array) -> Searches:
    places = first + jnp.arange(batch, dtype=jnp.int32)
    return Searches(take_rows(memory.states, places), places < memory.size, expansions)


@functools.partial(jax.jit, static_argnums=(0, 1))
def search_some(game: Game, search: BeamSearch, evaluator: Evaluator, some: Searches) -> tuple[RootMoves, Array]:
    """Search from some states. Returns the values of their moves, and the number of evaluations."""
    tree = search.start(game, evaluator, some.states, wanted=some.real)
    tree = search.advance(game, evaluator, tree, some.expansions)
    return search.root_moves(game, tree), jnp.sum(tree.evaluations)


class QRows(NamedTuple):
    """Rows that Q learns from."""

    states: State  # [N, ...]
    moves: Array  # int32 [N, K] the legal moves
    values: Array  # float32 [N, K] the search's value of each; -inf in empty slots


def gather(
    game: Game,
    memory: Memory,
    batch: int,
    results: Iterable[tuple[RootMoves, Array]],
    progress: Callable[[int], None],
) -> tuple[QRows, int]:
    """Join the results of `cut_searches` into a row for every row of `memory`; and how many evaluations they took.

    `progress` is called with how many states have been searched.
    """
    size, rows = int(memory.size), memory.outcome.shape[0]
    moves = np.zeros((rows + batch, game.max_moves), np.int32)
    values = np.full((rows + batch, game.max_moves), -np.inf, np.float32)
    evaluations = 0
    for first, (found, asked) in zip(range(0, size, batch), results, strict=True):
        moves[first : first + batch], values[first : first + batch] = found.moves, found.values
        evaluations += int(asked)
        progress(min(first + batch, size))
    return QRows(memory.states, jax.device_put(moves[:rows]), jax.device_put(values[:rows])), evaluations


@functools.partial(jax.jit, static_argnums=0)
def mix_in_q(game: Game, evaluator: Evaluator, memory: Memory, share: Array) -> Array:
    """Replace a `share` [] of each outcome of `memory` by Q's highest value of a legal move. Returns float32 [N].

    Where dice are to be thrown Q has no say, and the outcome counts alone.
    """

    def best(rows: State, _: Array) -> Array:
        moves, _, listed = listed_moves(game, rows)
        return jnp.max(jnp.where(listed, scores_of_moves(evaluator, rows, moves), -jnp.inf), axis=1)

    rows = memory.outcome.shape[0]
    asked = jnp.arange(rows, dtype=jnp.int32) < memory.size
    if game.num_chance:
        asked &= ~jax.vmap(functools.partial(chance_is_next, game))(memory.states)
    found, _ = apply_in_chunks(best, memory.states, *pack(asked), chunk_rows(rows))
    return jnp.where(asked, (1 - share) * memory.outcome + share * jnp.clip(found, -1.0, 1.0), memory.outcome)


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
