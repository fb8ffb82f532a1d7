"""Reports of a training run while it works, and the seconds of its phases."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any


class Report:
    """Hears of the progress of a run, and ignores it. A display overrides the calls that it shows."""

    def begin(self, title: str, done: int, total: int) -> None:
        """Hear that the run starts, or goes on after `done` of `total` iterations."""

    def phase(self, name: str, done: int, total: int) -> None:
        """Hear that the run is at `done` of `total` in a phase of the current iteration."""

    def iteration(self, record: Mapping[str, Any]) -> None:
        """Hear that an iteration is finished; `record` is its line of metrics."""

    def message(self, text: str) -> None:
        """Hear a message for people, of one line."""


NO_REPORT = Report()


class Stopwatch:
    """Seconds spent in each phase of an iteration."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        """Add the time since the last call to `phase`."""
        now = time.perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._last
        self._last = now


def losses(record: Mapping[str, Any]) -> dict[str, float]:
    """Name the losses of an iteration as people know them: those of two nets, V and Q, by the nets."""
    names = {"value_loss": "V", "q_loss": "Q"} if "q_loss" in record else {}
    found = {key: value for key, value in record.items() if key.endswith("_loss")}
    return {names.get(key, key.removesuffix("_loss")): value for key, value in found.items()}
