"""`beamzero compare`: its table, its picture, its JSON, and what it refuses."""

from __future__ import annotations

import json

import pytest

from beamzero.cli import main
from beamzero.training import config
from tests.training.test_compare import RECIPES

SMALL = [
    "--amount", "1000", "--seeds", "2", "--points", "2", "--rate-games", "4", "--rate-against", "random",
    "--battle-games", "4", "--play-evaluations", "12",
]  # fmt: skip


@pytest.fixture(autouse=True)
def toy_recipes(monkeypatch):
    every = {**config.list_recipes(), **{recipe.name: recipe for recipe in RECIPES}}
    monkeypatch.setattr(config, "list_recipes", lambda: every)


def test_a_table_a_picture_and_json(tmp_path, capsys):
    words = ["compare", "tic_tac_toe", "--recipes", "toy_probs", "toy_alphazero", *SMALL, "--out", str(tmp_path / "x")]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "toy_probs" in out and "toy_alphazero" in out and out.count(" v alphazero:") == 4
    assert (tmp_path / "x" / "compare.png").read_bytes().startswith(b"\x89PNG")
    assert main([*words, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result.keys() == {"game", "budget", "amount", "recipes", "battles", "folder"}
    for name, found in result["recipes"].items():
        ends = [seed["evaluations"] for seed in found["seeds"]]
        assert name in ("toy_probs", "toy_alphazero") and len(ends) == 2 and min(ends) >= 1000
        elos = [seed["elo"] for seed in found["seeds"]]
        assert found["elo"] == (None if None in elos else pytest.approx(sum(elos) / 2))


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
