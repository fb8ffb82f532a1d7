"""Pictures of a training run: how strong the agent became, and how well its nets fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from beamzero.plots.style import (
    BLUE,
    GREY,
    LOSS_STYLES,
    ORANGE,
    draw_anchors,
    legend_above,
    new_figure,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_training(
    iterations: Sequence[int],
    elo: Sequence[float | None],
    low: Sequence[float | None],
    high: Sequence[float | None],
    anchors: Mapping[str, float],
    losses: Mapping[str, Sequence[float]],
    title: str,
) -> Figure:
    """Draw, above, the rating with its 95% band and the anchors; below, the losses.

    `iterations`, `elo`, `low` and `high` have one entry per rated checkpoint and read as in `rating.Rating`: where
    `elo` is None, `low` is drawn as an arrow upwards, or `high` as one downwards. Each of `losses` has one entry per
    iteration of training, from 1.
    """
    with new_figure(title, (8.0, 6.4), dpi=150) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        _draw_ratings(above, np.asarray(iterations), _floats(elo), _floats(low), _floats(high))
        draw_anchors(above, anchors)
        _draw_losses(below, losses)
    return figure


def draw_ladder(games: Sequence[int], totals: Sequence[float], most: float, title: str) -> Figure:
    """Draw the points out of `most` that the agent had on a ladder of opponents, against the games it played.

    `games` and `totals` have one entry per ladder that was played.
    """
    with new_figure(title, (7.0, 3.6), dpi=110) as figure:
        axes = figure.subplots()
        axes.plot(games, totals, color=BLUE, marker="o", markersize=3.5, label="agent")
        axes.axhline(most, color=GREY, linestyle=(0, (5, 3)), linewidth=0.9, label=f"most, {most:g} points")
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.06 * most)
        axes.set_xlabel("games of self-play")
        axes.set_ylabel("wins + draws / 2")
        legend_above(axes)
    return figure


def draw_gates(
    iterations: Sequence[int],
    scores: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    passed: Sequence[bool],
    title: str,
) -> Figure:
    """Draw, above, each net's score against the best before it, with its 95% interval; below, their sum.

    Of the nets that passed, the differences in Elo are added up. A net that beats the one before need not beat all
    earlier ones, so the sum is a picture of progress and no rating.
    """
    share = np.clip(np.asarray(scores, float), 0.01, 0.99)
    gained = np.where(np.asarray(passed, bool), 400 * np.log10(share / (1 - share)), 0.0)
    low, high = np.asarray(intervals, float).reshape(-1, 2).T
    with new_figure(title, (7.0, 5.0), dpi=110) as figure:
        above, below = figure.subplots(2, 1, sharex=True)
        above.plot(iterations, scores, color=BLUE, marker="o", markersize=3.5, label="score against the one before")
        above.vlines(iterations, low, high, color=BLUE, alpha=0.5, linewidth=1.0, label="95% interval")
        above.axhline(0.5, color=GREY, linestyle=(0, (5, 3)), linewidth=0.9)
        above.set_ylim(0, 1)
        above.set_ylabel("score")
        legend_above(above)
        below.plot(iterations, np.cumsum(gained), color=ORANGE, marker="o", markersize=3.5)
        below.set_xlabel("iteration")
        below.set_ylabel("Elo, added up")
        whole_numbers(below)
    return figure


def _draw_ratings(axes: Axes, iterations: np.ndarray, elo: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    rated = ~np.isnan(elo)
    if rated.any():
        axes.plot(iterations, elo, color=BLUE, marker="o", markersize=3.5, label="agent")
        axes.fill_between(iterations, low, high, where=rated, color=BLUE, alpha=0.2, linewidth=0, label="95% interval")
        axes.vlines(iterations[rated], low[rated], high[rated], color=BLUE, alpha=0.5, linewidth=1.0)
    bounds = [
        (low, 1.0, r"$\uparrow$", "at least (lost no game)"),
        (high, -1.0, r"$\downarrow$", "at most (won no game)"),
    ]
    for bound, up, sign, label in bounds:
        bounded = ~rated & ~np.isnan(bound)
        if bounded.any():
            arrow = {"marker": _arrow(up), "markersize": 26, "markerfacecolor": "none", "linestyle": "none"}
            axes.plot(iterations[bounded], bound[bounded], color=BLUE, **arrow)
            axes.plot([], [], color=BLUE, marker=sign, markersize=9, linestyle="none", label=label)  # for the legend
    axes.set_ylabel("Elo")
    axes.margins(y=0.1)
    legend_above(axes)


def _arrow(up: float) -> Any:
    """Make a marker that stands with its foot on the point and leads upwards (`up=1`) or downwards (-1)."""
    from matplotlib.path import Path as Outline

    strokes = [(-0.25, 0.0), (0.25, 0.0), (0.0, 0.0), (0.0, up), (-0.25, 0.65 * up), (0.0, up), (0.25, 0.65 * up)]
    move, line = Outline.MOVETO, Outline.LINETO
    return Outline(strokes, [move, line, move, line, move, line, line])


def _draw_losses(axes: Axes, losses: Mapping[str, Sequence[float]]) -> None:
    for number, (name, values) in enumerate(losses.items()):
        color, linestyle = LOSS_STYLES[number % len(LOSS_STYLES)]
        marker = "o" if len(values) == 1 else None  # one point makes no line
        axes.plot(
            np.arange(1, len(values) + 1), values, color=color, linestyle=linestyle, marker=marker, ms=4, label=name
        )
    axes.set_xlabel("iteration")
    axes.set_ylabel("loss")
    whole_numbers(axes)
    legend_above(axes)


def _floats(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)
