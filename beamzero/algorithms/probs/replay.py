"""The experience memory: the states of the last games, packed into rows."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.algorithms.probs.self_play import Games, Rolls
from beamzero.core.packing import pack, take_rows
from beamzero.games import State


class Memory(NamedTuple):
    """Up to N states with the outcome of their games. Only the first `size` rows are real."""

    states: State  # [N, ...]
    outcome: Array  # float32 [N] for the side to move
    size: Array  # int32 []


@functools.partial(jax.jit, static_argnums=0)
def remember(capacity: int, games: Games) -> Memory:
    """Keep the states of `games`, game by game; where they are more than `capacity`, the last ones."""
    flat = jax.tree.map(lambda x: x.reshape(x.shape[0] * x.shape[1], *x.shape[2:]), (games.states, games.outcome))
    places, count = pack(games.played.reshape(-1))
    places = jnp.roll(places, -jnp.maximum(count - capacity, 0))[:capacity]
    states, outcome = take_rows(flat, places)
    return Memory(states, outcome, jnp.minimum(count, capacity))


@jax.jit
def thin_out(memory: Memory, drop: Array, key: Array) -> Memory:
    """Leave a random share `drop` [] of the states out of `memory`; the others stay in order."""
    rows = memory.outcome.shape[0]
    kept = (jnp.arange(rows) < memory.size) & (jax.random.uniform(key, (rows,)) >= drop)
    places, count = pack(kept)
    states, outcome = take_rows((memory.states, memory.outcome), places)
    return Memory(states, outcome, count)


def remember_with_rolls(capacity: int, games: Games) -> Memory:
    """Keep the states of `games` and the positions before rolls of dice, each behind the state that led there."""
    return remember(capacity, games if games.rolls is None else _with_rolls(games))


@jax.jit
def _with_rolls(games: Games) -> Games:
    """Give `games` twice the plies: every second one is what the move led to, if dice were to be thrown there."""

    def by_plies(decision: Array, roll: Array) -> Array:
        both = jnp.stack([decision, roll], axis=2)
        return both.reshape(both.shape[0], -1, *both.shape[3:])

    assert games.rolls is not None
    decisions = Rolls(games.states, games.played, games.outcome)
    states, played, outcome = jax.tree.map(by_plies, decisions, games.rolls)
    return Games(states, played, outcome, games.length)


def all_games(parts: Sequence[Games]) -> Games:
    """Join the games of all parts, in order."""
    if len(parts) == 1:
        return parts[0]
    return _join(*parts)


@jax.jit
def _join(*parts: Games) -> Games:
    return jax.tree.map(lambda *x: jnp.concatenate(x), *parts)


def some_games(games: Games, first: int, number: int) -> Games:
    """Take `number` of the games, from the `first` on."""
    return jax.tree.map(lambda x: x[first : first + number], games)
