"""One picture of a ladder: who is how strong, and how well that is known."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from beamzero.arena.plot import LOSS_STYLES, new_figure, write_png
from beamzero.arena.rating import Rating


def draw_ratings(path: str | os.PathLike[str], ratings: Sequence[Rating], title: str) -> None:
    """Write a PNG: a dot for each agent, the first one on top, and a line as long as its 95% interval.

    A bound is an arrow that points to where the agent may be; an agent of which nothing is known has its name alone.
    """
    colour = LOSS_STYLES[0][0]
    with new_figure(title, (8.0, 1.4 + 0.36 * len(ratings))) as figure:
        axes = figure.subplots()
        for place, rating in enumerate(ratings):
            low, high = rating.low, rating.high
            if rating.elo is not None:
                axes.plot([low, high], [place, place], "-", color=colour, linewidth=2, alpha=0.6)
                axes.plot([rating.elo], [place], "o", color=colour, markersize=5)
            elif low is not None:
                axes.plot([low], [place], marker=">", color=colour, markersize=7)
            elif high is not None:
                axes.plot([high], [place], marker="<", color=colour, markersize=7)
        axes.set_yticks(range(len(ratings)), [rating.agent for rating in ratings], parse_math=False)
        axes.set_ylim(len(ratings) - 0.5, -0.5)
        axes.set_xlabel("Elo")
        axes.margins(x=0.05)
        write_png(figure, Path(path))
