"""Pictures of experiments: Elo against the iteration or the budget, over several trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beamzero.arena.intervals import mean_spread
from beamzero.plots.style import LOSS_STYLES, draw_anchors, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Curves(NamedTuple):
    """One panel: for each name of a line its trainings, lists of (iteration, Elo), all at the same iterations."""

    title: str
    lines: Mapping[str, Sequence[Sequence[tuple[int, float]]]]
    anchors: Mapping[str, float]


def draw_study(panels: Sequence[Curves], title: str) -> Figure:
    """Draw a line through the means, a band for their 95% intervals (one training has none), the anchors."""
    with new_figure(title, (6.2 * len(panels), 4.8)) as figure:
        for axes, panel in zip(np.atleast_1d(figure.subplots(1, len(panels), sharey=True)), panels, strict=True):
            for (colour, line), (name, runs) in zip(LOSS_STYLES, panel.lines.items(), strict=False):
                points = np.asarray(runs, float)  # [trainings, points, 2]
                where, elo = points[0, :, 0], points[:, :, 1]
                spread = mean_spread(elo)
                mean, number = elo.mean(axis=0), len(runs)
                label = f"{name}, {number} training{'s' if number > 1 else ''}"
                axes.plot(where, mean, line, color=colour, marker="o", markersize=3, label=label)
                axes.fill_between(where, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
            draw_anchors(axes, panel.anchors)
            axes.set_title(panel.title, fontsize=10)
            axes.set_xlabel("iteration")
            axes.set_xlim(left=0)
            axes.legend(loc="lower right", frameon=True, framealpha=1, edgecolor="none")  # anchors pass behind it
        figure.axes[0].set_ylabel("Elo, mean and its 95% interval")
    return figure


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
