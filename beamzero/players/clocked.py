"""A player that thinks about each position for a time, not to a depth."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import Game, State
from beamzero.players.player import Player
from beamzero.search.alphabeta import AlphaBeta
from beamzero.search.deepening import deepen
from beamzero.search.evaluator import Evaluator, SearchResult


@dataclasses.dataclass(frozen=True)
class ClockedPlayer(Player):
    """Deepens its search of one position after the other until `seconds` are over, or its other limits reached."""

    name: str
    game: Game
    search: AlphaBeta
    evaluator: Evaluator
    seconds: float
    deterministic: bool = False  # a busy machine searches less deep

    def think(self, states: State, key: Array) -> SearchResult:
        size = jax.tree.leaves(states)[0].shape[0]
        found = []
        for row in range(size):
            state = jax.tree.map(lambda x: x[row], states)
            *_, last = deepen(self.game, self.evaluator, self.search, state, self.seconds)
            found.append(last.found)
        return self.search.choose(self.game, states, jax.tree.map(lambda *x: jnp.stack(x), *found), key)

    def choose(self, states: State, turn: Array, key: Array) -> Array:
        rows = np.flatnonzero(np.asarray(turn))
        moves = np.zeros(turn.shape[0], np.int32)
        for row in rows.tolist():
            state = jax.tree.map(lambda x: x[row][None], states)
            moves[row] = int(self.think(state, jax.random.fold_in(key, row)).action[0])
        return jnp.asarray(moves)
