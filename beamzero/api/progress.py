"""Progress of long work: a bar in a notebook, the command line's display in a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import html
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from beamzero.arena.rating import elo_text
from beamzero.cli.common import progress_bar
from beamzero.cli.terminal.display import TrainingDisplay
from beamzero.core.progress import OnPhase, no_progress
from beamzero.training.report import NO_REPORT, Report, losses

_SECONDS_BETWEEN_DRAWINGS = 0.2
_TAG = r"<[^<>]*>"


def in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """One output of a notebook cell, which is drawn again as the work goes on."""

    def __init__(self) -> None:
        self._display: Any = None
        self._drawn = 0.0

    def draw(self, page: str, at_once: bool = False) -> None:
        """Show `page`, HTML, in place of what was shown; not too often unless it is `at_once`."""
        from IPython.display import display

        lines = re.sub(_TAG, "", page.replace("</div>", "\n"))
        shown = {"text/html": page, "text/plain": html.unescape(lines).rstrip("\n")}
        if self._display is None:
            self._display = display(shown, raw=True, display_id=True)
        elif at_once or time.monotonic() - self._drawn > _SECONDS_BETWEEN_DRAWINGS:
            self._display.update(shown, raw=True)
        else:
            return
        self._drawn = time.monotonic()


def bar_html(title: str, done: int, total: int) -> str:
    """Write a labelled progress bar; one without an end where the total is not known."""
    share = f' value="{done}" max="{total}"' if total > 1 else ""
    count = f" {done:,} of {total:,}" if total > 1 else ""
    return f'<div>{html.escape(title)} <progress{share} style="width:16em"></progress>{count}</div>'


class NotebookReport(Report):
    """Shows a training run in a notebook: the iteration, its phase, losses and the last rating."""

    def __init__(self) -> None:
        self._bar = NotebookBar()
        self._title, self._done, self._total = "", 0, 0
        self._figures: dict[str, str] = {}
        self._messages: list[str] = []
        self._phase: tuple[str, int, int] | None = ("starting", 0, 0)

    def begin(self, title: str, done: int, total: int) -> None:
        self._title, self._done, self._total = title, done, total
        self._draw(at_once=True)

    def phase(self, name: str, done: int, total: int) -> None:
        self._phase = (name, done, total)
        self._draw()

    def iteration(self, record: Mapping[str, Any]) -> None:
        self._done = record["iteration"]
        self._figures |= {f"loss {name}": f"{loss:.4f}" for name, loss in losses(record).items()}
        if record.get("rating"):
            self._figures["Elo"] = elo_text(record["rating"])
        self._draw(at_once=True)

    def message(self, text: str) -> None:
        self._messages.append(text)
        self._draw(at_once=True)

    def end(self) -> None:
        """Take the bar of the phase away: what a cell keeps for ever should not look as if it still worked."""
        self._phase = None
        self._draw(at_once=True)

    def _draw(self, at_once: bool = False) -> None:
        figures = " · ".join(f"{name} {value}" for name, value in self._figures.items())
        lines = [*self._messages, figures] if figures else self._messages
        below = "".join(f"<div>{html.escape(line)}</div>" for line in lines)
        phase = "" if self._phase is None or self._done == self._total else bar_html(*self._phase)
        self._bar.draw(bar_html(self._title, self._done, self._total) + phase + below, at_once)


@contextlib.contextmanager
def training_report(progress: bool | Report, minutes: float | None = None) -> Iterator[Report]:
    """Yield the report of a training: the one that is given, or what suits the place where it is shown."""
    if isinstance(progress, Report):
        yield progress
    elif not progress:
        yield NO_REPORT
    elif in_notebook():
        report = NotebookReport()
        try:
            yield report
        finally:
            report.end()
    else:
        with TrainingDisplay(minutes) as display:
            yield display


@contextlib.contextmanager
def phases(title: str, progress: bool) -> Iterator[OnPhase]:
    """Yield a function of (title, done, total) that shows how far work is."""
    if not progress:
        yield no_progress
    elif in_notebook():
        bar = NotebookBar()
        yield lambda name, done, total: bar.draw(bar_html(name, done, total))
        bar.draw("", at_once=True)
    else:
        with progress_bar(title) as update:
            yield update


def counting(title: str, on_phase: OnPhase) -> Callable[[int, int], None]:
    """Make a progress callback of (done, total) of one phase."""
    return lambda done, total: on_phase(title, done, total)
