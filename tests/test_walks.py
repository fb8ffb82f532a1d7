"""The walks in docs/architecture.md are those that the program goes: each function is called, in that order."""

from __future__ import annotations

import io
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from beamzero.cli import main
from beamzero.core import cores
from tests.conftest import ROOT, drop_programs
from tests.training.toy import command
from tests.web.serving import begin, seat, server

PACKAGE = str(ROOT / "beamzero") + "/"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
TITLES = ["A training iteration", "A battle", "A UCI `go`", "A person's move in the browser"]

pytestmark = pytest.mark.slow  # a function inside a program is called only while it is compiled


def written(title: str) -> list[str]:
    """The functions of a walk, as ``module:qualified name``."""
    (section,) = re.findall(rf"^### {re.escape(title)}\n(.*?)(?=^##)", PAGE, re.M | re.S)
    return re.findall(r"^\d+\. `([\w/]+:[\w.]+)`", section, re.M)


def gone(walk: Callable[[], Any], wanted: list[str]) -> list[str]:
    """The calls of the functions in `wanted`, in whatever thread, one after the other."""
    called: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            name = f"{code.co_filename[len(PACKAGE) : -3]}:{code.co_qualname}"
            if name in wanted:
                called.append(name)

    drop_programs()
    cores._threads.cache_clear()  # threads that began before are not watched
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return called


def train(folder: Path, _: Any) -> None:
    assert main([*command(folder / "run", iterations=1, rate_every=0), "--json"]) == 0


def battle(folder: Path, _: Any) -> None:
    assert main(["battle", "tic_tac_toe", "lookahead:1", "random", "--games", "4", "--json"]) == 0


def go(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"position startpos\ngo depth 1\n")))
    assert main(["engine", "uci", "chess6x6", "lookahead:1"]) == 0


def move(folder: Path, _: Any) -> None:
    with server(folder, ["tic_tac_toe"]) as browser:
        page = browser()
        with seat(page, begin(page)) as table:
            table.my_turn()
            table.move("b2")
            table.my_turn_after(1)


@pytest.mark.parametrize(("title", "walk"), list(zip(TITLES, (train, battle, go, move), strict=True)), ids=TITLES)
def test_the_program_goes_as_the_page_says(title, walk, tmp_path, monkeypatch, capsys):
    wanted = written(title)
    called = gone(lambda: walk(tmp_path, monkeypatch), wanted)
    assert len(wanted) >= 7 and not set(wanted) - set(called)
    rest = iter(called)
    missing = next((name for name in wanted if name not in rest), None)
    assert missing is None, f"{missing} is not called after those before it"


def test_every_walk_of_the_page_is_gone() -> None:
    assert re.findall(r"^### (.*)$", PAGE, re.M) == TITLES
