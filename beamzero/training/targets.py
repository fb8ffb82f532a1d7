"""What Q should have said: a beam search from every remembered state."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import Game, State
from beamzero.search.beam import BeamSearch
from beamzero.search.evaluator import Evaluator
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
    values = np.full((rows + batch, game.num_actions), -np.inf, np.float32)
    evaluations = 0

    def search_from(first: int) -> tuple[Array, Array]:
        found = _search_some(game, search, batch, evaluator, memory.states, jnp.int32(first), memory.size)
        return jax.block_until_ready(found)

    pool = ThreadPoolExecutor(searches_at_once())
    try:
        for first, (found, asked) in zip(
            range(0, size, batch), pool.map(search_from, range(0, size, batch)), strict=True
        ):
            values[first : first + batch] = found
            evaluations += int(asked)
            progress(min(first + batch, size))
    finally:
        pool.shutdown(cancel_futures=True)
    return QRows(memory.states, jnp.asarray(values[:rows])), evaluations


def searches_at_once() -> int:
    """XLA runs one program of small steps on one core of a CPU, so as many batches are searched as there are cores."""
    return (os.cpu_count() or 1) if jax.default_backend() == "cpu" else 1


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _search_some(
    game: Game, search: BeamSearch, batch: int, evaluator: Evaluator, states: State, first: Array, size: Array
) -> tuple[Array, Array]:
    """float32 [batch, A], int32 []: the values of the states from row `first` on, and the number of evaluations."""
    places = first + jnp.arange(batch, dtype=jnp.int32)
    tree = search.start(game, take_rows(states, places), wanted=places < size)
    tree = search.advance(game, evaluator, tree, search.expand)
    return search.result(game, tree, jax.random.key(0)).values, jnp.sum(tree.evaluations)
