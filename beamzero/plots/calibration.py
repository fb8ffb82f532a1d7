"""One picture of an evaluation: how often positions are won, by what it says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from beamzero.arena.calibration import Bin
from beamzero.core.errors import BadInput
from beamzero.plots.style import BLUE, GREY, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_calibration(bins: Sequence[Bin], point: float, tempo: float, title: str) -> Figure:
    """Draw the measured chance with its interval by evaluation, and what the evaluation promises.

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
