"""`bench` prints figures as ratios within one run."""

from __future__ import annotations

import json

import jax
import pytest

from beamzero.cli import bench, main
from beamzero.cli.bench_games import random_play
from beamzero.cli.timing import Row, seconds_of
from beamzero.games import make_game


@pytest.fixture
def quick(monkeypatch):
    """Figures that need no measuring."""

    def rows(peers: bool):
        yield Row("one", "steps/s", 3000.0, *((1500.0, "pgx") if peers else ()))
        yield Row("two", "evaluations/s", 10.0, 20.0, "bare net")

    monkeypatch.setattr(bench, "BENCHMARKS", {"quick": rows})


def test_json_has_the_keys_that_scripts_rely_on(capsys, quick):
    assert main(["bench", "quick", "--json"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert result["rows"] == [
        {"name": "one", "unit": "steps/s", "ours": 3000.0, "peer": None, "peer_name": None, "ratio": None},
        {"name": "two", "unit": "evaluations/s", "ours": 10.0, "peer": 20.0, "peer_name": "bare net", "ratio": 0.5},
    ]
    assert "cpu" in result["device"] and err == "one: 3,000 steps/s\ntwo: 10 evaluations/s\n"


def test_people_see_a_table_and_peers_where_they_ask_for_them(capsys, quick):
    assert main(["bench", "--peers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[-2:]] == [
        ["one", "steps/s", "3,000", "pgx", "1,500", "2.00"],
        ["two", "evaluations/s", "10", "bare", "net", "20", "0.50"],
    ]


def test_peers_that_are_not_installed_are_said_so(capsys, quick, monkeypatch):
    monkeypatch.setattr(bench.importlib.util, "find_spec", lambda name: None)
    assert main(["bench", "--peers"]) == 2
    assert "--peers needs pgx, which is not installed" in capsys.readouterr().err


def test_the_games_play_on_after_their_ends():
    game = make_game("tic_tac_toe")
    states = random_play(game, 64)()
    assert not jax.vmap(game.over)(states).any()


def test_each_function_is_called_and_timed():
    calls = []
    times = seconds_of(lambda: calls.append("a"), lambda: calls.append("b"), seconds=0.0)
    assert len(times) == 2 and all(0 <= taken < float("inf") for taken in times)
    assert calls == ["a", "b", "a", "b"], "once to warm up, then in turns"
