"""`fit-eval`: from self-play to a file of weights that an agent plays with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from beamzero.arena.battle import Battle
from beamzero.arena.calibration import calibrate
from beamzero.arena.intervals import score_interval
from beamzero.cli import main
from beamzero.cli.commands.fit_eval import _compared, verdict
from beamzero.games import make_game
from beamzero.storage.weightsfile import load_weights
from beamzero.training.feature_weights import learn
from tests.cli.json_keys import check_keys

GAME = "connect_four:rows=4,columns=5"
TINY = ["--games", "40", "--rounds", "2", "--depth", "1", "--trial-games", "8", "--battle-games", "8"]
TINY += ["--battle-depth", "1"]


@pytest.fixture(scope="module", autouse=True)
def trials():
    """Weights are taken without trials, which are long, and tested elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learn, "_trial", lambda *_: np.full((50, 2), 0.6))
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with weights, and things that are none."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["fit-eval", GAME, *TINY, "--out", "my weights.json", "--plot", "chance.png"]) == 0
    whole = (folder / "my weights.json").read_text()
    (folder / "short.json").write_text(whole[:-20])
    (folder / "changed.json").write_text(whole.replace('"games": 40', '"games": 41'))
    return folder


def run_main(capsys, *words: str) -> str:
    assert main(list(words)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.slow
def test_it_saves_weights_with_how_they_were_made(made):
    weights = load_weights(made / "my weights.json", make_game(GAME))
    assert {key: weights.made[key] for key in ("games", "rounds", "depth", "seed")} == {
        "games": 40, "rounds": 2, "depth": 1, "seed": 0,
    }  # fmt: skip
    assert weights.made["battle"]["against"] == "alphabeta:depth=1" and weights.made["battle"]["games"] == 8
    assert weights.made["battle"]["says"].startswith("the fitted weights") and weights.made["is_new"]
    assert (made / "chance.png").read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in made.iterdir()} == {"my weights.json", "chance.png", "short.json", "changed.json"}


