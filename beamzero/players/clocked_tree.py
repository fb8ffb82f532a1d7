"""A player whose tree grows for a time, not for a number of simulations."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import Game, State
from beamzero.players.player import Player
from beamzero.search.deepening import count_down
from beamzero.search.evaluator import Evaluator, SearchResult
from beamzero.search.mcts import MCTS, MOST_SIMULATIONS
from beamzero.search.mcts_tree import Tree
from beamzero.search.rollouts import rollout_evaluator

_SLICE_SECONDS = 0.05
"""About how often the clock is looked at."""


@dataclasses.dataclass(frozen=True)
class ClockedTree(Player):
    """Grows the tree of one position after the other until `seconds` are over, or its places are full."""

    name: str
    game: Game
    search: MCTS
    evaluator: Evaluator | None
    """None: random games, other ones for each position it thinks about."""
    seconds: float
    deterministic: bool = False  # a busy machine searches less

    def bytes_needed(self, rows: int, thinking: bool = False) -> int:
        """Count two trees: one is made to compile everything, and another before that one goes."""
        return 2 * self.search.bytes_needed(self.game, 1)

    def think(self, states: State, key: Array) -> SearchResult:
        number = jax.tree.leaves(states)[0].shape[0]
        results = [self.grow(jax.tree.map(lambda x: x[row][None], states), key, row)[1] for row in range(number)]
        return jax.tree.map(lambda *rows: jnp.concatenate(rows), *results)

    def choose(self, states: State, turn: Array, key: Array) -> Array:
        moves = np.zeros(turn.shape[0], np.int32)
        for row in np.flatnonzero(np.asarray(turn)).tolist():
            _, result = self.grow(jax.tree.map(lambda x: x[row][None], states), key, row)
            moves[row] = int(result.action[0])
        return jax.device_put(moves)

    def grow(
        self,
        states: State,
        key: Array,
        row: int = 0,
        left: Callable[[], float] | None = None,
        sims: int = MOST_SIMULATIONS,
        watch: Callable[[Tree, Callable[[], SearchResult]], None] = lambda tree, result: None,
    ) -> tuple[Tree, SearchResult]:
        """The tree of a batch of one position, and what it says.

        In place of the player's own time, `left` may say how many seconds remain whenever it is asked, so that someone
        else can end the search; then nothing compiles beforehand. `sims` may allow fewer simulations than there is
        room for. `watch` sees the tree after each slice, and may ask what it says so far; the next slice takes the
        tree over.
        """
        start_key, game_key, result_key = jax.random.split(jax.random.fold_in(key, row), 3)
        evaluator = rollout_evaluator(self.game, game_key) if self.evaluator is None else self.evaluator
        if left is None:
            # Everything compiles before the clock starts, so that it measures thinking.
            tree = _advance(self.game, self.search, evaluator, self._start(states, start_key), jnp.int32(1))
            jax.block_until_ready(_result(self.game, self.search, tree, result_key))
        tree = self._start(states, start_key)
        left = left or count_down(self.seconds)
        most = min(sims, self.search.sims)
        budget = 1
        # One simulation at least, however short the time: without any there is nothing to choose by.
        while int(tree.done) < 1 or (int(tree.done) < most and left() > 0):
            began = time.perf_counter()
            tree = jax.block_until_ready(_advance(self.game, self.search, evaluator, tree, jnp.int32(budget)))
            each = (time.perf_counter() - began) / budget
            remaining = min(_SLICE_SECONDS, left())
            budget = max(1, min(4 * budget, int(remaining / each), most - int(tree.done)))
            watch(tree, lambda: _result(self.game, self.search, tree, result_key))
        return tree, _result(self.game, self.search, tree, result_key)

    def _start(self, states: State, key: Array) -> Tree:
        return _start(self.game, self.search, states, key)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _start(game: Game, search: MCTS, states: State, key: Array) -> Tree:
    return search.start(game, states, key)


@functools.partial(jax.jit, static_argnums=(0, 1), donate_argnums=3)
def _advance(game: Game, search: MCTS, evaluator: Evaluator, tree: Tree, budget: Array) -> Tree:
    return search.advance(game, evaluator, tree, budget)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _result(game: Game, search: MCTS, tree: Tree, key: Array) -> SearchResult:
    return search.result(game, tree, key)
