"""The driver of all searches: slice by slice, under limits and a clock, until a search is done or stopped.

Where no timer is given, everything is compiled before the clock starts; callers with a timer of their own warm up first
(`Player.warm_up`). A slice takes about a twentieth of a second. After each slice the driver
checks limits, clock and stop, lets Ctrl-C through, and reports progress.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import Game, State
from beamzero.search.evaluator import Evaluator, SearchResult
from beamzero.search.limit import Limit
from beamzero.search.protocol import Carry, Outlook, Search, Spent

_SLICE_SECONDS = 0.05
"""The duration of a slice, about."""

_REPORT_SECONDS = 1.0
"""The time between two reports of a search that has no depths."""

_MOST_UNITS = 2**24
"""The most units of a slice, so that int32 does not overflow."""


class Timer:
    """The time of one move: when it began, and whether it was stopped."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._stop = threading.Event()

    @property
    def elapsed(self) -> float:
        """Give the seconds since the move began."""
        return time.monotonic() - self.began

    def stop(self) -> None:
        """Stop the search of this move; any thread may do so."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def wait(self) -> None:
        """Wait until `stop` is called."""
        self._stop.wait()

    def again(self) -> Timer:
        """Make a timer for another move, which begins now and is stopped by the same call."""
        other = Timer()
        other._stop = self._stop
        return other

    def left(self, seconds: float | None) -> float:
        """Count how many of the `seconds` remain: 0 once it was stopped, infinitely many where there is no limit."""
        if self.stopped:
            return 0.0
        return math.inf if seconds is None else seconds - self.elapsed


class Snapshot(NamedTuple):
    """The result of a search of one position at one moment, on the host."""

    result: SearchResult
    """The result of a batch of one."""
    outlook: Outlook
    depth: int
    """Plies or turns of the deepest search that came to its end; 0 for a search without depths."""
    evaluations: int
    """Positions put to the evaluator."""
    seconds: float
    """Seconds since the timer began."""

    @property
    def action(self) -> int:
        """Give the move to play."""
        return int(self.result.action[0])

    @property
    def line(self) -> list[int]:
        """Give the expected line, which begins with the move to play: the outlook's where that does so, too."""
        return self.outlook.line if self.outlook.line[:1] == [self.action] else [self.action]

    @property
    def value(self) -> float:
        """Give the value for the side to move, in [-1, 1]."""
        return self.outlook.value

    @property
    def nodes(self) -> int:
        """Count the positions that were made, or looked at."""
        return int(self.result.nodes[0])


Watch = Callable[[Snapshot], None]
NO_LIMIT = Limit()


def no_watch(snapshot: Snapshot) -> None:
    """Report nothing."""


def think(
    search: Search,
    game: Game,
    evaluator: Evaluator,
    state: State,
    key: Array,
    limit: Limit = NO_LIMIT,
    timer: Timer | None = None,
    watch: Watch = no_watch,
) -> Snapshot:
    """Search one position until the `limit` is reached, the `timer` is stopped or the search is done.

    Seconds count from when the timer was made, or without one from after everything is compiled. The first unit of work
    is always done, so that there is an answer. `watch` gets a snapshot of each depth that comes to its end, of a search
    without depths one a second, and the last one.
    """
    states = jax.tree.map(lambda x: np.asarray(x)[None], state)
    driven = _Driven(search, game, evaluator, key)
    if timer is None:
        driven.compile(states)
        timer = Timer()
    carry = driven.start(states)
    reported_depth, reported_at = 0, timer.elapsed
    budget = 1
    while True:
        before = time.perf_counter()
        carry, done, spent = driven.advance(carry, budget)
        took = time.perf_counter() - before
        left = timer.left(limit.seconds)
        over = done or left <= 0 or _is_reached(limit, spent)
        is_news = spent.depth[0] > reported_depth or (
            not spent.depth[0] and timer.elapsed - reported_at > _REPORT_SECONDS
        )
        if is_news or over:
            last = driven.snapshot(carry, spent, timer)
            if is_news or not reported_depth:
                watch(last)
            reported_depth, reported_at = int(spent.depth[0]), timer.elapsed
        if over:
            return last
        budget = _next_budget(budget, spent, took / max(1, driven.units), left, limit, search.nodes_of_unit(game))


