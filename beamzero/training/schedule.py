"""How a setting changes over a run."""

from __future__ import annotations

import math


def cosine(iteration: int, iterations: int, final: float) -> float:
    """From 1 at the first iteration (0) down to `final` at the last, along half a cosine."""
    progress = min(iteration / max(iterations - 1, 1), 1.0)
    return final + (1 - final) * (1 + math.cos(math.pi * progress)) / 2
