"""An analysis names every legal move, best first, and its line can be played."""

from __future__ import annotations

import json
import math

import jax
import pytest

from beamzero.cli import main
from beamzero.cli.moves import play_moves
from beamzero.games import make_game
from beamzero.players import SearchPlayer, make_player
from beamzero.players.analysis import LINE_PLIES, analyse
from beamzero.search.beam import BeamSearch
from beamzero.search.evaluator import zero_evaluator

SMALL = make_game("connect_four:rows=4,columns=4,length=3")


def beam(game, expand=12):
    return SearchPlayer("beam", game, BeamSearch(expand), zero_evaluator(game))


def make(name, game):
    return beam(game) if name == "beam" else make_player(name, game)


@pytest.mark.parametrize("name", ["random", "lookahead:2", "beam"])
@pytest.mark.parametrize("moves", ["", "a,b,a", "c,a,a,c,d,d,c,b,b,c,b,a"])
def test_every_legal_move_is_listed_best_first_and_the_line_is_legal(name, moves):
    player = make(name, SMALL)
    state = play_moves(SMALL, moves)
    analysis = analyse(SMALL, player, state, jax.random.key(1))
    assert sorted(move.action for move in analysis.moves) == SMALL.legal_actions(state)
    assert all(SMALL.parse_action(state, move.move) == move.action for move in analysis.moves)
    values = [move.value for move in analysis.moves]
    assert values == sorted(values, reverse=True) and all(map(math.isfinite, values))
    assert sum(move.policy for move in analysis.moves) == pytest.approx(1)
    assert analysis.value == values[0]
    assert analysis.best == analysis.moves[0].move == analysis.line[0]
    play_moves(SMALL, ",".join(filter(None, [moves, *analysis.line])))  # BadInput where one is not legal
    if name != "beam":
        end = play_moves(SMALL, ",".join(filter(None, [moves, *analysis.line])))
        assert bool(SMALL.over(end)) or len(analysis.line) == LINE_PLIES


@pytest.mark.parametrize("name", ["lookahead:1", "beam"])
def test_a_win_at_once_is_best_proven_and_the_whole_line(name):
    state = play_moves(SMALL, "a,b,a,b")
    analysis = analyse(SMALL, make(name, SMALL), state, jax.random.key(0))
    assert (analysis.best, analysis.line, analysis.value) == ("a", ["a"], 1.0)
    assert analysis.moves[0].proven


def test_a_beam_search_is_made_once(monkeypatch):
    def think_batch(self, states, key):
        raise AssertionError("a second search")

    monkeypatch.setattr(SearchPlayer, "think_batch", think_batch)
    analysis = analyse(SMALL, beam(SMALL, 40), play_moves(SMALL, "a"), jax.random.key(0))
    assert len(analysis.line) > 1 and analysis.nodes > 40


def test_it_thinks_the_same_as_the_player():
    state, key = play_moves(SMALL, "a,b,c"), jax.random.key(0)
    player = beam(SMALL)
    result = jax.device_get(player.think(jax.tree.map(lambda x: x[None], state), key))
    analysis = analyse(SMALL, player, state, key)
    assert {move.action: move.value for move in analysis.moves} == {
        action: result.values[0, action] for action in SMALL.legal_actions(state)
    }


# --- the command -----------------------------------------------------------------------------------------------------


def run_main(capsys, *arguments: str) -> tuple[int, str, str]:
    status = main(["analyse", *arguments])
    return status, *capsys.readouterr()


def test_json_has_the_keys_that_scripts_rely_on(capsys):
    status, out, err = run_main(capsys, "tic_tac_toe", "lookahead:2", "--moves", "a1,a3,b1", "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert result.keys() == {"game", "agent", "position", "value", "best", "line", "nodes", "moves", "depths"}
    assert (result["game"], result["agent"], result["best"]) == ("tic_tac_toe", "lookahead:2", "c1")
    assert result["line"][0] == "c1"
    assert all(row.keys() == {"move", "value", "policy", "proven", "plies"} for row in result["moves"])
    assert result["moves"][0] == {"move": "c1", "value": 0.0, "policy": 1.0, "proven": False, "plies": None}
    assert all(row["value"] == -1 and row["proven"] for row in result["moves"][1:])


def test_a_deepening_search_tells_what_each_depth_found(capsys):
    status, out, _ = run_main(capsys, "tic_tac_toe", "alphabeta:9", "--moves", "a1", "--json")
    result = json.loads(out)
    assert status == 0
    assert [step["depth"] for step in result["depths"]] == list(range(1, 9))
    assert [step["proven"] for step in result["depths"]] == [False] * 7 + [True]
    assert sum(step["nodes"] for step in result["depths"]) == result["nodes"]
    assert result["line"] == result["depths"][-1]["line"]
    assert (result["best"], result["value"]) == ("b2", 0.0)
    assert {row["move"] for row in result["moves"]} == {"b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"}
    assert {(row["value"], row["plies"]) for row in result["moves"] if row["move"] != "b2"} == {(-1.0, 6)}
    assert all(row["proven"] for row in result["moves"])


def test_people_see_the_depths_of_a_search_and_what_is_proven(capsys):
    status, out, _ = run_main(capsys, "tic_tac_toe", "alphabeta:9", "--moves", "a1,a2,b1")
    assert status == 0
    assert " depth  value  positions  a second  branching  best line" in out
    assert "◂ best  proven loss in 4\n" in out or "◂ best  proven draw\n" in out
    assert "proven loss in 2\n" in out


def test_people_see_the_board_the_values_and_the_line(capsys):
    status, out, err = run_main(capsys, "tic_tac_toe", "lookahead:2", "--moves", "a1,a3,b1")
    assert (status, err) == (0, "")
    assert out.startswith(" 3  O  ·  ·\n 2  ·  ·  ·\n 1  X  X  ·\n    a  b  c\n\n O to move, value +0.00")
    assert " c1    +0.00              │              100.0%  ◂ best\n" in out
    assert "0.0%  proven loss\n" in out
    assert "\n best line  c1 " in out


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["tic_tac_toe", "random", "--moves", "a1,a2,b1,b2,c1"], "beamzero: the game is over: X has three in a row\n"),
        (["tic_tac_toe", "random", "--moves", "a1,a1"], "beamzero: move 2: 'a1' is not a legal move here"),
        (["tic_tac_toe", "human"], "beamzero: unknown agent 'human'"),
        (["chess9", "random"], "beamzero: unknown game 'chess9'"),
    ],
)
def test_wrong_input_gets_one_line_and_status_2(capsys, arguments, wrong):
    status, out, err = run_main(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(wrong) and err.count("\n") == 1


def test_without_an_agent_the_one_that_ships_is_asked_and_named(capsys):
    status, out, _ = run_main(capsys, "tic_tac_toe", "--moves", "a1")
    assert status == 0 and out.startswith("alphazero:tic_tac_toe,level=full (it ships with beamzero)\n")
    status, out, _ = run_main(capsys, "tic_tac_toe", "--moves", "a1", "--json")
    assert (status, json.loads(out)["agent"]) == (0, "alphazero:tic_tac_toe,level=full")
