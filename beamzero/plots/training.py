"""Pictures of a training run: how strong the agent became, and how well its nets fit."""

import contextlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from beamzero.errors import BadInput
from beamzero.runs.files import check_writable, write_atomically

# Okabe and Ito's colours, which stay apart for colour-blind eyes.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6B6B6B"
LOSS_STYLES = [(BLUE, "-"), (ORANGE, "--"), (GREEN, "-."), (PURPLE, ":")]
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "legend.frameon": False,
}


def plain(text: str) -> str:
    """A text for pictures as it is written: dollars in it begin no formula."""
    return text.replace("$", r"\$")


@contextlib.contextmanager
def new_figure(title: str, size: tuple[float, float], dpi: int = 150) -> Iterator[Any]:
    """An empty picture of `size` inches in our style, which holds as long as the context does."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, dpi=dpi, layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(plain(title), x=0.01, horizontalalignment="left", fontweight="bold", wrap=True)
        yield figure


def draw_training(
    path: str | os.PathLike[str],
    iterations: Sequence[int],
    elo: Sequence[float | None],
    low: Sequence[float | None],
    high: Sequence[float | None],
    anchors: Mapping[str, float],
    losses: Mapping[str, Sequence[float]],
    title: str,
) -> None:
    """Write a PNG: above, the rating with its 95% band and the anchors; below, the losses.

    `iterations`, `elo`, `low` and `high` have one entry per rated checkpoint and read as in `rating.Rating`: where
    `elo` is None, `low` is drawn as an arrow upwards, or `high` as one downwards. Each of `losses` has one entry per
    iteration of training, from 1. The file appears whole or not at all.
    """
    with new_figure(title, (8.0, 6.4), dpi=150) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        _draw_ratings(above, np.asarray(iterations), _floats(elo), _floats(low), _floats(high))
        draw_anchors(above, anchors)
        _draw_losses(below, losses)
        write_png(figure, Path(path))


def draw_climbs(
    path: str | os.PathLike[str], games: Sequence[int], totals: Sequence[float], most: float, title: str
) -> None:
    """Write a PNG: the points out of `most` that the agent had on a ladder of opponents, against the games it played.

    `games` and `totals` have one entry per climb. The file appears whole or not at all.
    """
    with new_figure(title, (7.0, 3.6), dpi=110) as figure:
        axes = figure.subplots()
        axes.plot(games, totals, color=BLUE, marker="o", markersize=3.5, label="agent")
        axes.axhline(most, color=GREY, linestyle=(0, (5, 3)), linewidth=0.9, label=f"most, {most:g} points")
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.06 * most)
        axes.set_xlabel("games of self-play")
        axes.set_ylabel("wins + draws / 2")
        _legend_above(axes)
        write_png(figure, Path(path))


def draw_gates(
    path: str | os.PathLike[str],
    iterations: Sequence[int],
    scores: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    passed: Sequence[bool],
    title: str,
) -> None:
    """Write a PNG: above, each net's score against the best before it, with its 95% interval; below, their sum.

    Of the nets that passed, the differences in Elo are added up. Who beats its forerunner need not beat all that came
    before, so the sum is a picture of progress and no rating. The file appears whole or not at all.
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
        _legend_above(above)
        below.plot(iterations, np.cumsum(gained), color=ORANGE, marker="o", markersize=3.5)
        below.set_xlabel("iteration")
        below.set_ylabel("Elo, added up")
        _whole_numbers(below)
        write_png(figure, Path(path))


def _draw_ratings(axes: Any, iterations: np.ndarray, elo: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
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
    _legend_above(axes)


def _arrow(up: float) -> Any:
    """A marker that stands with its foot on the point and leads upwards (`up=1`) or downwards (-1)."""
    from matplotlib.path import Path as Outline

    strokes = [(-0.25, 0.0), (0.25, 0.0), (0.0, 0.0), (0.0, up), (-0.25, 0.65 * up), (0.0, up), (0.25, 0.65 * up)]
    move, line = Outline.MOVETO, Outline.LINETO
    return Outline(strokes, [move, line, move, line, move, line, line])


def draw_anchors(axes: Any, anchors: Mapping[str, float]) -> None:
    """Dashed lines with the names in the right margin, moved apart where they would touch."""
    names = sorted(anchors, key=lambda name: anchors[name])
    for name in names:
        axes.axhline(anchors[name], color=GREY, linestyle=(0, (5, 3)), linewidth=0.9, zorder=1.5)
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom, top)
    places = spread([anchors[name] for name in names], gap=0.06 * (top - bottom), top=top)
    for name, place in zip(names, places, strict=True):
        axes.annotate(
            f"{name}  {anchors[name]:.0f}",
            xy=(1.0, anchors[name]),
            xytext=(1.03, place),
            xycoords=("axes fraction", "data"),
            textcoords=("axes fraction", "data"),
            verticalalignment="center",
            fontsize=9,
            color=GREY,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkB": 0, "relpos": (0, 0.5)},
        )


def spread(places: Sequence[float], gap: float, top: float) -> list[float]:
    """The rising `places`, moved up until they are `gap` apart, and down again where they would pass `top`."""
    apart: list[float] = []
    for place in places:
        apart.append(max(place, apart[-1] + gap) if apart else place)
    ceiling = top
    for number in reversed(range(len(apart))):
        apart[number] = min(apart[number], ceiling)
        ceiling = apart[number] - gap
    return apart


def _draw_losses(axes: Any, losses: Mapping[str, Sequence[float]]) -> None:
    for number, (name, values) in enumerate(losses.items()):
        color, linestyle = LOSS_STYLES[number % len(LOSS_STYLES)]
        marker = "o" if len(values) == 1 else None  # one point makes no line
        axes.plot(
            np.arange(1, len(values) + 1), values, color=color, linestyle=linestyle, marker=marker, ms=4, label=name
        )
    axes.set_xlabel("iteration")
    axes.set_ylabel("loss")
    _whole_numbers(axes)
    _legend_above(axes)


def _whole_numbers(axes: Any) -> None:
    """There is no iteration 1.5."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def _legend_above(axes: Any) -> None:
    """One row over the panel, where it cannot hide a curve."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, labels, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(labels), fontsize=9)


def check_picture_path(path: Path) -> None:
    """BadInput where no picture could be written, so that it is known before the work begins. All of ours are PNG."""
    check_writable(path, "a picture is")
    if path.suffix.lower() != ".png":
        raise BadInput(f"a picture's file must end in .png, but {path.name!r} does not")


def write_png(figure: Any, path: Path) -> None:
    """Write a figure of matplotlib's, whole or not at all."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    write_atomically(path, picture.getvalue())


def _floats(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)
