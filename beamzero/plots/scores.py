"""One picture of what thinking longer is worth: errors against the time for a move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from beamzero.arena.score import Scored
from beamzero.plots.style import BLUE, GREY, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_scores(scores: Sequence[Scored], title: str) -> Figure:
    """Draw a dot for each agent, with its name, and a line as long as its 95% interval.

    Both axes are logarithmic. An agent without an error is an arrow that points down from the end of its interval.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    with new_figure(title, (8.0, 5.0)) as figure:
        axes = figure.subplots()
        axes.loglog()
        for axis, steps in ((axes.xaxis, (1.0, 3.0)), (axes.yaxis, (1.0, 2.0, 5.0))):
            axis.set_major_locator(LogLocator(subs=steps))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter(NullFormatter())
        for score in scores:
            share, (low, high) = score.all, score.all.interval
            place = 100 * (share.rate or high)
            if share.errors:
                axes.vlines(score.milliseconds, 100 * low, 100 * high, color=BLUE, linewidth=2, alpha=0.6)
            axes.plot(score.milliseconds, place, "o" if share.errors else "v", color=BLUE, markersize=5)
            axes.annotate(
                score.agent, (score.milliseconds, place), xytext=(6, 4), textcoords="offset points", fontsize=8,
                color=GREY, parse_math=False,
            )  # fmt: skip
        axes.set_xlabel("milliseconds for a move")
        axes.set_ylabel("errors, % of positions")
        axes.margins(x=0.25, y=0.15)
    return figure
