"""The examples run as they are: scripts and notebooks, at toy size, and a notebook is what its script says."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import runpy
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import pytest

import beamzero as bz

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))

TOY = """
import functools

import beamzero as bz


def smaller(function, **less):
    return functools.wraps(function)(lambda *args, **options: function(*args, **{**options, **less}))


FEW = {"games": 8, "rate_games": 4, "anchor_games": 4, "rate_against": "random", "rate_every": 1, "iterations": 2}
bz.train = smaller(bz.train, **FEW)
bz.battle = smaller(bz.battle, games=4)
bz.rate = smaller(bz.rate, games=4)
bz.score = smaller(bz.score, positions=2)
"""
"""Makes the numbers of an example small, before it begins."""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Run in an empty folder, beside which nothing is registered or changed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(EXAMPLES), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.delenv("MPLBACKEND", raising=False)  # a kernel has its own
    for name in ("train", "battle", "rate", "score"):
        monkeypatch.setattr(bz, name, getattr(bz, name))
    yield tmp_path
    sys.modules.pop("own_algorithm", None)


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in NAMES])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # two runs of two iterations may differ in nothing
def test_a_script_runs(folder, name, capsys):
    matplotlib.use("agg")
    exec(TOY, {})
    runpy.run_path(str(EXAMPLES / f"{name}.py"))
    assert capsys.readouterr().out
    assert all(path.stat().st_size > 5000 for path in folder.glob("*.png"))


class Kernel:
    """A real kernel of a notebook, which runs cells."""

    def __init__(self, client: Any, interrupt: Any) -> None:
        self.client, self.interrupt = client, interrupt

    def run(self, code: str, stop_at: str = "") -> list[dict[str, Any]]:
        """Run a cell. Returns what it shows, each output in its last form. Once it shows `stop_at` it is stopped."""
        asked = self.client.execute(code)
        shown: list[dict[str, Any]] = []
        end = time.monotonic() + 300
        while time.monotonic() < end:
            try:
                message = self.client.get_iopub_msg(timeout=10)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "update_display_data":
                same = [one for one in shown if one.get("transient") == content["transient"]]
                assert same, "an output that was not shown is drawn again"
                same[0]["data"] = content["data"]
            elif kind != "status":
                shown.append({"kind": kind, **content})
            if stop_at and stop_at in json.dumps(content.get("data", "")):
                self.interrupt()
                stop_at = ""
            if kind == "status" and content["execution_state"] == "idle":
                return shown
        raise AssertionError("the cell does not end")


@pytest.fixture
def kernel(folder) -> Iterator[Any]:
    jupyter = pytest.importorskip("jupyter_client.manager")
    manager, client = jupyter.start_new_kernel(kernel_name="python3", cwd=str(folder))
    yield Kernel(client, manager.interrupt_kernel)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


NOISE = pytest.mark.filterwarnings("ignore")
"""What is not ours, in the packages that talk to a kernel."""


@pytest.mark.slow
@NOISE
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(folder, name):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    page = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    page.cells = [cell for cell in page.cells if "install" not in cell.metadata.get("tags", [])]
    page.cells.insert(0, nbformat.v4.new_code_cell(TOY))
    nbclient.NotebookClient(page, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in page.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output.data for output in outputs if output.output_type in ("display_data", "execute_result")]
    assert any("<table" in data.get("text/html", "") for data in shown)
    assert any("image/png" in data for data in shown) == any("savefig" in text for text in [script_of(name)])
    assert not any("<Figure" in output.get("text", "") for output in outputs)
    if "bz.train(" in script_of(name):
        assert any("<progress" in data.get("text/html", "") for data in shown)


def script_of(name: str) -> str:
    return (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")


@pytest.mark.slow
@NOISE
def test_results_draw_themselves_in_a_kernel(kernel):
    kernel.run("import beamzero as bz; game = bz.make_game('tic_tac_toe')")
    for code, kind, part in [
        ("game.position('a1 b2')", "image/svg+xml", "<svg"),
        ("bz.analyse('lookahead:2', game=game)", "text/html", "<table"),
        ("bz.battle('lookahead:1', 'random', game=game, games=4)", "text/html", "<table"),
        ("bz.rate('lookahead:1', game=game, games=4)", "text/html", "<table"),
        ("bz.score('random', game=game, positions=2)", "text/html", "<table"),
        ("bz.score('random', game=game, positions=2, progress=False).plot()", "image/png", ""),
    ]:
        (found,) = [one for one in kernel.run(code) if one["kind"] == "execute_result"]
        assert part in found["data"][kind], code


@pytest.mark.slow
@NOISE
def test_progress_is_a_bar_in_a_kernel(kernel):
    kernel.run("import beamzero as bz")
    shown = kernel.run("found = bz.battle('lookahead:1', 'random', game='tic_tac_toe', games=4)")
    assert [one["kind"] for one in shown if one["kind"] != "execute_input"] == ["display_data"]
    shown = kernel.run(LONG + "iterations=2)")
    (bar,) = [one for one in shown if one["kind"] not in ("execute_input", "execute_result")]
    assert "<progress" in bar["data"]["text/html"] and "2 of 2" in bar["data"]["text/html"]
    assert bar["data"]["text/plain"].startswith("tic_tac_toe by PROBS  2 of 2")


LONG = (
    "run = bz.train('tic_tac_toe', bz.Probs(games=8, expand=3, value_net='mlp:width=8', q_net='mlp:width=8',"
    " rate_games=4, anchor_games=4, rate_against='random', iterations=100000), folder='run', resume=True, "
)


@pytest.mark.slow
@NOISE
def test_the_stop_button_saves_and_returns(kernel):
    kernel.run("import beamzero as bz")
    shown = kernel.run(LONG + ")", stop_at="loss V")
    assert not [one for one in shown if one["kind"] == "error"], shown
    (result,) = [one for one in kernel.run("run.iterations, len(run.metrics())") if one["kind"] == "execute_result"]
    saved, metrics = json.loads(result["data"]["text/plain"].replace("(", "[").replace(")", "]"))
    assert saved == metrics > 0
    kernel.run(LONG + f"iterations={saved + 2})")
    (result,) = [one for one in kernel.run("run.iterations") if one["kind"] == "execute_result"]
    assert int(result["data"]["text/plain"]) == saved + 2


def test_a_cell_shows_what_a_script_prints_or_saves():
    shown = tool()._shown
    assert shown("x = 1\nprint(x)") == "x = 1\nx"
    assert shown("run.plot().savefig('a.png')") == "run.plot()"
    assert shown("figure, axes = plt.subplots()\nfigure.savefig('a.png')") == "figure, axes = plt.subplots()"
    for code in ("print(1, 2)", "print(f'{x}')", "print('a' if b else 'c')", "print(x, end='')", "x"):
        assert shown(code) == code
