"""A player that thinks about each position for a time, not to a depth."""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

import jax
import numpy as np
from jax import Array

from beamzero.games import Game, State
from beamzero.players.player import Player, choose_one_by_one
from beamzero.search.alphabeta import AlphaBeta, Found
from beamzero.search.deepening import deepen
from beamzero.search.evaluator import Evaluator, SearchResult, zero_evaluator


@dataclasses.dataclass(frozen=True)
class ClockedPlayer(Player):
    """Deepens its search of one position after the other until `seconds` are over, or its other limits reached."""

    name: str
    game: Game
    search: AlphaBeta
    evaluator: Evaluator
    seconds: float
    deterministic: bool = False  # a busy machine searches less deep
    on_host: ClassVar[bool] = True  # type: ignore[misc]

    def bytes_needed(self, rows: int, thinking: bool = False) -> int:
        return self.search.bytes_needed(self.game, 1)

    def think(self, states: State, key: Array) -> SearchResult:
        states = jax.device_get(states)
        size = jax.tree.leaves(states)[0].shape[0]
        nothing = jax.device_get(_nothing_found(self.search, self.game))
        # What comes after the search compiles before it, so that the clock measures thinking.
        jax.block_until_ready(_choose(self.search, self.game, states, _stack([nothing] * size), key))
        found = []
        for row in range(size):
            state = jax.tree.map(lambda x: x[row], states)
            *_, last = deepen(self.game, self.evaluator, self.search, state, self.seconds)
            found.append(last.found)
        return _choose(self.search, self.game, states, _stack(found), key)

    def choose(self, states: State, turn: Array, key: Array) -> Array:
        return choose_one_by_one(self, states, turn, key)


def find_result(search: AlphaBeta, game: Game, state: State, found: Found, key: Array) -> SearchResult:
    """The result, a batch of one, for a position by what a search found there."""
    states = jax.tree.map(lambda x: np.asarray(x)[None], state)
    return _choose(search, game, states, _stack([found]), key)


def _stack(found: list[Found]) -> Found:
    return jax.tree.map(lambda *x: np.stack(x), *found)


@functools.lru_cache(maxsize=16)
def _nothing_found(search: AlphaBeta, game: Game) -> Found:
    return search.nothing_found(game, zero_evaluator(game))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _choose(search: AlphaBeta, game: Game, states: State, found: Found, key: Array) -> SearchResult:
    return search.choose(game, states, found, key)
