"""How benchmarks measure: functions in turns, so that noise hits them alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax

from beamzero.training.targets import searches_at_once


class Row(NamedTuple):
    """One figure: ours, and what it is held against."""

    name: str
    unit: str
    ours: float
    peer: float | None = None
    peer_name: str | None = None

    @property
    def ratio(self) -> float | None:
        return None if self.peer is None else self.ours / self.peer


def seconds_of(*functions: Callable[[], Any], seconds: float = 2.0) -> list[float]:
    """The least time of each function's call, taking turns for `seconds` each, so that noise hits them alike."""
    for function in functions:
        jax.block_until_ready(function())
    best = [float("inf")] * len(functions)
    end = time.perf_counter() + seconds * len(functions)
    while True:
        for i, function in enumerate(functions):
            start = time.perf_counter()
            jax.block_until_ready(function())
            best[i] = min(best[i], time.perf_counter() - start)
        if time.perf_counter() > end:
            return best


def side_by_side(function: Callable[[], Any]) -> list[Any]:
    """The function's result from as many threads at once as training searches with."""
    return list(_THREADS.map(lambda _: jax.block_until_ready(function()), range(searches_at_once())))


_THREADS = ThreadPoolExecutor()
