"""What would take more memory than there is gets one line, before anything is made or written."""

from __future__ import annotations

import shutil

import pytest

from beamzero.cli import main
from beamzero.search import memory
from tests.training.toy import tree_hash

TRAIN = ["train", "tic_tac_toe", "--run", "new"]
COMPARE = ["compare", "connect_four", "--recipes", "connect_four_compare_probs connect_four_compare_alphazero"]

# Each asks for some hundred megabytes, where there are sixty-four: were it not refused, no machine would suffer.
TOO_MUCH: list[tuple[list[str], str]] = [
    (["battle", "connect_four", "random", "random", "--games", "400000"], "use fewer games (now 400000)"),
    (["battle", "othello", "mcts:sims=2000", "random"], "games (now 1000) or a smaller search than mcts:sims=2000"),
    (["battle", "bridge", "clairvoyance:worlds=1000", "random"], "a smaller search than clairvoyance:worlds=1000"),
    (["rate", "kalah", "lookahead:1", "--games", "20000"], "use fewer games (now 20000)"),
    (["score", "othello", "mcts:sims=9000"], "mcts:sims=9000 would take about"),
    (["analyse", "othello", "mcts:sims=100000"], "MB, but 64 MB are free: use a smaller search"),
    (["play", "othello", "--agent", "mcts:seconds=1,sims=100000"], "64 MB are free: use a smaller search"),
    (["serve", "--agent", "othello=mcts:sims=100000"], "64 MB are free: use a smaller search"),
    (["exhaust", "tic_tac_toe", "alphazero:tic_tac_toe,sims=4000"], "64 MB are free: use a smaller search"),
    (["exploit", "leduc_poker", "clairvoyance:worlds=10000"], "64 MB are free: use a smaller search"),
    (["fit-eval", "connect_four", "--games", "100000"], "use fewer games (now 100000)"),
    (["fit-eval", "connect_four", "--trial-games", "400000"], "use fewer trial games (now 400000)"),
    (["fit-eval", "connect_four", "--battle-games", "400000"], "use fewer battle games (now 400000)"),
    (["book", "connect_four", "--out", "new.book", "--self-play", "1000000"], "use fewer games (now 1000000)"),
    (["table", "kalah", "--seeds", "16"], "this table would take about 356 MB, but 64 MB are free: use fewer seeds"),
    ([*TRAIN, "--set", "q_net=mlp:width=2048,depth=4"], "use a smaller q_net (now mlp:width=2048,depth=4)"),
    ([*TRAIN, "--set", "games=1000000"], "use fewer games (now 1000000)"),
    ([*TRAIN, "--set", "games=100000", "--set", "replay_capacity=1000000", "--set", "max_turns=9"], "replay_capacity"),
    ([*TRAIN, "--set", "expand=2000", "--set", "search_batch=1000"], "search_batch (now 1000) or expand (now 2000)"),
    ([*TRAIN, "--set", "q_batch_size=100000"], "use a smaller q_batch_size (now 100000)"),
    ([*TRAIN, "--set", "anchor_games=1000000"], "a rating of this run would take about"),
    ([*TRAIN, "--algo", "alphazero", "--set", "window=9000000"], "use a smaller window (now 9000000)"),
    ([*TRAIN, "--algo", "alphazero", "--set", "sims=100000"], "use fewer sims (now 100000)"),
    ([*TRAIN, "--algo", "alphazero", "--set", "gate_games=4000", "--set", "gate_sims=2000"], "gate_games (now 4000)"),
    ([*TRAIN, "--algo", "alphazero", "--set", "rate_sims=9000"], "a rating of this run would take about"),
    ([*TRAIN, "--algo", "td", "--set", "games=1000000"], "use fewer games (now 1000000)"),
    ([*TRAIN, "--algo", "td", "--set", "value_net=mlp:width=2048,depth=4"], "use a smaller value_net"),
    ([*COMPARE, "--rate-games", "400000"], "use fewer rate_games (now 400000)"),
    ([*COMPARE, "--play-evaluations", "20000"], "or a smaller search than play_evaluations 20000"),
    (["reproduce", "probs-fig2", "--set", "games=100000"], "use fewer games (now 100000)"),
]  # fmt: skip


@pytest.fixture
def little_memory(monkeypatch):
    for name in ("free_bytes", "host_free_bytes"):
        monkeypatch.setattr(memory, name, lambda: 64 * 2**20)


@pytest.mark.parametrize(("words", "wrong"), TOO_MUCH, ids=[" ".join(words) for words, _ in TOO_MUCH])
def test_what_does_not_fit_gets_one_line_and_status_2_and_writes_nothing(
    tmp_path, capsys, monkeypatch, little_memory, words, wrong
):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("beamzero: ") and err.count("\n") == 1
    assert " would take about " in err and "but 64 MB are free: use " in err and wrong in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("games", [10**9, 10**20 - 2, 10**400])
@pytest.mark.parametrize(
    "command", [["battle", "tic_tac_toe", "random", "random"], ["rate", "tic_tac_toe", "lookahead:1"]]
)
def test_numbers_of_games_without_end_are_refused_at_once(tmp_path, capsys, monkeypatch, command, games):
    monkeypatch.chdir(tmp_path)
    assert main([*command, "--games", str(games)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and f"games is {games}, but must be an even number, 2 or more, at most 100000000" in err
    assert not list(tmp_path.iterdir())


def test_a_run_does_not_go_on_where_there_is_too_little_memory(tmp_path, capsys, monkeypatch, begun_run):
    run = tmp_path / "run"
    shutil.copytree(begun_run, run)
    before = tree_hash(run)
    for name in ("free_bytes", "host_free_bytes"):
        monkeypatch.setattr(memory, name, lambda: 2**16)
    assert main(["train", "tic_tac_toe", "--run", str(run), "--resume"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and err.endswith("are free: go on with it where there is more\n")
    assert tree_hash(run) == before
