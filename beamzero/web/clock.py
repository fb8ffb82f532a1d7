"""The clock of a game between two."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass
class Clock:
    """Seconds that each side has left. `since` is when the one that runs was started; None where none runs."""

    left: list[float]
    increment: float
    past: list[list[float]] = dataclasses.field(default_factory=list)
    """What was left before each move, for who takes one back."""
    since: float | None = None

    def now(self, side: int | None, now: float) -> list[float]:
        """What is left, when `side` is to move."""
        since = self.since  # once: it may be stopped in another thread
        used = 0.0 if since is None else now - since
        return [max(0.0, left - used) if one == side else left for one, left in enumerate(self.left)]
