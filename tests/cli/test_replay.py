"""Games are saved by those who play them, and `beamzero replay` shows them again."""

from __future__ import annotations

import io
import json
import sys

import pytest

from beamzero.cli import main
from beamzero.records.files import read_records
from tests.cli.json_keys import check_keys


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def said(capsys, *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


@pytest.fixture
def saved(tmp_path, capsys):
    """Four games of a battle."""
    words = ("battle", "tic_tac_toe", "lookahead:1", "random", "--games", "4", "--save", "games.txt")
    assert said(capsys, *words).splitlines()[-1] == "added to games.txt"
    return tmp_path / "games.txt"


def test_a_battle_is_listed_and_each_of_its_games_shown(saved, capsys):
    records = read_records(saved)
    lines = said(capsys, "replay", "games.txt").splitlines()
    assert lines[0].split() == ["number", "game", "first", "second", "result", "moves"]
    assert [line.split()[0] for line in lines[1:5]] == ["1", "2", "3", "4"] and len(records) == 4
    shown = said(capsys, "replay", "games.txt", "--number", "2").splitlines()
    assert shown[0].startswith("tic_tac_toe: random v lookahead:1")
    moves = [line.split()[2] for line in shown if line[:4].strip().isdecimal() and len(line.split()) in (3, 5)]
    assert moves[-len(records[1].moves) :] == list(records[1].moves)
    as_json = json.loads(said(capsys, "replay", "games.txt", "--json"))
    assert [game["moves"] for game in as_json["games"]] == [list(record.moves) for record in records]


def test_an_agent_judges_a_game_and_draws_who_was_ahead(saved, capsys, tmp_path):
    (tmp_path / "one.txt").write_text("b2 b1 a3 c1 c2 a1\n")
    words = ("replay", "one.txt", "--game", "tic_tac_toe", "--agent", "alphabeta:depth=9")
    shown = said(capsys, *words, "--plot", "game.png")
    assert "b1??" in shown and "c2??" in shown and "O has three in a row" in shown
    lines = [line.split() for line in shown.splitlines()]
    assert ["move", "before", "after", "second", "first", "better"] in lines
    assert next([*line[:5], line[-1]] for line in lines if "c2??" in line) == ["5", "X", "c2??", "+1.00", "-1.00", "a1"]
    assert (tmp_path / "game.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(said(capsys, *words, "--json"))
    assert found["values"] == [0, 0, 1, 1, 1, -1, -1] and found["review"][4]["mark"] == "??"
    assert found["review"][4].items() >= {"value": 1, "value_after": -1, "best": "a1"}.items()
    check_keys("replay --number", found)


def test_one_steps_forth_and_back(saved, capsys, monkeypatch):
    (saved.parent / "one.txt").write_text("# game tic_tac_toe\n# result 0-1\nb2 b1 a3 c1 c2 a1\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n\nb\n99\nwhat\nq\n"))
    shown = said(capsys, "replay", "one.txt", "--step")
    places = [line.split(">")[0].strip() for line in shown.splitlines() if " of 6 >" in line]
    assert places == ["0 of 6", "1 of 6", "2 of 6", "1 of 6", "6 of 6", "6 of 6"]
    assert "0-1  O has three in a row" in shown


def test_a_person_s_games_are_saved_when_they_end_or_are_left(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("a1\na2\nb1\nb2\nc1\nnew\na1\nquit\n"))
    assert main(["play", "tic_tac_toe", "--agent", "human", "--save", "mine.jsonl"]) == 0
    won, left = read_records(tmp_path / "mine.jsonl")
    assert won.moves == ("a1", "a2", "b1", "b2", "c1") and won.result == 1 and won.players == ("human", "human")
    assert left.moves == ("a1",) and left.result is None


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["replay", "none.pgn"], "none.pgn: there is no such file"),
        (["replay", "games.txt", "--number", "5"], "games.txt holds 4 games, but number is 5"),
        (["replay", "games.txt", "--step"], "games.txt holds 4 games: give --number as well"),
        (["replay", "games.txt", "--number", "1", "--plot", "a.png"], "--plot needs --agent as well"),
        (["replay", "bad.txt"], "bad.txt: game 1: move 2: 'b2' is not a legal move here"),
        (["battle", "tic_tac_toe", "random", "random", "--save", "a.pgn"], "PGN is for chess and chess6x6"),
        (["play", "tic_tac_toe", "--save", "a.doc"], "a file of games ends in .pgn, .txt, .jsonl"),
    ],
)
def test_what_is_wrong_gets_one_line(saved, capsys, tmp_path, words, wrong):
    (tmp_path / "bad.txt").write_text("# game tic_tac_toe\nb2 b2\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert main(words) == 2
    told = capsys.readouterr()
    assert wrong in told.err and told.err.count("\n") == 1 and told.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == before
