"""`train` shows how it goes, says what came of it, and tells how to go on."""

from __future__ import annotations

import dataclasses
import io
import json
import re

import pytest
from rich.console import Console
from rich.live import Live

from beamzero.cli import main
from beamzero.cli.terminal import display
from beamzero.cli.terminal.display import TrainingDisplay
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.storage.run import Run
from beamzero.training.recipes import list_recipes
from tests.cli.json_keys import check_keys
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
    check_keys("train", result)
    assert (result["game"], result["run"], result["iterations"]) == (GAME, str(folder), 2)
    assert result["rating"] == numbers(folder)[-1]["rating"] and result["interrupted"] is False
    assert Run.open(folder).about["seed"] == 3


def test_without_ratings_there_is_none(tmp_path, capsys):
    assert main(command(tmp_path / "run", "--json", iterations=1, rate_every=0)) == 0
    assert json.loads(capsys.readouterr().out)["rating"] is None
    assert not (tmp_path / "run" / "anchors.json").exists()


def test_the_folder_is_named_after_the_game_unless_told_otherwise(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sets = {**SETTINGS, "iterations": 1, "rate_every": 0}
    words = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    assert main(["train", GAME, "--recipe", "none", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"] == "runs/tic_tac_toe"
    assert Run.open(tmp_path / "runs" / "tic_tac_toe").about["recipe"] is None


def test_connect_four_is_trained_by_its_quick_recipe_unless_told_otherwise(tmp_path, capsys, monkeypatch):
    seen = {}

    def look(order, report):
        seen["order"] = order
        raise KeyboardInterrupt

    monkeypatch.setattr("beamzero.cli.commands.train.train", look)
    assert main(["train", "connect_four", "--set", "games = 5"]) == 130
    assert seen["order"].recipe.name == "connect_four_quick"
    assert seen["order"].changes == {"games": "5"}
    assert main(["train", "connect_four", "--resume"]) == 130
    assert seen["order"].recipe is None, "a run that goes on has its own settings"
    assert capsys.readouterr().out == ""


def test_without_a_recipe_each_algorithm_takes_its_own_quick_one(monkeypatch):
    orders = []

    def look(order, report):
        orders.append(order)
        raise KeyboardInterrupt

    ours = list_recipes()["connect_four_quick"]
    theirs = dataclasses.replace(ours, name="connect_four_alphazero_quick", algorithm="alphazero", settings={})
    monkeypatch.setattr("beamzero.cli.commands.train.train", look)
    for recipes in ([theirs, ours], [ours, theirs]):
        module, known = "beamzero.cli.commands.train", {"connect_four_quick": ours, theirs.name: theirs}
        monkeypatch.setattr("beamzero.training.recipes.list_recipes", lambda found=recipes: {r.name: r for r in found})
        monkeypatch.setattr(f"{module}.find_recipe", known.get)
        for words, algorithm, recipe in [
            ([], None, ours), (["--algo", "probs"], "probs", ours), (["--algo", "alphazero"], "alphazero", theirs),
            (["--recipe", theirs.name], None, theirs),
        ]:  # fmt: skip
            assert main(["train", "connect_four", *words]) == 130
            assert (orders[-1].algorithm, orders[-1].recipe) == (algorithm, recipe)
    assert main(["train", "tic_tac_toe", "--algo", "alphazero"]) == 130
    assert orders[-1].recipe is None


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--algo", "sarsa"], "unknown algorithm 'sarsa' (there are: alphazero, probs, td)"),
        (["--algo", "alphazero", "--recipe", "connect_four_quick"], "connect_four_quick is for probs, not alphazero"),
        (["--algo", "alphazero", "--set", "sims=0"], "sims is 0, but must be 1 to 100000"),
        (["--algo", "alphazero", "--set", "expand=3"], "a run of AlphaZero has no setting 'expand'"),
        (["--set", "sims=3"], "a run of PROBS has no setting 'sims'"),
    ],
)
def test_what_does_not_belong_to_the_algorithm_gets_one_line(tmp_path, capsys, words, wrong):
    assert main(["train", "connect_four", "--run", str(tmp_path / "run"), *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("beamzero: ") and err.count("\n") == 1 and wrong in err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(("sims", "how"), [(0, "one look at the net"), (3, "3 simulations")])
def test_alphazero_says_how_it_was_rated_and_how_to_play_against_it(tmp_path, capsys, sims, how):
    folder = tmp_path / "run"
    assert main(command(folder, algorithm="alphazero", rate_sims=sims, **SHORT)) == 0
    out, err = capsys.readouterr()
    first, *iterations = err.splitlines()
    assert first == "tic_tac_toe by AlphaZero: 2 iterations"
    for figure in ("games/s", "loss value", "loss policy", "turns", "Elo", "left"):
        assert all(f"  {figure} " in line for line in iterations)
    assert f"(random is 1000), {how}\n" in out
    assert out.endswith(f"beamzero play tic_tac_toe --agent alphazero:{folder},sims=4\n")
    assert make_player(f"alphazero:{folder},sims=4", make_game(GAME))


def test_an_interrupted_run_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def phase(self, name: str, done: int, total: int) -> None:
        if name == "searching" and self._compiled:
            raise KeyboardInterrupt

    monkeypatch.setattr(TrainingDisplay, "phase", phase)
    assert main(command(tmp_path / "run")) == 130
    out, err = capsys.readouterr()
    assert "stopped after 1 iterations" in out
    last_line = err.splitlines()[-1]
    assert last_line.startswith("go on with: ")
    assert last_line.endswith(f"beamzero train tic_tac_toe --run {tmp_path / 'run'} --resume")


@pytest.mark.parametrize("width", [60, 80, 140])
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
    if width == 80:
        rows = [line.split() for line in re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", text).splitlines()]
        assert any(row[-2:] == ["Elo", "left"] and row.count("loss") == 2 for row in rows), "what matters is whole"


def test_the_time_left_counts_no_compilation_and_ends_with_the_minutes(monkeypatch):
    record = {"iteration": 1, "games": 8, "seconds": {"self_play": 1.0}}
    clock = [0.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: clock[0])
    left = []
    for shown in (TrainingDisplay(), TrainingDisplay(minutes=2)):
        clock[0] = 0.0
        shown.begin("a run", 0, 100)
        for iteration, now in ((1, 60.0), (2, 62.0)):
            clock[0] = now
            shown.iteration({**record, "iteration": iteration})
            left.append(shown._time_left(iteration, now))
    assert left == ["-", "3:16", "1:00", "0:58"]
