"""Reports: the calls by which a training run says what it is doing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Report:
    """Hears what a run is doing, and ignores it. A display overrides what it wants to show."""

    def begin(self, title: str, done: int, total: int) -> None:
        """The run starts, or goes on after `done` of `total` iterations."""

    def phase(self, name: str, done: int, total: int) -> None:
        """It is at `done` of `total` in a phase of the current iteration."""

    def iteration(self, record: Mapping[str, Any]) -> None:
        """An iteration is finished; `record` is its line of metrics."""

    def message(self, text: str) -> None:
        """Something worth a line."""


QUIET = Report()


def losses(record: Mapping[str, Any]) -> dict[str, float]:
    """Name the losses of an iteration as people know them: those of two nets, V and Q, by the nets."""
    names = {"value_loss": "V", "q_loss": "Q"} if "q_loss" in record else {}
    found = {key: value for key, value in record.items() if key.endswith("_loss")}
    return {names.get(key, key.removesuffix("_loss")): value for key, value in found.items()}
