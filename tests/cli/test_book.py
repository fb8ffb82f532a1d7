"""`beamzero book`: making a book, reading in it, playing from it; wrong input changes nothing."""

from __future__ import annotations

import json

import pytest

from beamzero.cli import main
from beamzero.cli.commands import book as command
from beamzero.storage.bookfile import load_book
from tests.training.toy import tree_hash

MAKE = ["book", "tic_tac_toe", "--agent", "lookahead:1"]


def run_main(capsys, *words: str) -> str:
    assert main(list(words)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_book_is_made_read_and_played_from(here, capsys):
    made = json.loads(run_main(capsys, *MAKE, "--out", "t.book", "--plies", "4", "--any-plies", "2", "--json"))
    book = load_book("t.book")
    assert (made["game"], made["book"], made["positions"]) == ("tic_tac_toe", "t.book", len(book))
    assert made["bytes"] == (here / "t.book").stat().st_size and made["seconds"] > 0
    assert made["about"] == {
        "from": "search", "agent": "lookahead:1", "seed": 0, "plies": 4, "any_plies": 2, "replies": 0, "whole_plies": 4,
    }  # fmt: skip

    read = ["book", "tic_tac_toe", "--read", "t.book", "--moves", "a1, b2"]
    found = json.loads(run_main(capsys, *read, "--json"))
    assert (
        found["moves"] == ["a1", "b2"] and found["move"] not in (None, "a1", "b2") and found["about"] == made["about"]
    )
    out = run_main(capsys, *read)
    assert out.startswith(f"t.book: {len(book)} positions of 4 plies by lookahead:1\n")
    assert f"after a1, b2 the book plays {found['move']} (value " in out
    assert "at the start the book plays" in run_main(capsys, *read[:-2])
    assert "after a1, b2, a2, a3, c3 the book has no move" in run_main(capsys, *read[:-1], "a1,b2,a2,a3,c3")
    over = json.loads(run_main(capsys, *read[:-1], "a1,b1,a2,b2,a3", "--json"))
    assert over["move"] is None

    thought = json.loads(run_main(capsys, "analyse", "tic_tac_toe", "random:book=t.book", "--moves", "a1,b2", "--json"))
    assert thought["best"] == found["move"]
    fought = json.loads(
        run_main(capsys, "battle", "tic_tac_toe", "random:book=t.book", "random", "--games", "8", "--json")
    )
    assert fought["agents"] == ["random:book=t.book", "random"]


def test_for_people_it_says_what_was_made_and_how_to_use_it(here, capsys):
    out = run_main(capsys, *MAKE, "--out", "my book", "--plies", "2")
    assert out.startswith("my book: 4 positions of 2 plies by lookahead:1, ")
    assert 'use it with any agent: alphabeta:depth=6,book="my book"' in out
    out = run_main(capsys, *MAKE, "--out", "s.book", "--plies", "2", "--self-play", "200", "--least", "5")
    assert "positions of 2 plies from 256 games of lookahead:1, " in out
    assert load_book("s.book").about["least"] == 5


def test_what_is_finished_when_the_time_is_over_is_written(here, capsys):
    out = run_main(capsys, *MAKE, "--out", "t.book", "--plies", "9", "--minutes", "0.0000001")
    assert "the time was over before all plies were done" in out
    assert 1 <= len(load_book("t.book")) < 20


def test_a_book_is_replaced_by_a_new_one_and_kept_when_the_new_one_is_given_up(here, capsys, monkeypatch):
    run_main(capsys, *MAKE, "--out", "t.book", "--plies", "1")
    run_main(capsys, *MAKE, "--out", "t.book", "--plies", "2")
    assert len(load_book("t.book")) == 4
    before = tree_hash(here)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "search_book", interrupted)
    assert main([*MAKE, "--out", "t.book"]) == 130
    assert main([*MAKE, "--out", "new.book"]) == 130
    out, err = capsys.readouterr()
    assert (out, err) == ("", 2 * "beamzero: interrupted\n")
    assert tree_hash(here) == before


def test_help_names_the_agent_that_searches_where_none_is_named(capsys):
    assert main(["book", "--help"]) == 0
    assert command.AGENT in "".join(capsys.readouterr().out.split())


WRONG = [
    (["book", "tic_tac_toe", "--read", "n.book", "--replies", "2"], "--read only reads: options for making a book"),
    (["book", "tic_tac_toe"], "name the file of the book with --out FILE"),
    (["book", "tic_tac_to", "--out", "n.book"], "unknown game 'tic_tac_to'"),
    ([*MAKE, "--out", "none/n.book"], "there is no folder none to write n.book into"),
    ([*MAKE, "--out", "."], "is a folder, but an opening book is one file"),
    ([*MAKE, "--out", "n.book", "--plies", "0"], "plies is 0, but must be 1 to 9"),
    ([*MAKE, "--out", "n.book", "--plies", "3", "--any-plies", "4"], "any plies is 4, but must be 0 to the plies"),
    ([*MAKE, "--out", "n.book", "--replies", "-1"], "replies is -1, but must be 0 for all, or more"),
    ([*MAKE, "--out", "n.book", "--minutes", "0"], "minutes is 0, but must be more than 0"),
    ([*MAKE, "--out", "n.book", "--self-play", "0"], "self-play is 0 games, but must be 1 or more"),
    ([*MAKE, "--out", "n.book", "--self-play", "9", "--least", "0"], "least is 0, but must be 1 or more"),
    ([*MAKE, "--out", "n.book", "--self-play", "9", "--replies", "2"], "go with a deep search, not with --self-play"),
    ([*MAKE, "--out", "n.book", "--least", "9"], "--least goes with --self-play"),
    ([*MAKE, "--out", "n.book", "--moves", "a1"], "--moves goes with --read"),
    ([*MAKE, "--out", "n.book", "--read", "t.book"], "give --out to make a book or --read to read one, not both"),
    (["book", "tic_tac_toe", "--out", "n.book", "--agent", "nobody"], "unknown agent 'nobody'"),
    (["book", "tic_tac_toe", "--read", "none.book"], "there is no opening book none.book"),
    (["book", "tic_tac_toe", "--read", "text"], "text is not a beamzero opening book"),
    (["book", "connect_four", "--read", "t.book"], "t.book is an opening book of tic_tac_toe, not of connect_four"),
    (["book", "tic_tac_toe", "--read", "t.book", "--moves", "z9"], "move 1: 'z9' is not a legal move here"),
    (["battle", "tic_tac_toe", "random:book=none.book", "random"], "there is no opening book none.book"),
    (["battle", "tic_tac_toe", "random", "lookahead:1,book=text"], "text is not a beamzero opening book"),
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    assert main([*MAKE, "--out", str(folder / "t.book"), "--plies", "1"]) == 0
    (folder / "text").write_text("hello")
    return folder


@pytest.mark.parametrize(("words", "wrong"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_wrong_input_gets_one_line_and_status_2_and_writes_nothing(made, capsys, monkeypatch, words, wrong):
    monkeypatch.chdir(made)
    before = tree_hash(made)
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("beamzero: ") and err.count("\n") == 1 and wrong in err
    assert tree_hash(made) == before