def _is_reached(limit: Limit, spent: Spent) -> bool:
    """Tell whether the work done so far reaches a bound of depth, nodes or evaluations."""
    bounds = (limit.depth, spent.depth), (limit.nodes, spent.nodes), (limit.evaluations, spent.evaluations)
    return any(bound is not None and int(so_far[0]) >= bound for bound, so_far in bounds)


def _next_budget(budget: int, spent: Spent, each: float, left: float, limit: Limit, nodes: int) -> int:
    """Choose the units of the next slice: what fits into its time, and into half of what is left of the clock.

    How fast a busy machine will be cannot be known, so no slice is much larger than the one before. A unit makes up to
    `nodes` positions, so that a limit of these is passed by one unit at most, the same one each time.
    """
    most = min(4 * budget, _MOST_UNITS, int(min(_SLICE_SECONDS, left / 2) / max(each, 1e-9)))
    counted = (limit.nodes, spent.nodes, nodes), (limit.evaluations, spent.evaluations, nodes + 1)
    for bound, so_far, of_unit in counted:
        if bound is not None:
            most = min(most, (bound - int(so_far[0])) // of_unit)
    return max(1, most)


class _Driven:
    """A compiled search with its game, evaluator and key."""

    def __init__(self, search: Search, game: Game, evaluator: Evaluator, key: Array) -> None:
        self._search, self._game, self._evaluator, self._key = search, game, evaluator, key
        self.units = 0
        """Units of the last slice."""
        self._before = 0

    def compile(self, states: State) -> None:
        """Run everything once, unless that was done before, so that it is compiled."""
        shapes = tuple((x.shape, x.dtype) for x in jax.tree.leaves((self._evaluator, states)))
        mark = self._search, self._game, jax.tree.structure(self._evaluator), shapes
        if mark not in _COMPILED:
            carry, _, spent = self.advance(self.start(states), 0)
            self.snapshot(carry, spent, Timer())
            _COMPILED.add(mark)

    def start(self, states: State) -> Carry:
        self._before = 0
        return _start(self._search, self._game, self._evaluator, states, self._key)

    def advance(self, carry: Carry, budget: int) -> tuple[Carry, bool, Spent]:
        carry, done, spent = _advance(self._search, self._game, self._evaluator, carry, jnp.int32(budget))
        done, spent = jax.device_get((done, spent))
        self.units, self._before = int(spent.units) - self._before, int(spent.units)
        return carry, bool(done.all()), spent

    def snapshot(self, carry: Carry, spent: Spent, timer: Timer) -> Snapshot:
        result = jax.device_get(_result(self._search, self._game, carry, self._key))
        outlook = self._search.outlook(self._game, carry, result)
        return Snapshot(result, outlook, int(spent.depth[0]), int(spent.evaluations[0]), timer.elapsed)


_COMPILED: set[Hashable] = set()
"""Searches, games and shapes that were compiled before."""


@functools.partial(jax.jit, static_argnums=(0, 1))
def _start(search: Search, game: Game, evaluator: Evaluator, states: State, key: Array) -> Carry:
    return search.start(game, evaluator, states, key)


@functools.partial(jax.jit, static_argnums=(0, 1), donate_argnums=3)
def _advance(search: Search, game: Game, evaluator: Evaluator, carry: Carry, budget: Array) -> tuple[Any, Array, Spent]:
    carry = search.advance(game, evaluator, carry, budget)
    return carry, search.done(game, carry), search.spent(game, carry)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _result(search: Search, game: Game, carry: Carry, key: Array) -> SearchResult:
    return search.result(game, carry, key)
