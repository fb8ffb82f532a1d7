"""Counting the lines of play: the classic proof that rules are right."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import Game, State

_CHUNK = 4096


def perft(
    game: Game, depth: int, state: State | None = None, progress: Callable[[int], None] | None = None
) -> list[int]:
    """How many lines of 1, 2, ... `depth` moves there are from `state` (the first one by default).

    A line ends where the game is over. `progress` is told now and then how many lines have been counted.
    """
    if state is None:
        state = game.init(jax.random.key(0))
    totals = np.zeros(depth, np.int64)
    _count(game, jax.tree.map(lambda x: np.asarray(x)[None], state), 0, totals, progress)
    return [int(total) for total in totals]


def _count(game: Game, states: State, ply: int, totals: np.ndarray, progress: Callable[[int], None] | None) -> None:
    """Add the lines below `states` to `totals`, chunk by chunk and depth first, so that memory stays small."""
    size = jax.tree.leaves(states)[0].shape[0]
    for first in range(0, size, _CHUNK):
        part = jax.tree.map(lambda x: x[first : first + _CHUNK], states)
        real = jax.tree.leaves(part)[0].shape[0]
        part = jax.tree.map(lambda x: np.pad(x, ((0, _CHUNK - real), *[(0, 0)] * (x.ndim - 1)), mode="edge"), part)
        if ply == len(totals) - 1:
            totals[ply] += int(np.sum(np.asarray(_counts(game, part))[:real], dtype=np.int64))
        else:
            children, listed = jax.device_get(_children(game, part))
            listed = listed & (np.arange(_CHUNK) < real)[:, None]
            children = jax.tree.map(lambda x: x[listed], children)
            totals[ply] += int(np.count_nonzero(listed))
            _count(game, children, ply + 1, totals, progress)
        if progress is not None:
            progress(int(totals.sum()))


@functools.partial(jax.jit, static_argnums=0)
def _counts(game: Game, states: State) -> Array:
    return jnp.where(jax.vmap(game.over)(states), 0, jax.vmap(game.moves)(states)[1])


@functools.partial(jax.jit, static_argnums=0)
def _children(game: Game, states: State) -> tuple[State, Array]:
    moves, count = jax.vmap(game.moves)(states)
    count = jnp.where(jax.vmap(game.over)(states), 0, count)
    listed = jnp.arange(game.max_moves, dtype=jnp.int32)[None] < count[:, None]
    return jax.vmap(jax.vmap(game.step, (None, 0)))(states, moves), listed
