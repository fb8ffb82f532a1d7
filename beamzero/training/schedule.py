"""How a setting changes over a run."""

from __future__ import annotations

import math


def share_done(iteration: int, iterations: int) -> float:
    """How far a run is: 0 at its first iteration (0), 1 at its last and after that."""
    return min(iteration / max(iterations - 1, 1), 1.0)


def evenly(share: float, first: int, last: int) -> int:
    """A whole number on the straight way from `first` to `last`."""
    return round(first + (last - first) * share)


def cosine(share: float, final: float) -> float:
    """From 1 where nothing is done down to `final` where all is, along half a cosine."""
    return final + (1 - final) * (1 + math.cos(math.pi * share)) / 2
