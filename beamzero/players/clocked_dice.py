"""Expectiminimax under a clock: a turn deeper each time, until the time for a move is over."""

from __future__ import annotations

import dataclasses
import functools
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.games import Game, State
from beamzero.players.player import Player, choose_one_by_one
from beamzero.search.cores import to_host
from beamzero.search.evaluator import Evaluator, SearchResult
from beamzero.search.expectiminimax import Expectiminimax, Progress

_SLICE = 500
"""Nodes that are expanded before the clock is looked at: some tens of milliseconds."""


@dataclasses.dataclass(frozen=True)
class ClockedDice(Player):
    """Searches one position after the other for `seconds`, or to the depth of its search; one turn at least."""

    name: str
    game: Game
    search: Expectiminimax
    evaluator: Evaluator
    seconds: float
    deterministic: bool = False  # a busy machine searches less deep

    def think(self, states: State, key: Array) -> SearchResult:
        states, evaluator = to_host((states, self.evaluator))
        found = []
        for row in range(jax.tree.leaves(states)[0].shape[0]):
            state = jax.tree.map(lambda x, row=row: x[row], states)
            found.append(self._values(evaluator, state, jax.random.bits(jax.random.fold_in(key, row), (), jnp.uint32)))
        values, nodes = (np.stack(column) for column in zip(*found, strict=True))
        return _choose(self.game, self.search, states, jnp.asarray(values), jnp.asarray(nodes), key)

    def _values(self, evaluator: Evaluator, state: State, seed: Array) -> tuple[np.ndarray, np.ndarray]:
        """What each move is worth to side 0, by the deepest search that came to its end, and the nodes of all."""
        found, nodes = None, jnp.int32(0)
        # The clock runs from after the first slice, so that it does not measure compiling.
        progress = _advance(self.game, self.search, evaluator, seed, self._start(evaluator, state, seed, 1, nodes))
        end = time.monotonic() + self.seconds
        for depth in range(1, self.search.depth + 1):
            if depth > 1:
                progress = self._start(evaluator, state, seed, depth, nodes)
            while int(progress.row) >= 0 and (found is None or time.monotonic() < end):
                progress = _advance(self.game, self.search, evaluator, seed, progress)
            nodes = progress.nodes
            if int(progress.row) >= 0:
                break
            found = np.asarray(progress.frames.values[0])
        assert found is not None
        return found, np.asarray(nodes)

    def _start(self, evaluator: Evaluator, state: State, seed: Array, depth: int, nodes: Array) -> Progress:
        return _start(self.game, self.search, evaluator, state, seed, jnp.int32(depth), nodes)

    def choose(self, states: State, turn: Array, key: Array) -> Array:
        return choose_one_by_one(self, states, turn, key)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _start(
    game: Game, search: Expectiminimax, evaluator: Evaluator, state: State, seed: Array, depth: Array, nodes: Array
) -> Progress:
    return search.start(game, evaluator, state, seed, depth, nodes)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _advance(game: Game, search: Expectiminimax, evaluator: Evaluator, seed: Array, progress: Progress) -> Progress:
    until = progress.expanded + _SLICE
    return lax.while_loop(
        lambda now: (now.row >= 0) & (now.expanded < until),
        functools.partial(search.advance, game, evaluator, seed),
        progress,
    )


@functools.partial(jax.jit, static_argnums=(0, 1))
def _choose(game: Game, search: Expectiminimax, states: State, values: Array, nodes: Array, key: Array) -> SearchResult:
    return search.choose(game, states, values, nodes, key)
