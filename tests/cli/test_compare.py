"""`beamzero compare`: its table, its picture, its JSON, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from beamzero.arena.battle import Battle
from beamzero.arena.intervals import score_interval
from beamzero.cli import main
from beamzero.experiments.comparison import Compared, Point
from beamzero.training import recipes
from tests.cli.json_keys import check_keys
from tests.experiments.test_compare import RECIPES
from tests.training.toy import GAME

SMALL = [
    "--amount", "1000", "--seeds", "2", "--points", "2", "--rate-games", "4", "--rate-against", "random",
    "--battle-games", "4", "--play-evaluations", "12",
]  # fmt: skip


@pytest.fixture(autouse=True)
def toy_recipes(monkeypatch):
    every = {**recipes.list_recipes(), **{recipe.name: recipe for recipe in RECIPES}}
    monkeypatch.setattr(recipes, "list_recipes", lambda: every)


def finished_at(elo: float | None) -> Compared:
    """A comparison that nobody made; the last of its agents lost no game where `elo` is None."""
    ends = {("toy_probs", 0): 1100.0, ("toy_probs", 1): 1300.0, ("toy_alphazero", 0): 1000.0, ("toy_alphazero", 1): elo}
    points: dict[str, list[list[Point]]] = {"toy_probs": [], "toy_alphazero": []}
    for (name, seed), end in ends.items():
        first = Point(name, seed, 1, 8, 500, 1.5, 900.0, 800.0, 1000.0, {"random": 0.4})
        last = Point(name, seed, 2, 16, 1200, 2.5, end, 950.0, None if end is None else end + 90, {"random": 1.0})
        points[name].append([first, last])
    scores = np.array([[1.0, 0.0], [1.0, 0.5]])
    agents = "probs:a", "alphazero:b"
    battles = [Battle(GAME, agents, scores, (b"one", b"two"), 2, 7.5, score_interval(scores))] * 4
    return Compared(points, {"toy_probs": 1234, "toy_alphazero": 5_600_000}, battles)


def test_a_table_a_picture_and_json(tmp_path, capsys, monkeypatch):
    words = ["compare", GAME, "--recipes", "toy_probs", "toy_alphazero", *SMALL, "--out", str(tmp_path)]
    for elo, mean, shown in ((1200.0, 1100.0, "1000, 1200"), (None, None, "1000, >950")):
        monkeypatch.setattr("beamzero.cli.commands.compare.compare", lambda *_, elo=elo: finished_at(elo))
        assert main(words) == 0
        out = capsys.readouterr().out
        rows = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines() if line.startswith(" toy_")}
        assert rows == {
            "toy_probs": "1.2K 16 1.2K 2.5 1200 1100, 1300",
            "toy_alphazero": f"5.6M 16 1.2K 2.5 {'-' if mean is None else '1100'} {shown}",
        }
        assert out.count("  0.625 [") == 4 and out.count("probs:a v alphazero:b, 4 games") == 4
        assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")
        assert main([*words, "--json"]) == 0
        result = json.loads(capsys.readouterr().out)
        check_keys("compare", result)
        assert [found["elo"] for found in result["recipes"].values()] == [1200.0, mean]
        assert [seed["evaluations"] for found in result["recipes"].values() for seed in found["seeds"]] == [1200] * 4


@pytest.mark.slow
def test_two_recipes_are_trained_and_meet(tmp_path, capsys):
    words = ["compare", GAME, "--recipes", "toy_probs", "toy_alphazero", *SMALL, "--out", str(tmp_path / "x")]
    assert main([*words, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    for name, found in result["recipes"].items():
        ends = [seed["evaluations"] for seed in found["seeds"]]
        assert name in ("toy_probs", "toy_alphazero") and len(ends) == 2 and min(ends) >= 1000
    assert len(result["battles"]) == 4 and {battle["games"] for battle in result["battles"]} == {4}
    assert main(words) == 0
    assert capsys.readouterr().out.count(" v alphazero:") == 4, "what is finished is not trained again"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--recipes", "toy_probs"], "two recipes or more can be compared"),
        (["--recipes", "toy_probs", "nonsense"], "unknown recipe 'nonsense'"),
        (
            ["--recipes", "toy_probs,connect_four_quick"],
            "the recipe connect_four_quick is for connect_four, not tic_tac_toe",
        ),
        (["--recipes", "toy_probs", "toy_alphazero", "--budget", "coffee"], "the budget is 'coffee'"),
        (["--recipes", "toy_probs", "toy_alphazero", "--rate-against", "nobody"], "unknown agent 'nobody'"),
    ],
)
def test_bad_input_gets_one_line_and_writes_nothing(words, message, tmp_path, capsys):
    folder = tmp_path / "x"
    assert main(["compare", "tic_tac_toe", *words, "--out", str(folder)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and message in err
    assert not folder.exists()
