"""Every key that --json prints is in the table of keys, and every key of the table is printed."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from beamzero.cli import main
from beamzero.cli.commands import COMMAND_TABLE
from beamzero.cli.json_keys import JSON_KEYS
from beamzero.cli.loading import load_command
from tests.cli.json_keys import Keys, check_keys, complaints, key_tree

TESTS = Path(__file__).resolve().parents[1]
GAME = "tic_tac_toe"
SPRT = ["--sprt", "0", "20", "--total", "8"]
CASES = {
    "games": ["games"],
    "agents": ["agents"],
    "recipes": ["recipes"],
    "recipes NAME": ["recipes", "tic_tac_toe_best"],
    "runs": ["runs", "RUNS"],
    "export": ["export", "RUNS/rated", "x.safetensors"],
    "battle": ["battle", GAME, "random", "lookahead:1", "--games", "4"],
    "perft": ["perft", GAME, "2"],
    "rate": ["rate", GAME, "random", "lookahead:1", "--games", "4", "--no-store"],
    "rate --sprt": ["rate", GAME, "random", "lookahead:1", "--games", "4", "--no-store", *SPRT],
    "score": ["score", GAME, "random", "--positions", "5"],
    "ladder": ["ladder", GAME, "random", "--depth", "1"],
    "exhaust": ["exhaust", GAME, "lookahead:1"],
    "exploit": ["exploit", "kuhn_poker", "cfr:iterations=5"],
    "book": ["book", GAME, "--agent", "lookahead:1", "--plies", "2", "--out", "t.book"],
    "book --read": ["book", GAME, "--read", "t.book", "--moves", "b2"],
    "play": ["play", GAME, "--agent", "human"],
    "analyse": ["analyse", GAME, "alphabeta:depth=2", "--moves", "a1"],
    "draw": ["draw", GAME],
    "replay": ["replay", "games.jsonl"],
    "replay --number": ["replay", "games.jsonl", "--number", "1", "--agent", "lookahead:1"],
    "check": ["check", GAME, "--games", "8"],
    "table": ["table", "kalah:houses=2", "--seeds", "2", "--out", "k.table"],
    "doctor": ["doctor"],
}
ELSEWHERE = {
    "train": "cli/test_train.py",
    "compare": "cli/test_compare.py",
    "reproduce": "experiments/test_reproduce.py",
    "verify-agents": "arena/test_claims.py",
    "fit-eval": "cli/test_fit_eval.py",
    "serve": "cli/test_serve.py",
    "bench": "bench/test_bench.py",
}
"""Commands that take long, and are held against the table where they are tested."""
DEAR = {"analyse", "check", "ladder"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, begun_run, rated_run):
    folder = tmp_path_factory.mktemp("keys")
    (folder / "runs").mkdir()
    for run in (begun_run, rated_run):
        (folder / "runs" / ("rated" if run == rated_run else "begun")).symlink_to(run, target_is_directory=True)
    (folder / "games.jsonl").write_text('{"game": "tic_tac_toe", "moves": ["a1", "b1", "a2", "b2", "a3"]}\n' * 2)
    assert main(["book", GAME, "--agent", "lookahead:1", "--plies", "2", "--out", str(folder / "t.book")]) == 0
    return folder


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in DEAR else []) for n in CASES])
def test_a_command_prints_the_keys_of_the_table(name, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", io.StringIO("a1\nquit\n"))
    capsys.readouterr()
    status = main([word.replace("RUNS", "runs") for word in CASES[name]] + ["--json"])
    assert status in (0, 1)
    check_keys(name, json.loads(capsys.readouterr().out))


def test_every_command_with_json_is_in_the_table_and_is_tested():
    with_json = {
        name
        for name, entry in COMMAND_TABLE.items()
        if not entry.hidden and any("--json" in option.opts for option in load_command(name).params)
    }
    assert {name.split()[0] for name in JSON_KEYS} == with_json
    assert CASES.keys() | ELSEWHERE.keys() == JSON_KEYS.keys()
    for name, path in ELSEWHERE.items():
        assert f'check_keys("{name}", ' in (TESTS / path).read_text(encoding="utf-8")


def test_other_keys_are_seen():
    tree = key_tree("runs")
    run = dict.fromkeys(tree["runs"]["[]"])
    assert complaints({"runs": [run]}, tree) == []
    assert complaints({"runs": [{**run, "more": 1}]}, tree) == [".runs[].more is not in the table"]
    del run["game"]
    assert complaints({"runs": [run]}, tree) == [".runs[].game is missing"]
    assert complaints({"a": {"b": 1}}, Keys(a=Keys())) == [".a: the table does not say which keys it has"]


def test_a_key_with_a_question_mark_may_be_missing():
    tree = key_tree("replay --number")
    assert tree["review"].optional and not tree["review"]["[]"]["side"].optional and not tree["moves"].optional
    assert key_tree("score")["classes"].optional
