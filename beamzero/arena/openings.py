"""Openings by random moves, from which two players are tried."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Set
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.games.chance import NO_OUTCOME, draw_chance_outcomes
from beamzero.search.simple import random_moves


class Openings(NamedTuple):
    """P positions after some random moves, none of them over, and the moves that led there; all on the host."""

    states: State  # [P, ...]
    moves: np.ndarray  # int32 [P, T]
    outcomes: np.ndarray  # int32 [P, T] outcome of chance after each move, NO_OUTCOME where there was none
    firsts: State  # [P, ...] where the games began


def usual_plies(game: Game) -> int:
    """Give the default number of random opening moves: none where dice or cards make games differ already."""
    return 0 if game.num_chance or game.hidden else 2


def draw_openings(
    game: Game, count: int, plies: int, key: Array, distinct: bool, avoid: Set[bytes] = frozenset()
) -> Openings:
    """Draw `count` positions after `plies` random moves.

    With `distinct` they are all different, and different from those with the hashes `avoid`. For that plies grow, but
    not past a third of the longest game; where the game has no more openings than that, there are fewer than `count`.
    """
    while True:
        found, fresh = _sample_openings(game, 4 * count, plies, jax.random.fold_in(key, plies))
        if distinct and avoid:
            fresh &= np.array([opening not in avoid for opening in hashes(found.states)])
        if not distinct or fresh.sum() >= count or plies >= game.max_plies // 3:
            break
        plies += 1
    chosen = (np.flatnonzero(fresh) if distinct else np.arange(fresh.size))[:count]
    return jax.tree.map(lambda x: x[chosen], found)


def _sample_openings(game: Game, count: int, plies: int, key: Array) -> tuple[Openings, np.ndarray]:
    """Draw `count` random openings that are not over. Returns also bool [count]: no earlier one is the same."""
    found, over = jax.device_get(_random_openings(game, count, plies, key))
    alive = np.flatnonzero(~over)
    if game.num_chance and plies:  # whole turns alone, since some players can only be asked about whole rolls
        alive = np.flatnonzero(~over & (found.outcomes[:, plies - 1] != NO_OUTCOME))
        if alive.size == 0:
            raise BadInput(f"no turn of {game.spec} ends after {plies} random plies: use another number")
    if alive.size == 0:
        raise BadInput(f"{game.spec} is always over after {plies} random plies: use fewer")
    chosen = np.resize(alive, count)
    found = jax.tree.map(lambda x: x[chosen], found)
    fresh = np.zeros(count, bool)
    fresh[np.unique(as_bytes(found.states), axis=0, return_index=True)[1]] = True
    return found._replace(moves=found.moves[:, :plies], outcomes=found.outcomes[:, :plies]), fresh


@functools.partial(jax.jit, static_argnums=(0, 1))
def _random_openings(game: Game, count: int, plies: Array, key: Array) -> tuple[Openings, Array]:
    """Play random moves. Returns openings, of whose moves only the first `plies` count, and bool [count]: over."""

    def body(ply: Array, carry: tuple[State, Array, Array]) -> tuple[State, Array, Array]:
        states, moves, outcomes = carry
        action = random_moves(game, states, jax.random.fold_in(key, ply))
        moved = jax.vmap(game.step)(states, action)
        after, outcome = draw_chance_outcomes(game, moved, jax.random.fold_in(chance_key, ply))
        return after, moves.at[:, ply].set(action), outcomes.at[:, ply].set(outcome)

    deal_key, key = jax.random.split(key)
    chance_key = jax.random.fold_in(key, game.max_plies)
    firsts = jax.vmap(game.init)(jax.random.split(deal_key, count))
    none_yet = jnp.zeros((count, game.max_plies // 2), jnp.int32)
    states, moves, outcomes = jax.lax.fori_loop(0, plies, body, (firsts, none_yet, none_yet))
    return Openings(states, moves, outcomes, firsts), jax.vmap(game.over)(states)


def as_bytes(states: State) -> np.ndarray:
    """View each state as one row of bytes. Returns uint8 [B, bytes]."""
    parts = [np.ascontiguousarray(np.asarray(x)) for x in jax.tree.leaves(states)]
    return np.concatenate([part.reshape(part.shape[0], -1).view(np.uint8) for part in parts], axis=1)


def hashes(states: State) -> list[bytes]:
    """Hash each of B states to 8 bytes, equal for equal states."""
    return [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in as_bytes(states)]
