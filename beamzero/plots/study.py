"""The figure of a study: how strong agents became, iteration by iteration, as means over many trainings."""

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
