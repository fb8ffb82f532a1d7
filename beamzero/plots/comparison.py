"""One picture of several ways of training: how strong they made an agent, against what was spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from beamzero.plots.style import LOSS_STYLES, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_comparison(
    curves: Mapping[str, Sequence[Sequence[tuple[float, float, bool]]]],
    spent: str,
    title: str,
) -> Figure:
    """Draw curves: `curves` has for each name one run a seed, all of the same length: lists of (spent, Elo, is_bound).

    A line goes through the means over the seeds, and a band from the lowest to the highest seed. Where an agent has
    only a bound, having lost or won no game, its mark is hollow.
    """
    from matplotlib.ticker import EngFormatter

    with new_figure(title, (8.0, 4.8)) as figure:
        axes = figure.subplots()
        for number, (name, runs) in enumerate(curves.items()):
            colour, line = LOSS_STYLES[number % len(LOSS_STYLES)]
            points = np.asarray(runs, float)  # [seeds, points, 3]
            where, strength, bound = points[:, :, 0].mean(axis=0), points[:, :, 1], points[:, :, 2].any(axis=0)
            axes.plot(where, strength.mean(axis=0), line, color=colour, marker="o", markersize=3.5, label=name)
            axes.fill_between(where, strength.min(axis=0), strength.max(axis=0), color=colour, alpha=0.2, linewidth=0)
            axes.plot(
                where[bound], strength.mean(axis=0)[bound], "o", color=colour, markersize=7, markerfacecolor="white"
            )
        seeds = len(next(iter(curves.values())))
        axes.set_xlabel(spent)
        axes.xaxis.set_major_formatter(EngFormatter())
        axes.set_ylabel(f"Elo, mean and range of {seeds} seed{'s' if seeds > 1 else ''}")
        axes.set_xlim(left=0)
        axes.margins(y=0.1)
        axes.legend()
    return figure
