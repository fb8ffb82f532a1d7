"""What Q should have said: a beam search from every remembered state."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

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
    count = int(memory.size)
    rows = jax.tree.leaves(memory.states)[0].shape[0]
    values = jnp.full((rows + batch, game.num_actions), -jnp.inf, jnp.float32)
    evaluations = []
    for first in range(0, count, batch):
        values, asked = _search_some(game, search, batch, evaluator, memory.states, values, first, memory.size)
        evaluations.append(asked)
        # Waiting for the batch before this one keeps the device busy and the display honest.
        if len(evaluations) > 1:
            jax.block_until_ready(evaluations[-2])
        progress(min(first + batch, count))
    return QRows(memory.states, values[:rows]), int(np.sum([np.asarray(asked) for asked in evaluations]))


@functools.partial(jax.jit, static_argnums=(0, 1, 2), donate_argnums=5)
def _search_some(
    game: Game,
    search: BeamSearch,
    batch: int,
    evaluator: Evaluator,
    states: State,
    values: Array,
    first: Array,
    count: Array,
) -> tuple[Array, Array]:
    """`values` with rows `first` to ``first + batch`` written, and the number of evaluations."""
    places = first + jnp.arange(batch, dtype=jnp.int32)
    tree = search.start(game, take_rows(states, places), wanted=places < count)
    tree = search.advance(game, evaluator, tree, search.expand)
    found = search.result(game, tree, jax.random.key(0)).values
    return lax.dynamic_update_slice(values, found, (first, jnp.int32(0))), jnp.sum(tree.evaluations)
