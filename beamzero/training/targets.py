"""What Q should have said: a beam search from every remembered state."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import Game, State
from beamzero.search.beam import BeamSearch
from beamzero.search.cores import side_by_side
from beamzero.search.evaluator import Evaluator, RootMoves
from beamzero.search.packing import take_rows
from beamzero.training.fit import QRows
from beamzero.training.replay import Memory


def search_all(
    game: Game, search: BeamSearch, batch: int, evaluator: Evaluator, memory: Memory, progress: Callable[[int], None]
) -> tuple[QRows, int]:
    """The search's values for every real row of `memory`, `batch` roots at a time; and how many evaluations it took.

    `progress` is told how many states have been searched.
    """
    size = int(memory.size)
    rows = jax.tree.leaves(memory.states)[0].shape[0]
    moves = np.zeros((rows + batch, game.max_moves), np.int32)
    values = np.full((rows + batch, game.max_moves), -np.inf, np.float32)
    evaluations = 0

    def search_from(first: int) -> tuple[RootMoves, Array]:
        return _search_some(game, search, batch, evaluator, memory.states, jnp.int32(first), memory.size)

    starts = range(0, size, batch)
    for first, (found, asked) in zip(starts, side_by_side(search_from, starts), strict=True):
        moves[first : first + batch], values[first : first + batch] = found.moves, found.values
        evaluations += int(asked)
        progress(min(first + batch, size))
    return QRows(memory.states, jnp.asarray(moves[:rows]), jnp.asarray(values[:rows])), evaluations


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _search_some(
    game: Game, search: BeamSearch, batch: int, evaluator: Evaluator, states: State, first: Array, size: Array
) -> tuple[RootMoves, Array]:
    """What the searches of the states from row `first` on found, `batch` of them; and the number of evaluations."""
    places = first + jnp.arange(batch, dtype=jnp.int32)
    tree = search.start(game, take_rows(states, places), wanted=places < size)
    tree = search.advance(game, evaluator, tree, search.expand)
    return search.root_moves(game, tree), jnp.sum(tree.evaluations)
