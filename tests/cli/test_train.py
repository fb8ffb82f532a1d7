"""`train` shows how it goes, says what came of it, and tells how to go on."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console
from rich.live import Live

from beamzero.cli import display, main
from beamzero.cli.display import TrainingDisplay
from beamzero.runs.run import Run
from tests.training.toy import GAME, SETTINGS, command, numbers, run_toy

SHORT = {"iterations": 2, "rate_every": 1}


def test_people_see_a_line_for_each_iteration_and_at_the_end_how_to_play(tmp_path, capsys):
    folder = tmp_path / "run"
    assert main(command(folder, **SHORT)) == 0
    out, err = capsys.readouterr()
    first, *iterations = err.splitlines()
    assert first == "tic_tac_toe by PROBS: 2 iterations"
    assert [line.split()[0] for line in iterations] == ["1/2", "2/2"]
    for figure in ("games/s", "searched states/s", "loss V", "loss Q", "turns", "Elo", "left"):
        assert all(f"  {figure} " in line for line in iterations)
    last = numbers(folder)[-1]
    assert f"loss V {last['value_loss']:.4f}  loss Q {last['q_loss']:.4f}" in iterations[-1]
    assert "trained after 2 iterations" in out
    for name, score in last["rating"]["scores"].items():
        assert f"  score {score:.3f} against {name}\n" in out
    assert f"the curve is in {folder / 'plot.png'}\n" in out
    last_line = out.splitlines()[-1]
    assert last_line.startswith("play against it: ")
    assert last_line.endswith(f"beamzero play tic_tac_toe --agent probs:{folder}"), "in one line, to copy"


def test_json_has_the_keys_that_scripts_rely_on(tmp_path, capsys):
    folder = tmp_path / "run"
    assert main(command(folder, "--json", "--seed", "3", **SHORT)) == 0
    out, _ = capsys.readouterr()
    result = json.loads(out)
    assert out.count("\n") == 1
    assert result.keys() == {"game", "run", "iterations", "seconds", "rating", "interrupted"}
    assert (result["game"], result["run"], result["iterations"]) == (GAME, str(folder), 2)
    assert result["rating"] == numbers(folder)[-1]["rating"] and result["interrupted"] is False
    assert result["rating"].keys() == {"elo", "low", "high", "scores"}
    assert Run.open(folder).about["seed"] == 3


def test_without_ratings_there_is_none(tmp_path, capsys):
    assert main(command(tmp_path / "run", "--json", iterations=1, rate_every=0)) == 0
    assert json.loads(capsys.readouterr().out)["rating"] is None
    assert not (tmp_path / "run" / "anchors.json").exists()


def test_the_folder_is_named_after_the_game_unless_told_otherwise(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sets = {**SETTINGS, "iterations": 1, "rate_every": 0}
    words = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    assert main(["train", GAME, *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"] == "runs/tic_tac_toe"
    assert Run.open(tmp_path / "runs" / "tic_tac_toe").about["recipe"] is None


def test_connect_four_is_trained_by_its_quick_recipe_unless_told_otherwise(tmp_path, capsys, monkeypatch):
    seen = {}

    def look(order, report):
        seen["order"] = order
        raise KeyboardInterrupt

    monkeypatch.setattr("beamzero.cli.train.train", look)
    assert main(["train", "connect_four", "--set", "games = 5"]) == 130
    assert seen["order"].recipe.name == "connect_four_quick"
    assert seen["order"].changes == {"games": "5"}
    assert main(["train", "connect_four", "--resume"]) == 130
    assert seen["order"].recipe is None, "a run that goes on has its own settings"
    assert capsys.readouterr().out == ""


def test_an_interrupted_run_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def phase(self, name: str, done: int, total: int) -> None:
        if name == "searching" and self._recent:
            raise KeyboardInterrupt

    monkeypatch.setattr(TrainingDisplay, "phase", phase)
    assert main(command(tmp_path / "run")) == 130
    out, err = capsys.readouterr()
    assert "stopped after 1 iterations" in out
    last_line = err.splitlines()[-1]
    assert last_line.startswith("go on with: ")
    assert last_line.endswith(f"beamzero train tic_tac_toe --run {tmp_path / 'run'} --resume")


@pytest.mark.parametrize("width", [60, 140])
def test_on_a_terminal_the_display_is_live_and_shows_the_same_figures(tmp_path, monkeypatch, width):
    screen = io.StringIO()
    monkeypatch.setattr(display, "err", Console(file=screen, force_terminal=True, width=width))

    def drawn(live: Live) -> str:
        screen.truncate(0)
        live.refresh()
        return screen.getvalue()

    with TrainingDisplay() as shown:
        assert shown._live is not None
        shown.phase("self-play", 0, 100)
        assert "self-play, compiling (only the first time)" in drawn(shown._live)
        shown.phase("searching", 0, 100)
        shown.phase("searching", 30, 100)
        assert "30/100" in drawn(shown._live)
        shown.phase("self-play", 0, 100)
        assert "compiling" not in drawn(shown._live)
        run_toy(tmp_path / "run", shown, iterations=2, rate_every=1)
        shown.message("something worth a line")
    text = screen.getvalue()
    assert "something worth a line" in text and "2/2" in text
    if width == 140:
        for title in ("games/s", "searched states/s", "evaluations/s", "loss V", "loss Q", "turns", "Elo", "left"):
            assert title in text
