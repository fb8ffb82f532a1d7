"""What Q should have said, by a beam search from every remembered state; and what V should have, by outcomes and Q."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import Game, State
from beamzero.games.chance import chance_is_next
from beamzero.search.beam import BeamSearch
from beamzero.search.children import listed_moves
from beamzero.search.cores import side_by_side
from beamzero.search.evaluator import Evaluator, RootMoves, scores_of_moves
from beamzero.search.packing import apply_in_chunks, chunk_rows, pack, take_rows
from beamzero.training.fit import QRows
from beamzero.training.replay import Memory


def search_all(
    game: Game,
    search: BeamSearch,
    expansions: int,
    batch: int,
    evaluator: Evaluator,
    memory: Memory,
    progress: Callable[[int], None],
) -> tuple[QRows, int]:
    """The search's values for every real row of `memory`, `batch` roots at a time; and how many evaluations it took.

    It stops after so many `expansions`, if its own limit is not lower; other numbers of them compile nothing anew.
    `progress` is told how many states have been searched.
    """
    size = int(memory.size)
    rows = jax.tree.leaves(memory.states)[0].shape[0]
    moves = np.zeros((rows + batch, game.max_moves), np.int32)
    values = np.full((rows + batch, game.max_moves), -np.inf, np.float32)
    evaluations = 0

    def search_from(first: int) -> tuple[RootMoves, Array]:
        return _search_some(
            game, search, batch, evaluator, memory.states, jnp.int32(first), memory.size, jnp.int32(expansions)
        )

    starts = range(0, size, batch)
    for first, (found, asked) in zip(starts, side_by_side(search_from, starts), strict=True):
        moves[first : first + batch], values[first : first + batch] = found.moves, found.values
        evaluations += int(asked)
        progress(min(first + batch, size))
    return QRows(memory.states, jnp.asarray(moves[:rows]), jnp.asarray(values[:rows])), evaluations


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _search_some(
    game: Game,
    search: BeamSearch,
    batch: int,
    evaluator: Evaluator,
    states: State,
    first: Array,
    size: Array,
    expansions: Array,
) -> tuple[RootMoves, Array]:
    """What the searches of the states from row `first` on found, `batch` of them; and the number of evaluations."""
    places = first + jnp.arange(batch, dtype=jnp.int32)
    tree = search.start(game, take_rows(states, places), wanted=places < size)
    tree = search.advance(game, evaluator, tree, expansions)
    return search.root_moves(game, tree), jnp.sum(tree.evaluations)


@functools.partial(jax.jit, static_argnums=0)
def mix_in_q(game: Game, evaluator: Evaluator, memory: Memory, share: Array) -> Array:
    """float32 [N]: the outcomes of `memory`, a `share` [] of each replaced by Q's highest value of a legal move.

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
