"""Progress callbacks: functions that long work calls to say how far it is."""

from __future__ import annotations

from collections.abc import Callable

OnProgress = Callable[[int, int], None]
"""Called with how much is done, and of how much: games, positions, iterations."""

OnPhase = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""


def no_progress(*progress: object) -> None:
    """Ignore progress: the callback where no caller listens."""
