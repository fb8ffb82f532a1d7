"""A training run in the terminal: a live line of progress, or plain lines where stderr is no terminal."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from beamzero.arena.rating import elo_text
from beamzero.cli.common import err
from beamzero.training.report import Report, losses

_COUNTS = {"searched": "searched states", "evaluations": "evaluations"}
"""Figures of searches: their keys in a record, and their names for people."""

_FIRST_TIME = "compiling (only the first time)"


class TrainingDisplay(Report):
    """Shows the iteration, its phase, games and searches a second, losses, the last rating and the time left."""

    def __init__(self, minutes: float | None = None) -> None:
        """Begin a display of a run that is to stop after so many minutes."""
        self._deadline = None if minutes is None else time.monotonic() + 60 * minutes
        self._live = Live(console=err, refresh_per_second=8, transient=False) if err.is_terminal else None
        self._bars = Progress(
            TextColumn("{task.description:<28}", markup=False),
            BarColumn(bar_width=36),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=err,
        )
        self._run = self._bars.add_task("iterations", total=None)
        self._phase = self._bars.add_task("starting", total=None)
        self._figures: Table | Text = Text("")
        self._seen: set[str] = set()
        self._rating: Mapping[str, Any] | None = None
        self._ladder: Mapping[str, Any] | None = None
        self._title, self._total = "", 0
        self._recent: list[float] = []
        """Seconds of the last iterations, without the first one of this process, which compiles."""
        self._compiled = False
        self._last = time.monotonic()

    def __enter__(self) -> TrainingDisplay:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._bars.remove_task(self._phase)
            self._draw()
            self._live.stop()

    def begin(self, title: str, done: int, total: int) -> None:
        self._title, self._total = title, total
        self._bars.update(self._run, description=title, completed=done, total=total)
        self._last = time.monotonic()
        if self._live is None:
            err.print(f"{title}: {total} iterations" + (f", going on after {done}" if done else ""))
        self._draw()

    def phase(self, name: str, done: int, total: int) -> None:
        first_time = done == 0 and name not in self._seen and name != "saving"
        self._seen.add(name)
        task = next(task for task in self._bars.tasks if task.id == self._phase)
        task.total = total if total > 1 and not first_time else None  # None: a bar that only shows that it is alive
        self._bars.update(self._phase, description=f"{name}, {_FIRST_TIME}" if first_time else name, completed=done)
        self._draw()

    def iteration(self, record: Mapping[str, Any]) -> None:
        now = time.monotonic()
        if self._compiled:
            self._recent = [*self._recent[-9:], now - self._last]
        self._compiled, self._last = True, now
        self._rating = record.get("rating") or self._rating
        self._ladder = record.get("climb") or self._ladder
        done = record["iteration"]
        seconds = record["seconds"]
        spent = max(sum(seconds.values()), 1e-9)
        # What searches while it plays has no phase of its own for that.
        searching = max(seconds.get("search", seconds.get("self_play", spent)), 1e-9)
        figures = {
            "games/s": f"{record['games'] / spent:,.0f}",
            **{f"{_COUNTS[key]}/s": f"{record[key] / searching:,.0f}" for key in _COUNTS if key in record},
            **{f"loss {name}": f"{loss:.4f}" for name, loss in losses(record).items()},
            **({"turns": f"{record['mean_turns']:.1f}"} if "mean_turns" in record else {}),
            "Elo": elo_text(dict(self._rating)) if self._rating else "-",
            **({"climb": f"{self._ladder['total']:g} of {self._ladder['of']}"} if self._ladder else {}),
            "left": self._time_left(done, now),
        }
        self._bars.update(self._run, completed=done)
        if self._live is None:
            parts = "  ".join(f"{name} {value}" for name, value in figures.items() if name != "evaluations/s")
            err.print(f"{done:>5}/{self._total}  {parts}", soft_wrap=True)
        else:
            self._figures = _table(figures, err.width)
        self._draw()

    def _time_left(self, done: int, now: float) -> str:
        """Estimate the time until the run ends; "-" where that is not known yet."""
        ends = [] if self._deadline is None else [max(0.0, self._deadline - now)]
        if self._recent:
            ends.append(sorted(self._recent)[len(self._recent) // 2] * (self._total - done))
        return _clock(min(ends)) if ends else "-"

    def message(self, text: str) -> None:
        err.print(text, style="yellow" if err.is_terminal else None, soft_wrap=True)

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(Group(self._bars, self._figures))


_FIRST_TO_GO = ("evaluations/s", "searched states/s", "turns", "climb", "games/s")
"""Figures that are left out, in this order, where a terminal is too narrow."""


def _table(figures: Mapping[str, str], width: int) -> Table:
    """Make a table of one row that fits into `width` characters, as far as leaving figures out can do that."""
    shown = dict(figures)
    for name in _FIRST_TO_GO:
        if sum(max(len(title), len(text)) + 2 for title, text in shown.items()) > width:
            shown.pop(name, None)
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in shown:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_row(*shown.values())
    return table


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
