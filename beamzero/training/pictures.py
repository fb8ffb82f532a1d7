"""Pictures of a run, drawn in its folder while it trains."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from beamzero.plots.style import write_png
from beamzero.plots.training import draw_gates, draw_ladder, draw_training
from beamzero.storage.files import reason, writing
from beamzero.storage.metrics import read_metrics
from beamzero.storage.run import Run
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.report import Report, losses

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SECONDS_BETWEEN_PICTURES = 20.0


class RunPictures:
    """Draws a run from time to time. A picture that fails does not end the training: it is reported once."""

    def __init__(self, run: Run, report: Report, check_folder: Callable[[], None]) -> None:
        self.run, self.report, self.check_folder = run, report, check_folder
        self.last_drawn = time.monotonic()
        self.warned = False

    def draw(self, final: bool = False) -> None:
        """Draw, unless that was done a short time ago; in any case where it is the `final` picture."""
        if not final and time.monotonic() - self.last_drawn < _SECONDS_BETWEEN_PICTURES:
            return
        self.last_drawn = time.monotonic()
        self.check_folder()
        try:
            draw_run(self.run)
        except Exception as error:
            if not self.warned:
                self.report.message(f"the picture of the run could not be drawn: {reason(error)}")
            self.warned = True


def draw_run(run: Run) -> None:
    """Draw the curves of a run as pictures in its folder; nothing before its first iteration."""
    records = read_metrics(run.folder)
    if not records:
        return
    with writing(str(run.plot_path)):
        write_png(curves_of_run(run, records), run.plot_path)
    about = f"{run.about['game']} by {ALGORITHMS[run.about['algorithm']].title}"
    _draw_ladder(run, records, f"{about} against minimax")
    _draw_gates(run, records, f"{about}, each net against the best before")


def curves_of_run(run: Run, records: Sequence[dict[str, Any]]) -> Figure:
    """Draw the rating and the losses of a run, whose metrics are `records`, one at least."""
    rated = [record for record in records if record.get("rating")]
    return draw_training(
        [record["iteration"] for record in rated],
        [record["rating"]["elo"] for record in rated],
        [record["rating"]["low"] for record in rated],
        [record["rating"]["high"] for record in rated],
        run.read_anchors().get("elo", {}),
        {name: [losses(record)[name] for record in records] for name in losses(records[-1])},
        f"{run.about['game']} by {ALGORITHMS[run.about['algorithm']].title}, {records[-1]['iteration']} iterations",
    )


def _draw_ladder(run: Run, records: Sequence[dict[str, Any]], title: str) -> None:
    """Draw the points on the ladder against the games of self-play; nothing where none was played."""
    played = itertools.accumulate(record["games"] for record in records)
    results = [(games, record["climb"]) for games, record in zip(played, records) if "climb" in record]
    if not results:
        return
    path = run.folder / "climb.png"
    with writing(str(path)):
        totals, most = [found["total"] for _, found in results], results[-1][1]["of"]
        write_png(draw_ladder([games for games, _ in results], totals, most, title), path)


def _draw_gates(run: Run, records: Sequence[dict[str, Any]], title: str) -> None:
    """Draw the score of each net against the best one before; nothing where they never met."""
    gates = [record for record in records if "gate_score" in record]
    if not gates:
        return
    path = run.folder / "gate.png"
    with writing(str(path)):
        figure = draw_gates(
            [record["iteration"] for record in gates],
            [record["gate_score"] for record in gates],
            [record["gate_interval"] for record in gates],
            [record["gate_passed"] for record in gates],
            title,
        )
        write_png(figure, path)
