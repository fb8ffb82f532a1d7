"""Positions as text: `--position` on every command that begins somewhere, with `--moves` from there."""

from __future__ import annotations

import io
import json
import sys

import pytest

from beamzero.cli import main
from beamzero.cli.moves import play_moves, split_moves
from beamzero.games import make_game

HEAP = '''
import dataclasses
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import Game


class HeapState(NamedTuple):
    heap: Array  # int32 []
    side: Array  # int32 []


@dataclasses.dataclass(frozen=True)
class Heap(Game):
    """Take one or two; who takes the last one wins."""

    name: ClassVar[str] = "heap"
    num_actions = 2
    max_moves = 2
    max_plies = 9
    observation_shape = (1,)

    def init(self, key):
        return HeapState(jnp.int32(9), jnp.int32(0))

    def player(self, state):
        return state.side

    def legal(self, state):
        return jnp.arange(1, 3) <= state.heap

    def step(self, state, action):
        return HeapState(state.heap - action - 1, 1 - state.side)

    def over(self, state):
        return state.heap == 0

    def score(self, state):
        return jnp.where(self.over(state), 2 * state.side - 1, 0).astype(jnp.float32)

    def observe(self, state):
        return state.heap[None].astype(jnp.float32)

    def show(self, state, seat=0):
        return f"a heap of {int(state.heap)}"

    def action_name(self, state, action):
        return ("one", "two")[action]

    def write_position(self, state):
        return f"{int(state.heap)} {'ab'[int(state.side)]}"

    def read_position(self, text):
        heap, _, side = text.partition(" ")
        if not heap.isdigit() or int(heap) > 9 or side not in ("a", "b"):
            raise BadInput(f"heap: {text!r} is no position: write a number up to 9, a space, and a or b to move")
        return HeapState(jnp.int32(int(heap)), jnp.int32("ab".index(side)))
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("heap")
    (folder / "heap.py").write_text(HEAP)
    return folder


@pytest.fixture
def heap(folder, monkeypatch) -> str:
    """A game with a notation for positions, in a file of its own."""
    monkeypatch.chdir(folder)
    return "heap.py:Heap"


def run(capsys, *words: str) -> str:
    assert main(list(words)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_moves_are_played_from_the_position(heap):
    game = make_game(heap)
    assert game.write_position(play_moves(game, "")) == "9 a"
    assert game.write_position(play_moves(game, "one", "5 b")) == "4 a"
    assert game.write_position(play_moves(game, " one, TWO ,", "5 b")) == "2 b"
    assert split_moves(" a1 , b2,,") == split_moves("a1 b2") == ["a1", "b2"]


def test_perft_counts_from_the_position(heap, capsys):
    assert json.loads(run(capsys, "perft", heap, "3", "--position", "3 b", "--json"))["nodes"] == [2, 3, 1]
    after = run(capsys, "perft", heap, "2", "--position", "4 b", "--moves", "one", "--json")
    assert json.loads(after)["nodes"] == [2, 3]
    assert json.loads(run(capsys, "perft", heap, "1", "--position", "0 a", "--json"))["nodes"] == [0]


def test_analyse_thinks_about_the_position_and_writes_it_down(heap, capsys):
    words = ["analyse", heap, "lookahead:3", "--position", "4 b", "--moves", "two"]
    assert run(capsys, *words).startswith("a heap of 2\n\n first to move, value +1.00 for that side, wins 100%\n")
    result = json.loads(run(capsys, *words, "--json"))
    assert (result["position"], result["best"], result["value"]) == ("2 a", "two", 1.0)
    without = json.loads(run(capsys, "analyse", "tic_tac_toe", "random", "--json"))
    assert without["position"] is None, "which has no notation"


def test_play_begins_at_the_position(heap, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("two\n"))
    words = ["play", heap, "--agent", "human", "--position", "4 b", "--moves", "two", "--json"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (report["position"], report["moves"], report["result"]) == ("4 b", ["two", "two"], "win")
    assert "a heap of 2\n\nfirst to move\n" in err and "the game is over: first player wins" in err


COMMANDS = [["play", "GAME", "--agent", "human"], ["analyse", "GAME", "random"], ["perft", "GAME", "2"]]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("game", "words", "wrong"),
    [
        ("tic_tac_toe", ["--position", "x"], "tic_tac_toe has no notation for positions: give the moves instead"),
        ("heap.py:Heap", ["--position", "12 a"], "heap: '12 a' is no position: write a number up to 9"),
        ("heap.py:Heap", ["--position", ""], "heap: '' is no position"),
        ("heap.py:Heap", ["--position", "4 a", "--moves", "two,one,two"], "move 3: 'two' is not a legal move here"),
    ],
)
def test_a_wrong_position_gets_one_line_and_status_2(heap, capsys, command, game, words, wrong):
    assert main([game if word == "GAME" else word for word in command] + words) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"beamzero: {wrong}") and err.count("\n") == 1


@pytest.mark.parametrize("command", ["play", "analyse", "perft"])
def test_the_help_says_what_a_position_is(capsys, command):
    assert main([command, "--help"]) == 0
    out = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "--position" in out and "FEN in chess" in out


# --- chess -----------------------------------------------------------------------------------------------------------

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


@pytest.mark.slow
def test_a_fen_is_a_position_in_chess(capsys):
    assert json.loads(run(capsys, "perft", "chess", "2", "--position", KIWIPETE, "--json"))["nodes"] == [48, 2039]


@pytest.mark.slow
def test_chess_moves_are_read_as_players_write_them(capsys):
    words = ["perft", "chess", "1", "--moves", "e4,e7e5,Nf3,b8c6", "--json"]
    assert json.loads(run(capsys, *words))["nodes"] == [27]


def test_a_fen_that_cannot_be_is_one_line(capsys):
    assert main(["perft", "chess", "1", "--position", "8/8/8/8/8/8/8/8 w - - 0 1"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
