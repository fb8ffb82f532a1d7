"""One picture of a game: who was ahead when, as an agent sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beamzero.plots.style import BLUE, GREY, ORANGE, new_figure
from beamzero.records.review import Review

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_review(review: Review, title: str, agent: str, sides: tuple[str, str]) -> Figure:
    """Draw the value of every position for the first side; dots and names for moves that cost much."""
    curve = np.array(review.curve)
    plies = np.arange(len(curve))
    with new_figure(title, (8.0, 3.6)) as figure:
        axes = figure.subplots()
        axes.axhline(0.0, color=GREY, linewidth=0.8)
        axes.fill_between(plies, 0, curve, where=(curve >= 0).tolist(), color=BLUE, alpha=0.25, interpolate=True)
        axes.fill_between(plies, 0, curve, where=(curve <= 0).tolist(), color=ORANGE, alpha=0.25, interpolate=True)
        axes.plot(plies, curve, "-", color=GREY, linewidth=1.4)
        for move in review.moves:
            if move.mark:
                place, colour = (move.number, curve[move.number]), (BLUE, ORANGE)[move.side]
                axes.plot(*place, "o", color=colour, markersize=5)
                axes.annotate(
                    f"{move.move}{move.mark}", place, xytext=(0, 7 if curve[move.number] < 0.8 else -13),
                    textcoords="offset points", ha="center", fontsize=8, parse_math=False,
                )  # fmt: skip
        axes.set_ylim(-1.1, 1.1)
        axes.set_xlim(0, max(1, len(curve) - 1))
        axes.set_xlabel("moves played")
        axes.set_ylabel(f"value for {sides[0]}", parse_math=False)
        axes.set_title(f"as {agent} sees it", fontsize=9, loc="right", color=GREY, parse_math=False)
    return figure
