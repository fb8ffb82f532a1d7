"""`battle`, `rate` and `perft`, for people and as JSON."""

from __future__ import annotations

import json

import pytest

from beamzero.cli import main
from beamzero.games import make_game
from beamzero.players.trained import load_trained
from tests.training.toy import GAME


def run_main(capsys, *words: str) -> str:
    assert main(list(words)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_battle_as_json(capsys):
    out = run_main(capsys, "battle", GAME, "lookahead:1", "random", "--games", "60", "--seed", "4", "--json")
    result = json.loads(out)
    assert out.count("\n") == 1
    assert set(result) >= {"game", "agents", "games", "wins", "draws", "losses", "score", "interval", "by_side"}
    assert (result["game"], result["agents"], result["games"]) == (GAME, ["lookahead:1", "random"], 60)
    assert result["wins"] + result["draws"] + result["losses"] == 60
    assert result["score"] == pytest.approx((result["wins"] + result["draws"] / 2) / 60)
    low, high = result["interval"]
    assert 0 <= low < result["score"] < high <= 1
    first, second = result["by_side"]["first"], result["by_side"]["second"]
    for kind in ("wins", "draws", "losses"):
        assert first[kind] + second[kind] == result[kind]
    assert sum(first.values()) == sum(second.values()) == 30
    assert first["wins"] > first["losses"]
    again = run_main(capsys, "battle", GAME, "lookahead:1", "random", "--games", "60", "--seed", "4", "--json")
    other = run_main(capsys, "battle", GAME, "lookahead:1", "random", "--games", "60", "--seed", "5", "--json")
    assert again == out != other


def test_battle_for_people(capsys):
    words = ["battle", GAME, "lookahead:1", "random", "--games", "60", "--seed", "4"]
    result = json.loads(run_main(capsys, *words, "--json"))
    lines = run_main(capsys, *words).splitlines()
    assert lines[0].split() == ["lookahead:1", "wins", "draws", "losses", "score"]
    for name, line in zip(("first", "second"), lines[1:3], strict=True):
        assert line.split()[:2] == ["moving", name]
        assert [int(word) for word in line.split()[2:5]] == list(result["by_side"][name].values())
    assert lines[3].split()[-1] == f"{result['score']:.3f}"
    text = " ".join(" ".join(lines).split())
    low, high = result["interval"]
    assert f"lookahead:1 scores {result['score']:.3f} against random, 95% interval {low:.3f} to {high:.3f}" in text
    assert f"60 games of tic_tac_toe from {result['openings']} different openings of 2 random plies" in text


def test_trained_agents_fight_as_runs_and_as_files(begun_run, tmp_path, capsys):
    load_trained(str(begun_run), make_game(GAME)).save(tmp_path / "agent.safetensors")
    run, file = f"probs:{begun_run}", f"probs:{tmp_path / 'agent.safetensors'}"
    results = [
        json.loads(run_main(capsys, "battle", GAME, agent, "random", "--games", "20", "--json"))
        for agent in (run, file)
    ]
    assert results[0].pop("agents") == [run, "random"] and results[1].pop("agents") == [file, "random"]
    assert results[0] == results[1]
    searching = json.loads(run_main(capsys, "battle", GAME, f"{run},expand=40", run, "--games", "20", "--json"))
    assert searching["score"] > 0.5


def test_perft_as_json_and_for_people(capsys):
    assert json.loads(run_main(capsys, "perft", GAME, "4", "--json")) == {
        "game": GAME, "depth": 4, "nodes": [9, 72, 504, 3024],
    }  # fmt: skip
    assert run_main(capsys, "perft", GAME, "4").split() == ["1", "9", "2", "72", "3", "504", "4", "3,024"]
    after = json.loads(run_main(capsys, "perft", GAME, "3", "--moves", "a1, b2", "--json"))
    assert after["nodes"] == [7, 42, 210]
