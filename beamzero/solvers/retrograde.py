"""Retrograde analysis: endgame tables of Kalah, made from the end of the game backwards, every position once."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.cores import side_by_side
from beamzero.games.kalah import Kalah, KalahState
from beamzero.search.memory import check_memory
from beamzero.solvers.endgame import EndgameTable, check_seeds, count_positions, index, position

_CHUNK = 1 << 12


def make_endgame_table(game: Kalah, seeds: int, progress: Callable[[int, int], None] | None = None) -> EndgameTable:
    """Make the table of all positions with up to `seeds` seeds in the houses.

    A move that puts seeds into the store leads to fewer of them in the houses. Any other move brings its seeds nearer
    to the store, so that `_distance` falls. Hence positions are solved by seeds, and those with equal seeds by
    distance: the children of a position are always solved before it. `progress` is called with the numbers of solved
    and of all positions.
    """
    check_seeds(game, seeds)
    total = count_positions(game.houses, seeds)
    check_memory({f"fewer seeds (now {seeds})": bytes_needed(game, seeds)}, "this table")
    values, done = jnp.zeros(total, jnp.int8), 1  # the empty board comes first, with the value 0
    for layer in range(1, seeds + 1):
        for places in _by_distance(game, seeds, layer):
            values = _solve_all(game, seeds, values, places)
            done += len(places)
            if progress is not None:
                progress(done, total)
    return EndgameTable(game.houses, game.empty_capture, seeds, np.asarray(values))


def bytes_needed(game: Kalah, seeds: int) -> int:
    """Count the bytes that making a table takes, about: 2 a position, and 24 for each with most seeds, to sort them."""
    layer = count_positions(game.houses, seeds) - count_positions(game.houses, seeds - 1)
    return 2 * count_positions(game.houses, seeds) + 24 * layer


def _by_distance(game: Kalah, seeds: int, layer: int) -> list[np.ndarray]:
    """List the places in the table of all positions with `layer` seeds: int32 [n] for each distance, rising."""
    first, end = count_positions(game.houses, layer - 1), count_positions(game.houses, layer)
    chunks = _chunks(np.arange(first, end, dtype=np.int32))
    found = side_by_side(functools.partial(_distance, game.houses, seeds), chunks)
    distances = np.concatenate([np.asarray(chunk) for chunk in found])[: end - first]
    order = np.argsort(distances, kind="stable").astype(np.int32) + np.int32(first)
    return [level for level in np.split(order, np.cumsum(np.bincount(distances))) if level.size]


def _solve_all(game: Kalah, seeds: int, values: Array, places: np.ndarray) -> Array:
    """Solve the positions at `places` and write their values, int8, into the table. Returns the table."""
    chunks = _chunks(places)
    found = list(side_by_side(functools.partial(_solve, game, seeds, values), chunks))
    for chunk, solved in zip(chunks, found, strict=True):
        values = _write(values, chunk, solved)
    return values


def _chunks(places: np.ndarray) -> list[np.ndarray]:
    """Cut `places` into chunks of one size; the last is padded with 0, the empty board, whose value never changes."""
    padded = np.pad(places, (0, -len(places) % _CHUNK))
    return [padded[first : first + _CHUNK] for first in range(0, len(padded), _CHUNK)]


@functools.partial(jax.jit, static_argnums=(0, 1))
def _distance(houses: int, seeds: int, places: Array) -> Array:
    """Add up the distances of all seeds from their sides' stores, for n positions. Returns uint16 [n]."""
    away = np.arange(houses, 0, -1, dtype=np.uint16)
    rows = jax.vmap(lambda place: position(place, houses, seeds))(places)
    return jnp.sum(rows.astype(jnp.uint16) * away[None, None], axis=(1, 2), dtype=jnp.uint16)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _solve(game: Kalah, seeds: int, values: Array, places: Array) -> Array:
    """Solve the n positions at `places`, whose children the table has. Returns their values, int8 [n]."""
    return jax.vmap(lambda place: _best(game, seeds, values, position(place, game.houses, seeds)))(places)


@functools.partial(jax.jit, donate_argnums=0)
def _write(values: Array, places: Array, solved: Array) -> Array:
    """Write the values `solved` [n] at `places` [n] of the table. Returns the table."""
    return values.at[places].set(solved)


def _best(game: Kalah, seeds: int, values: Array, houses: Array) -> Array:
    """Find the best margin, int8 [], that the mover can reach from `houses`, uint8 [2, H]."""
    state = KalahState(jnp.pad(houses, ((0, 0), (0, 1))), jnp.uint8(0))

    def margin(action: Array) -> Array:
        after = game.step(state, action)
        again, rest = after.side == 0, values[index(after.pits[:, :-1], seeds)]
        won = jnp.where(again, after.pits[0, -1], after.pits[1, -1]).astype(jnp.int8)
        return won + jnp.where(again, rest, -rest)

    margins = jax.vmap(margin)(jnp.arange(game.houses, dtype=jnp.int32))
    own, other = jnp.sum(houses, axis=1, dtype=jnp.uint8).astype(jnp.int8)
    return jnp.where(game.over(state), own - other, jnp.max(jnp.where(game.legal(state), margins, np.int8(-128))))
