"""A search of one position under a clock: depth by depth, with an answer ready at any time."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import Game, State
from beamzero.search import worth
from beamzero.search.alphabeta import UNLIMITED, AlphaBeta, Deepening, Found
from beamzero.search.cores import to_host
from beamzero.search.evaluator import Evaluator

_SLICE_SECONDS = 0.02
"""After about so long the clock is looked at."""

_FIRST_SLICE = 8
"""Nodes that are expanded before the clock is looked at for the first time."""

_SLICE_WITHOUT_CLOCK = 4096
"""Where nobody waits, only Ctrl-C asks for slices."""


class Depth(NamedTuple):
    """What the search of one depth found."""

    depth: int
    value: float
    """For the side to move."""
    proven: bool
    """Whether the rules alone decide the value."""
    plies: int | None
    """How long the game will last with best play, where a win or a loss is seen within the depth.

    One that noisy moves lead to beyond it is proven too, but quiet moves may lead there sooner.
    """
    line: list[int]
    """The best line, as actions."""
    nodes: int
    """Positions that this depth looked at."""
    seconds: float
    """Time that this depth took."""
    found: Found

    def plies_of_moves(self) -> list[int | None]:
        """After how many plies the game ends with best play, by the slot of a root's move; None where not decided."""
        return [_plies(one, self.depth) for one in np.asarray(self.found.moves).tolist()]


def deepen(
    game: Game,
    evaluator: Evaluator,
    settings: AlphaBeta,
    state: State,
    seconds: float | None = None,
    left: Callable[[], float] | None = None,
    nodes: int = UNLIMITED,
) -> Iterator[Depth]:
    """Depth after depth, until the limits of `settings` are reached, `seconds` have passed or `nodes` were looked at.

    There is always a first one. One that is under way when the time is up is given up. In place of `seconds`, `left`
    may say how many remain whenever it is asked, so that someone else can end the search.
    """
    # One step at a time is what a CPU does well, and a GPU does not.
    evaluator, state = to_host((evaluator, state))
    progress = _start(game, settings, evaluator, state)
    # Compile first, if that has not been done: the clock measures thinking.
    progress = jax.block_until_ready(_advance(game, settings, evaluator, progress, jnp.int32(0), jnp.int32(nodes)))
    _is_done(game, settings, progress, jnp.int32(nodes))
    previous = time.monotonic()
    expansions = _FIRST_SLICE if seconds or left else _SLICE_WITHOUT_CLOCK
    left = left or count_down(seconds)
    searched, depth, each = 0, 0, 0.0
    while True:
        before = time.monotonic()
        progress = _advance(game, settings, evaluator, progress, jnp.int32(expansions), jnp.int32(nodes))
        found = jax.tree.map(np.array, progress.found)  # copies: the next slice takes the arrays over
        now = time.monotonic()
        whole = int(found.depth) == depth  # the slice was not cut short by the end of a depth
        if not whole:
            yield _report(found, int(found.nodes) - searched, now - previous)
            searched, previous, depth = int(found.nodes), now, int(found.depth)
        remaining = left()
        if depth and (remaining <= 0 or bool(_is_done(game, settings, progress, jnp.int32(nodes)))):
            return
        if whole:
            each = (now - before) / expansions
        if whole and now - before < _SLICE_SECONDS:
            expansions = min(2 * expansions, 2**24)
        elif now - before > 2 * _SLICE_SECONDS:
            expansions = max(_FIRST_SLICE, expansions // 2)
        if depth and each * expansions > remaining / 2:
            # Half of what is left each time: how fast a busy machine will be cannot be known.
            expansions = max(1, int(remaining / 2 / each))


def count_down(seconds: float | None) -> Callable[[], float]:
    """How many of the `seconds` that begin now are left, whenever it is asked; always some where there is no limit."""
    end = math.inf if seconds is None else time.monotonic() + seconds
    return lambda: end - time.monotonic()


def _report(found: Found, nodes: int, seconds: float) -> Depth:
    value, line = int(found.worth), np.asarray(found.line).tolist()
    return Depth(
        depth=int(found.depth),
        value=max(-1.0, min(1.0, value / worth.ONE)),
        proven=abs(value) > worth.ONE or bool(found.complete),
        plies=_plies(value, int(found.depth)),
        line=line[: line.index(-1)] if -1 in line else line,
        nodes=nodes,
        seconds=seconds,
        found=found,
    )


def _plies(value: int, depth: int) -> int | None:
    """After how many plies a game that is worth this ends; None where that is not seen within the depth.

    In plain numbers: to ask the device would take longer, and the clock is running.
    """
    plies = worth.plies_to_end(value)
    return int(plies) if abs(value) > worth.ONE and plies <= depth else None


@functools.partial(jax.jit, static_argnums=(0, 1))
def _start(game: Game, settings: AlphaBeta, evaluator: Evaluator, state: State) -> Deepening:
    return settings.start(game, evaluator, state, settings.new_memory(game, evaluator))


@functools.partial(jax.jit, static_argnums=(0, 1), donate_argnums=3)
def _advance(
    game: Game, settings: AlphaBeta, evaluator: Evaluator, progress: Deepening, expansions: Array, nodes: Array
) -> Deepening:
    return settings.advance(game, evaluator, progress, expansions, nodes)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _is_done(game: Game, settings: AlphaBeta, progress: Deepening, nodes: Array) -> Array:
    return settings.is_done(game, progress, nodes)