@pytest.mark.slow
def test_the_weights_play(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    for agent in ("alphabeta:depth=1", "minimax:depth=1"):
        words = ["battle", GAME, f'{agent},weights="my weights.json"', agent, "--games", "8", "--json"]
        result = json.loads(run_main(capsys, *words))
        assert result["games"] == 8 and result["wins"] + result["losses"] > 0, "they do not play as those by hand do"


@pytest.mark.slow
def test_the_battle_is_the_one_that_battle_would_play(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    fitted = load_weights("my weights.json", make_game(GAME)).made["battle"]
    words = ["battle", GAME, 'alphabeta:depth=1,weights="my weights.json"', "alphabeta:depth=1", "--games", "8"]
    result = json.loads(run_main(capsys, *words, "--json"))
    assert (result["score"], result["interval"]) == (fitted["score"], fitted["interval"])


def test_json_says_it_all(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    out = run_main(capsys, "fit-eval", GAME, *TINY, "--json")
    result = json.loads(out)
    check_keys("fit-eval", result)
    assert out.count("\n") == 1
    assert result["weights"] == "connect_four-rows=4-columns=5.weights.json"
    weights = load_weights(result["weights"], make_game(GAME))
    assert [row["name"] for row in result["features"]] == list(weights.features)
    assert [row["log_odds"] for row in result["features"]] == weights.values
    for row in result["features"]:
        assert row["points"] * result["point"] == pytest.approx(row["log_odds"])
    assert [row["by_hand"] for row in result["features"]] == list(make_game(GAME).point_weights)
    for one, noise in zip(result["learning"], (0.5, 0.1), strict=True):
        assert one["noise"] == noise and len(one["trials"]) == 4 and one["taken"] and one["again"] == pytest.approx(0.6)
        assert set(one["regressions"]) == {"middle", "whole"} and one["positions"] > 0
    assert [row["points"] for row in result["features"]] == pytest.approx(result["learning"][-1]["points"], rel=1e-4)
    assert sum(b["positions"] for b in result["calibration"]) > 0
    assert all(b["interval"][0] <= b["chance"] <= b["interval"][1] for b in result["calibration"] if b["games"])
    assert result["battle"]["games"] == 8 and result["better"] == (result["battle"]["interval"][0] > 0.5)
    one, three = (b for b in result["calibration"] if b["low"] in (0.5, 2.0))
    assert one["games"] and three["games"], "there is something to compare"
    assert result["one_point_less_than_three"] == (one["chance"] < three["chance"]) and isinstance(
        result["grows"], bool
    )


@pytest.mark.slow
def test_people_see_features_chances_and_the_battle(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = " ".join(run_main(capsys, "fit-eval", GAME, *TINY, "--out", "w.json").split())
    for words in (
        "points for one of by hand fitted win at hand 15.00",
        "positions of games with 50% random moves; of 4 ways on",
        "evaluation, points positions games chance of winning 95% interval below -4",
        "one point ahead it is",
        "alphabeta:depth=1,weights=w.json scores",
        "the fitted weights",
        "saved in w.json",
    ):
        assert words in text


@pytest.mark.slow
def test_no_battle_where_none_is_wanted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    result = json.loads(run_main(capsys, "fit-eval", GAME, *TINY, "--battle-games", "0", "--json"))
    assert result["battle"] is None and result["better"] is False and result["says"] is None
    assert "battle" not in load_weights(result["weights"], make_game(GAME)).made


@pytest.mark.parametrize(
    "points, result, said",
    [
        ([1, 3], [0.5, 1.0], "one point ahead it is 0.500, less than three points ahead, 1.000"),
        ([1, 3], [0.5, 0.5], "one point ahead it is 0.500, NOT less than three points ahead, 0.500"),
        ([1, 1], [0.5, 1.0], "there were no positions one point and three points ahead to be compared"),
    ],
)
def test_one_point_is_compared_with_three_where_there_are_such_positions(points, result, said):
    assert _compared(calibrate(np.array(points), np.array(result), np.arange(2))) == said


@pytest.mark.parametrize(
    "pairs, said",
    [
        ([[1.0, 1.0]] * 40, "the fitted weights beat those made by hand"),
        ([[0.0, 0.0]] * 40, "the fitted weights are worse than those made by hand"),
        ([[1.0, 0.0]] * 40, "the fitted weights are not shown to be better than those made by hand"),
    ],
)
def test_the_verdict_is_what_the_interval_says(pairs, said):
    scores = np.array(pairs)
    played = Battle("kalah", ("one", "other"), scores, (b"same",) * len(scores), 2, 30.0, score_interval(scores))
    assert verdict(played).startswith(said)


@pytest.mark.slow
def test_where_nothing_learned_is_better_the_weights_by_hand_stay(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(learn, "_trial", lambda *_: np.full((50, 2), 0.5))
    result = json.loads(run_main(capsys, "fit-eval", GAME, *TINY, "--json"))
    assert result["says"].startswith("no weights that were learned did better than those made by hand")
    assert result["battle"] is None and result["better"] is False
    assert [row["points"] for row in result["features"]] == pytest.approx(make_game(GAME).point_weights, rel=1e-4)


WRONG: list[tuple[list[str], str]] = [
    (["fit-eval", "pgx:hex"], "pgx:hex has no features, so there are no weights to be learned"),
    (["fit-eval", GAME, "--games", "3"], "games is 3, but must be 20 to 1000000"),
    (["fit-eval", GAME, "--depth", "0"], "depth is 0, but must be 1 to 16"),
    (["fit-eval", GAME, "--rounds", "0"], "rounds is 0, but must be 1 to 100"),
    (["fit-eval", GAME, "--trial-games", "7"], "trial games is 7, but must be a multiple of 4"),
    (["fit-eval", GAME, "--battle-games", "7"], "battle games is 7, but must be an even number, or 0 for no battle"),
    (["fit-eval", GAME, "--battle-depth", "0"], "alphabeta:depth=0: depth is 0"),
    (["fit-eval", GAME, "--out", "none/w.json"], "there is no folder none to write w.json into"),
    (["fit-eval", GAME, "--plot", "."], ". is a folder, but"),
    (["fit-eval", GAME, "--plot", "w.json", "--out", "w.json"], "weights and plot cannot both be w.json"),
    (["fit-eval", "no_such_game"], "no_such_game"),
    (["battle", GAME, "alphabeta:depth=1,weights=none.json", "random"], "there is no file of weights none.json"),
    (["battle", GAME, "alphabeta:depth=1,weights=short.json", "random"], "short.json is cut short or damaged"),
    (["battle", GAME, "minimax:depth=1,weights=changed.json", "random"], "does not match its SHA-256"),
    (["battle", "kalah", 'minimax:1,weights="my weights.json"', "random"], f"has weights for {GAME}, not for kalah"),
]


@pytest.mark.parametrize("words, said", WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_bad_input_gets_one_line_and_changes_nothing(made, monkeypatch, capsys, words, said):
    monkeypatch.chdir(made)
    before = sorted(path.name for path in made.iterdir())
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and said in err
    assert sorted(path.name for path in made.iterdir()) == before
