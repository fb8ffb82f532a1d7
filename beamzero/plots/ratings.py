"""Pictures of a ladder: who is how strong, how well that is known, and how strength grew in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from beamzero.arena.rating import Rating
from beamzero.plots.style import GREY, LOSS_STYLES, draw_anchors, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_ratings(ratings: Sequence[Rating], title: str) -> Figure:
    """Draw a dot for each agent, the first one on top, and a line as long as its 95% interval.

    A bound is an arrow that points to where the agent may be; an agent of which nothing is known has its name alone.
    """
    colour = LOSS_STYLES[0][0]
    with new_figure(title, (8.0, 1.4 + 0.36 * len(ratings))) as figure:
        axes = figure.subplots()
        for place, rating in enumerate(ratings):
            low, high = rating.low, rating.high
            if rating.elo is not None:
                axes.plot(np.array([low, high], float), [place, place], "-", color=colour, linewidth=2, alpha=0.6)
                axes.plot([rating.elo], [place], "o", color=colour, markersize=5)
            elif low is not None:
                axes.plot([low], [place], marker=">", color=colour, markersize=7)
            elif high is not None:
                axes.plot([high], [place], marker="<", color=colour, markersize=7)
        axes.set_yticks(range(len(ratings)), [rating.agent for rating in ratings], parse_math=False)
        axes.set_ylim(len(ratings) - 0.5, -0.5)
        axes.set_xlabel("Elo")
        axes.margins(x=0.05)
    return figure


def draw_curves(curves: Mapping[str, Mapping[int, Rating]], others: Sequence[Rating], title: str) -> Figure:
    """Draw the Elo of each run's checkpoints by iteration, with a band as wide as its 95% interval.

    All others are dashed lines. A checkpoint or agent that has only a bound, or nothing, is left out.
    """
    with new_figure(title, (8.0, 4.4)) as figure:
        axes = figure.subplots()
        for number, (name, ratings) in enumerate(curves.items()):
            colour = LOSS_STYLES[number % len(LOSS_STYLES)][0]
            known = {step: rating for step, rating in sorted(ratings.items()) if rating.elo is not None}
            steps = list(known)
            low, elo, high = ([getattr(rating, part) for rating in known.values()] for part in ("low", "elo", "high"))
            axes.plot(steps, elo, color=colour, marker="o", markersize=3.5, label=plain(name))
            axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.locator_params(axis="x", integer=True)
        axes.set_xlabel("iterations")
        axes.set_ylabel("Elo")
        axes.margins(y=0.1)
        draw_anchors(axes, {rating.agent: rating.elo for rating in others if rating.elo is not None})
        axes.legend(loc="lower right", fontsize=9, labelcolor=GREY)
    return figure
