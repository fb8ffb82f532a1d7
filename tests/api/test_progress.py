"""Progress in a notebook: what a cell shows while it works, and what it keeps."""

from __future__ import annotations

import pytest

from beamzero.api import progress
from beamzero.api.progress import NotebookBar, training_report


@pytest.fixture
def pages(monkeypatch):
    drawn: list[str] = []
    monkeypatch.setattr(NotebookBar, "draw", lambda bar, page, at_once=False: drawn.append(page))
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    return drawn


def test_a_training_that_stopped_early_keeps_no_bar_that_moves(pages):
    with training_report(True) as report:
        report.begin("pile by PROBS", 0, 100)
        report.phase("saving", 0, 0)
        assert "saving" in pages[-1] and pages[-1].count("<progress") == 2
    assert "saving" not in pages[-1] and pages[-1].count("<progress") == 1


def test_a_training_that_failed_does_not_look_as_if_it_went_on(pages):
    with pytest.raises(OSError), training_report(True) as report:
        report.begin("pile by PROBS", 0, 100)
        raise OSError
    assert "starting" not in pages[-1]


def test_without_html_each_line_stands_for_itself(monkeypatch):
    shown = []
    display = pytest.importorskip("IPython.display")
    monkeypatch.setattr(display, "display", lambda data, **_: shown.append(data))
    NotebookBar().draw("<div>one <progress></progress> 1 of 2</div><div>loss &lt; 3</div>")
    assert shown[0]["text/plain"] == "one  1 of 2\nloss < 3"
