"""Perft: counts of the lines of play, the classic proof that rules are right."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.packing import pack, take_rows
from beamzero.games import Game, State

_CHUNK = 4096


def perft(
    game: Game, depth: int, state: State | None = None, progress: Callable[[int], None] | None = None
) -> list[int]:
    """Count the lines of 1, 2, ... `depth` moves from `state` (the first one by default).

    A line ends where the game is over. `progress` is called with the number of lines counted so far.
    """
    if state is None:
        state = game.init(jax.random.key(0))
    totals = np.zeros(depth, np.int64)
    first = jax.tree.map(lambda x: np.broadcast_to(np.asarray(x), (_CHUNK, *np.shape(x))), state)
    _count(game, first, 1, 0, totals, progress)
    return [int(total) for total in totals]


def _count(
    game: Game, states: State, real: int, ply: int, totals: np.ndarray, progress: Callable[[int], None] | None
) -> None:
    """Add the lines below the first `real` of `states` to `totals`, depth first, so that memory stays small."""
    if ply == len(totals) - 1:
        totals[ply] += int(_count_children(game, states, jnp.int32(real)))
    else:
        moves, places, count = _list_children(game, states, jnp.int32(real))
        totals[ply] += int(count)
        for first in range(0, int(count), _CHUNK):
            children = _make_children(game, states, moves, places, jnp.int32(first))
            _count(game, children, min(_CHUNK, int(count) - first), ply + 1, totals, progress)
    if progress is not None:
        progress(int(totals.sum()))


def _moves(game: Game, states: State, real: Array) -> tuple[Array, Array]:
    """List the moves, int32 [CHUNK, K], of the first `real` states and their number, int32 [CHUNK], 0 elsewhere."""
    moves, count = jax.vmap(game.moves)(states)
    goes_on = ~jax.vmap(game.over)(states) & (jnp.arange(_CHUNK, dtype=jnp.int32) < real)
    return moves, jnp.where(goes_on, count, 0)


@functools.partial(jax.jit, static_argnums=0)
def _count_children(game: Game, states: State, real: Array) -> Array:
    """Count the moves, int32 [], of the first `real` of CHUNK states together."""
    return jnp.sum(_moves(game, states, real)[1])


@functools.partial(jax.jit, static_argnums=0)
def _list_children(game: Game, states: State, real: Array) -> tuple[Array, Array, Array]:
    """List the moves, int32 [CHUNK, K]; the places of real ones, packed and padded to whole chunks; their number."""
    moves, count = _moves(game, states, real)
    listed = jnp.arange(game.max_moves, dtype=jnp.int32)[None] < count[:, None]
    places, total = pack(listed.reshape(-1))
    return moves, jnp.pad(places, (0, _CHUNK)), total


@functools.partial(jax.jit, static_argnums=0)
def _make_children(game: Game, states: State, moves: Array, places: Array, first: Array) -> State:
    """Make CHUNK children, from the one numbered `first` on."""
    here = jax.lax.dynamic_slice(places, (first,), (_CHUNK,))
    return jax.vmap(game.step)(take_rows(states, here // game.max_moves), take_rows(moves.reshape(-1), here))
