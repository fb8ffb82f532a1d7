"""A stopwatch for the phases of an iteration."""

from __future__ import annotations

import time


class Stopwatch:
    """Seconds spent in each phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        """Add the time since the lap before to `phase`."""
        now = time.perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._last
        self._last = now
