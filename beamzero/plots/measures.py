"""Pictures of measurements: calibration of an evaluation, errors, ratings, and the review of a game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from beamzero.core.errors import BadInput
from beamzero.plots.style import BLUE, GREY, LOSS_STYLES, ORANGE, draw_anchors, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from beamzero.arena.calibration import Bin
    from beamzero.arena.rating import Rating
    from beamzero.arena.score import Scored
    from beamzero.records.review import Review


def draw_calibration(bins: Sequence[Bin], point: float, tempo: float, title: str) -> Figure:
    """Draw the measured chance of winning with its interval by evaluation, and the chance that was fitted.

    A point adds `point` to the logarithm of the odds, and the right to move `tempo`.
    """
    seen = [b for b in bins if b.games]
    if not seen:
        raise BadInput("there is no position to draw")
    with new_figure(title, (6.4, 4.8)) as figure:
        axes = figure.subplots()
        across = np.linspace(min(b.mean for b in seen) - 1, max(b.mean for b in seen) + 1, 200)
        axes.plot(across, 1 / (1 + np.exp(-point * across - tempo)), color=GREY, linestyle="--", label="fitted")
        chance = np.array([b.chance for b in seen])
        below_and_above = np.abs(np.array([b.interval for b in seen]).T - chance[None])
        dots: dict[str, Any] = {"color": BLUE, "marker": "o", "linestyle": "none", "capsize": 3}
        axes.errorbar([b.mean for b in seen], chance, below_and_above, **dots, label="measured, 95% interval")
        axes.set(xlabel="evaluation in points", ylabel="chance of winning", ylim=(0, 1))
        axes.legend(loc="upper left")
    return figure


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
        times = [score.milliseconds for score in scores]
        if max(times) < 1.5 * min(times):  # one agent, or the same time: matplotlib finds no limits for some of these
            axes.set_xlim(min(times) / 3, max(times) * 3)
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
