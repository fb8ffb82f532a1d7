"""`bench` prints figures as ratios within one run."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import pytest

from beamzero.bench import games as bench_games
from beamzero.bench import mcts as bench_mcts
from beamzero.bench.games import RandomPlay, RandomRules, compile_seconds, fastest, make_batches, our_rules
from beamzero.bench.timing import Row, seconds_of, seconds_to_compile
from beamzero.cli import main
from beamzero.cli.commands import bench
from beamzero.games import GAMES, make_game
from beamzero.search.memory import state_bytes
from tests.cli.json_keys import check_keys


@pytest.fixture
def quick(monkeypatch):
    """Figures that need no measuring."""

    def rows(peers, games):
        for peer in peers or [None]:
            yield Row("one", "steps/s", 3000.0, *((1500.0, peer) if peer else ()), state_bytes=12, compile_seconds=0.25)
        yield Row("two", "evaluations/s", 10.0, 20.0, "bare net")

    monkeypatch.setattr(bench, "BENCHMARKS", {"quick": rows})


@pytest.fixture
def installed(monkeypatch):
    """Let only these peers be installed."""

    def only(*peers: str) -> None:
        monkeypatch.setattr(bench.importlib.util, "find_spec", lambda name: True if name in peers else None)

    return only


def test_json_has_the_keys_that_scripts_rely_on(capsys, quick):
    assert main(["bench", "quick", "--json"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    check_keys("bench", result)
    one = {"name": "one", "unit": "steps/s", "ours": 3000.0, "peer": None, "peer_name": None, "ratio": None}
    assert result["rows"] == [
        {**one, "state_bytes": 12, "compile_seconds": 0.25},
        {"name": "two", "unit": "evaluations/s", "ours": 10.0, "peer": 20.0, "peer_name": "bare net", "ratio": 0.5},
    ]
    assert "cpu" in result["device"]
    assert err == "one: 3,000 steps/s\ntwo: 10 evaluations/s, 0.50 times bare net\n"


def test_people_see_a_table_and_peers_where_they_ask_for_them(capsys, quick, installed):
    installed("pgx", "pyspiel")
    assert main(["bench", "--peers"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[2:5] == [
        ["one", "steps/s", "3,000", "pgx", "1,500", "2.00"],
        ["one", "steps/s", "3,000", "pyspiel", "1,500", "2.00"],
        ["two", "evaluations/s", "10", "bare", "net", "20", "0.50"],
    ]
    assert lines[-1] == ["one", "12", "0.2"], "what a state takes, and its step to compile, stands there once"


def test_peers_that_are_not_installed_are_said_so(capsys, quick, installed):
    installed("pyspiel")
    assert main(["bench", "--peers", "--json"]) == 0
    out, err = capsys.readouterr()
    assert [row["peer_name"] for row in json.loads(out)["rows"]] == ["pyspiel", "bare net"]
    assert err.splitlines()[0] == "not installed, so not measured: pgx"
    installed()
    assert main(["bench", "--peers"]) == 2
    assert "--peers needs pgx or pyspiel, which are not installed" in capsys.readouterr().err


def test_one_game_can_be_measured_alone(capsys, monkeypatch):
    asked = []
    monkeypatch.setitem(bench.BENCHMARKS, "games", lambda peers, games: asked.append(games) or iter(()))
    assert main(["bench", "--game", "tic_tac_toe", "--game", "connect_four:rows=5"]) == 0
    assert asked == [["tic_tac_toe", "connect_four:rows=5"]]
    for words in (["--game", "go"], ["beam", "--game", "tic_tac_toe"], ["games", "beam", "--game", "tic_tac_toe"]):
        assert main(["bench", *words]) == 2
    assert len(asked) == 1


def test_a_game_has_a_row_for_each_peer_that_knows_it(monkeypatch):
    monkeypatch.setattr(bench_games, "fastest", lambda rules: RandomPlay(lambda: None, 100))
    monkeypatch.setattr(
        bench_games, "_RIVALS", {peer: lambda name: RandomPlay(lambda: None, 50) for peer in bench_games.PEERS}
    )
    monkeypatch.setattr(bench_games, "seconds_of", lambda *plays: [1.0 for _ in plays])
    monkeypatch.setattr(bench_games, "compile_seconds", lambda game: 0.5)
    rows = list(bench_games.bench_games(["pgx", "pyspiel"], ["tic_tac_toe", "connect_four:rows=5"]))
    assert [(row.name, row.peer_name, row.ratio) for row in rows] == [
        ("random play, tic_tac_toe", "pgx", 2.0),
        ("random play, tic_tac_toe", "pyspiel", 2.0),
        ("random play, connect_four:rows=5", None, None),
    ]
    assert {row.name.removeprefix("random play, ") for row in bench_games.bench_games([], [])} == set(GAMES)


def test_peers_are_measured_on_their_own_rules():
    for peer, names in bench_games.PEERS.items():
        assert {make_game(name).name for name in names} <= GAMES.keys(), peer
    play = bench_games.pyspiel_play("tic_tac_toe", moves=30)
    assert play.moves == 30 and play.run() is None
    batch = bench_games.make_batches(bench_games.pgx_rules("tic_tac_toe"), 16, 1)[0]
    states = batch()
    assert not states.terminated.any() and states.legal_action_mask.shape == (16, 9)


@pytest.fixture
def small_searches(monkeypatch):
    """`bench mcts` at a size that is done at once; and what it ran, so that it can be counted."""
    ran = []
    monkeypatch.setattr(bench_mcts, "_NETS", {"tiny": "mlp:width=8,depth=1"})
    monkeypatch.setattr(bench_mcts, "_SIMS", 6)
    monkeypatch.setattr(bench_mcts, "_ROOTS", {"cpu": 4})
    monkeypatch.setattr(bench_mcts, "programs_at_once", lambda: 3)
    monkeypatch.setattr(bench_mcts, "on_every_core", lambda run: [run() for _ in range(3)])

    def seconds_of(*runs):
        ran.extend(run() for run in runs)
        return [0.5, 0.25, 4.0, 1.0][: len(runs)]

    monkeypatch.setattr(bench_mcts, "seconds_of", seconds_of)
    return ran


@pytest.mark.slow
def test_tree_search_is_held_against_its_bare_net_and_the_better_way_of_mctx(small_searches):
    rows = list(bench_mcts.bench_mcts(["pyspiel", "pgx"]))
    assert {(row.name, row.unit) for row in rows} == {("tree search, 6 simulations, tiny", "simulations/s")}
    simulations, states = 3 * 4 * 6, 3 * 4  # on three cores, four roots each
    assert [(row.ours, row.peer, row.peer_name) for row in rows] == [
        (simulations / 0.5, states / 0.25, "bare net"),
        (simulations / 0.5, max(simulations / 4.0, 4 * 6 / 1.0), "mctx and pgx"),
    ]
    ours, _, theirs, alone = small_searches
    for policy in (*ours, *theirs, alone):
        assert policy.shape == (4, 7)
        assert (abs(policy.sum(axis=1) - 1) < 1e-5).all() and (abs(policy * 6 - (policy * 6).round()) < 1e-4).all()


def test_the_games_play_on_after_their_ends():
    game = make_game("tic_tac_toe")
    play = make_batches(our_rules(game), 64, 1)[0]
    first = play()
    assert not jax.vmap(game.over)(first).any(), "sixteen moves are more than a game has"
    second = play()
    assert any((a != b).any() for a, b in zip(first, second, strict=True)), "a call goes on where the last one stopped"


def test_the_fastest_batch_is_found_within_its_limits(monkeypatch):
    tried = []
    monkeypatch.setattr(bench_games, "_BATCHES", {"cpu": (4, 8, 16), "gpu": ()})

    def seconds(run, seconds):
        tried.append(len(jax.tree.leaves(run())[0]))
        return [{4: 1.0, 8: 1.0, 16: 8.0}[tried[-1]]]

    monkeypatch.setattr(bench_games, "seconds_of", seconds)
    monkeypatch.setattr(bench_games, "programs_at_once", lambda: 1)
    rules = RandomRules(lambda key: jnp.int32(0), lambda state, draw: (state + 1, state > 5))
    assert fastest(rules).moves == 8 * 16 and tried == [4, 8, 16]
    tried.clear()
    monkeypatch.setattr(bench_games, "_MOST_SECONDS", 1.5)
    assert fastest(rules).moves == 4 * 16 and tried == [4], "the next one would take two seconds"
    tried.clear()
    monkeypatch.setattr(bench_games, "_MOST_SECONDS", 100.0)
    monkeypatch.setattr(bench_games, "_MOST_BYTES", {"cpu": 40})
    assert fastest(rules).moves == 8 * 16 and tried == [4, 8], "sixteen states take 64 bytes"


def test_a_state_is_as_large_as_its_arrays():
    assert state_bytes(make_game("tic_tac_toe")) == 2 * 2 + 1


def test_compiling_is_timed_as_if_for_the_first_time():
    """The compiler's cache on disk is neither asked nor filled, and is there again afterwards."""
    heard = []
    jax.monitoring.register_event_listener(lambda event, **_: heard.append(event.rpartition("/")[2]))

    def traced(x):
        heard.append("traced")
        return x * 3 + 1

    shape = jax.ShapeDtypeStruct((3,), jnp.int32)
    for _ in range(2):
        assert seconds_to_compile(traced, shape) > 0
    assert heard.count("traced") == 2 and "compile_requests_use_cache" not in heard
    jax.jit(lambda x: x * 3 + 2).lower(shape).compile()
    assert "compile_requests_use_cache" in heard
    assert compile_seconds(make_game("tic_tac_toe"), batch=4) > 0


def test_each_function_is_called_and_timed():
    calls = []
    times = seconds_of(lambda: calls.append("a"), lambda: calls.append("b"), seconds=0.0)
    assert len(times) == 2 and all(0 <= taken < float("inf") for taken in times)
    assert calls == ["a", "b", "a", "b"], "once to warm up, then in turns"
