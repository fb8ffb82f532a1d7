"""`beamzero engine`: conversations over the standard streams, and what is refused."""

from __future__ import annotations

import io
import sys

import pytest

from beamzero.cli import main
from tests.engines.stub import Patient


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["uci", "connect_four", "random"], "connect_four is not played by uci (it is by: gtp)"),
        (["gtp", "chess", "random"], "chess is not played by gtp (it is by: uci)"),
        (["nboard", "othello:size=6", "random"], "othello:size=6 is not played by nboard (it is by: gtp)"),
        (["xboard", "chess", "random"], "unknown protocol 'xboard'"),
        (["uci", "ches", "random"], "unknown game 'ches'; did you mean chess?"),
        (["uci", "chess", "stockfish"], "unknown agent 'stockfish'"),
        (["gtp", "tic_tac_toe", "lookahead"], "lookahead needs a depth"),
        (["gtp", "tic_tac_toe"], "Missing argument 'AGENT'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words, message, capsys):
    assert main(["engine", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("beamzero: ") and message in err and err.count("\n") == 1


def converse(monkeypatch, capsys, words: list[str], lines: str) -> str:
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    assert main(["engine", *words, "--seed", "1"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.parametrize("end", ["", "quit\n"])
def test_a_conversation_ends_with_the_input_and_everything_is_answered(monkeypatch, capsys, end):
    out = converse(monkeypatch, capsys, ["gtp", "tic_tac_toe", "random"], "name\n1 genmove b\n" + end)
    name, move, *rest = out.split("\n\n")
    assert name == "= beamzero random" and move.startswith("=1 ") and rest[:-1] == (["="] if end else [])


def test_the_same_seed_gives_the_same_moves(monkeypatch, capsys):
    lines = "genmove b\ngenmove w\ngenmove b\n"
    first, second = (converse(monkeypatch, capsys, ["gtp", "tic_tac_toe", "random"], lines) for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_readiness_is_answered_even_where_the_input_has_ended(monkeypatch, capsys):
    monkeypatch.setattr("beamzero.engines.make_player", lambda agent, game: Patient(game))
    out = converse(
        monkeypatch, capsys, ["uci", "chess6x6", "random"], "uci\r\nisready\nposition startpos\ngo infinite\n"
    )
    assert "readyok" in out.splitlines() and out.splitlines()[-1].startswith("bestmove ")
