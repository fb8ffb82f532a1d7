"""The experience memory: the states of the last games, packed into rows."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.games import State
from beamzero.search.packing import pack, take_rows
from beamzero.training.selfplay import Games


class Memory(NamedTuple):
    """Up to N states with the outcome of their games. Only the first `size` rows are real."""

    states: State  # [N, ...]
    outcome: Array  # float32 [N] for the side to move
    size: Array  # int32 []


@functools.partial(jax.jit, static_argnums=0)
def remember(capacity: int, games: Games) -> Memory:
    """The states of `games`, game by game; where they are more than `capacity`, the last ones."""
    flat = jax.tree.map(lambda x: x.reshape(x.shape[0] * x.shape[1], *x.shape[2:]), (games.states, games.outcome))
    places, count = pack(games.played.reshape(-1))
    places = jnp.roll(places, -jnp.maximum(count - capacity, 0))[:capacity]
    states, outcome = take_rows(flat, places)
    return Memory(states, outcome, jnp.minimum(count, capacity))


def some_games(games: Games, first: int, number: int) -> Games:
    """`number` of the games, from the `first` on."""
    return jax.tree.map(lambda x: x[first : first + number], games)
