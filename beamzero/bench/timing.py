"""The clock of benchmarks: functions run in turns, so that noise hits them alike."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
from jax.experimental.compilation_cache.compilation_cache import reset_cache

from beamzero.core.cores import programs_at_once, side_by_side


class Row(NamedTuple):
    """One figure: ours, and the peer's beside it."""

    name: str
    unit: str
    ours: float
    peer: float | None = None
    peer_name: str | None = None
    state_bytes: int | None = None
    compile_seconds: float | None = None

    @property
    def ratio(self) -> float | None:
        return None if self.peer is None else self.ours / self.peer

    def as_json(self) -> dict[str, Any]:
        """Give the keys that every row has, and those of the rest that are not None."""
        row = {**self._asdict(), "ratio": self.ratio}
        return {key: value for key, value in row.items() if value is not None or key not in _EXTRA}


_EXTRA = ("state_bytes", "compile_seconds")


def seconds_of(*functions: Callable[[], Any], seconds: float = 2.0) -> list[float]:
    """Time functions, which take turns for `seconds` each, so that noise hits them alike. Returns the least of each.

    A turn is a tenth of that, or one call where that takes longer.
    """
    for function in functions:
        jax.block_until_ready(function())
    best = [float("inf")] * len(functions)
    end = time.perf_counter() + seconds * len(functions)
    while True:
        for i, function in enumerate(functions):
            turn_end = time.perf_counter() + seconds / 10
            while True:
                start = time.perf_counter()
                jax.block_until_ready(function())
                now = time.perf_counter()
                best[i] = min(best[i], now - start)
                if now >= turn_end:
                    break
        if time.perf_counter() > end:
            return best


def on_every_core(function: Callable[[], Any]) -> list[Any]:
    """Call a function on every core at once, as training searches. Returns its results."""
    return list(side_by_side(lambda _: function(), range(programs_at_once())))


def seconds_to_compile(function: Callable[..., Any], *arguments: Any) -> float:
    """Measure the seconds that JAX takes to trace and compile `function` for these shapes, as if for the first time."""
    with _no_cache():
        start = time.perf_counter()
        jax.jit(lambda *given: function(*given)).lower(*arguments).compile()
        return time.perf_counter() - start


@contextlib.contextmanager
def _no_cache() -> Iterator[None]:
    """Hide the programs that the compiler keeps on disk."""
    enabled = jax.config.jax_enable_compilation_cache  # type: ignore[attr-defined]
    try:
        jax.config.update("jax_enable_compilation_cache", False)
        reset_cache()  # JAX looks at the setting only when it first needs the cache
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", enabled)
        reset_cache()
