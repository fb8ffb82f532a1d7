"""GTP by the line, with an agent that costs nothing: whole games, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.engines.clock import PeriodClock
from beamzero.engines.gtp import GtpEngine
from beamzero.games import make_game
from tests.engines.stub import Broken, Patient, Talk

TIC_TAC_TOE = make_game("tic_tac_toe")
COMMANDS = [
    "protocol_version", "name", "version", "known_command", "list_commands", "quit", "boardsize",
    "clear_board", "komi", "play", "genmove", "undo", "showboard", "final_score", "time_settings", "time_left",
]  # fmt: skip


def talk_about(name: str) -> Talk:
    return Talk(GtpEngine, Patient(make_game(name), depth=1))


def ask(talk: Talk, line: str) -> str:
    (answer,) = talk.say(line)
    assert answer.endswith("\n") and "\n\n" not in answer
    return answer.rstrip("\n")


def test_who_is_there():
    talk = talk_about("tic_tac_toe")
    assert ask(talk, "7 protocol_version") == "=7 2"
    assert ask(talk, "name") == "= beamzero stub"
    assert ask(talk, "version")[:2] == "= "
    assert set(COMMANDS) <= set(ask(talk, "list_commands")[2:].split("\n"))
    assert (ask(talk, "known_command genmove"), ask(talk, "known_command fly")) == ("= true", "= false")
    assert talk.say("", "   ", "# nothing", "\t") == []
    assert talk.engine.handle("9 quit") is False
    talk.engine.wait()
    assert talk.lines[-1] == "=9\n"


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "othello:size=4", "kalah:seeds=1", "checkers"])
def test_a_whole_game(name):
    """Both sides are asked in turn, and another engine is told their moves; Kalah lets a side move again."""
    ours, theirs = talk_about(name), talk_about(name)
    game = make_game(name)
    for _ in range(30 if name == "checkers" else game.max_plies):
        if ours.engine.played.over:
            break
        colour = "bw"[ours.engine.played.side]
        legal = ask(ours, f"all_legal {colour}")[2:].split()
        move = ask(ours, f"genmove {colour}")
        assert move[2:] in legal and ask(theirs, f"play {colour} {move[2:]}") == "="
    assert ask(ours, "showboard") == ask(theirs, "showboard")
    if name != "checkers":
        assert ask(ours, "final_score")[2:][:2] in ("B+", "W+", "0")
        assert ask(ours, "genmove b").startswith("? illegal move: the game is over")


def test_othello_has_vertices_and_discs():
    talk = talk_about("othello:size=4")
    assert ask(talk, "play black B1") == "=" and ask(talk, "play WHITE a1") == "="
    assert ask(talk, "all_legal b")[2:].split() == ask(talk, "all_legal b")[2:].upper().split()
    while not talk.engine.played.over:
        ask(talk, f"genmove {'bw'[talk.engine.played.side]}")
    squares = talk.engine.game.write_position(talk.engine.played.state).split()[0]
    lead = squares.count("X") - squares.count("O")
    assert ask(talk, "final_score") == f"= {'B' if lead > 0 else 'W'}+{abs(lead)}"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("fly", "? unknown command"),
        ("3 fly", "?3 unknown command"),
        ("play b", "? a colour and a move are needed"),
        ("play b b9", "? illegal move: 'b9' is not a legal move here"),
        ("play w b2", "? illegal move: it is the turn of black"),
        ("play green b2", "? invalid color"),
        ("genmove", "? invalid color"),
        ("genmove w", "? illegal move: it is the turn of black"),
        ("undo", "? cannot undo"),
        ("boardsize 19", "? unacceptable size"),
        ("boardsize big", "? syntax error"),
        ("komi", "? syntax error"),
        ("time_settings 1 2", "? syntax error"),
        ("time_settings -1 2 3", "? times must not be negative"),
        ("time_left b nan 1", "? syntax error"),
        ("time_left x 1 1", "? invalid color"),
        ("final_score", "? cannot score"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(line, answer):
    talk = talk_about("tic_tac_toe")
    assert ask(talk, line).startswith(answer)
    assert len(talk.engine.played.states) == 1


def test_moves_are_taken_back():
    talk = talk_about("tic_tac_toe")
    assert [ask(talk, line) for line in ("play b a1", "undo", "play b b2", "undo")] == ["="] * 4
    assert [ask(talk, line) for line in ("play b b2", "boardsize 3", "play b b2", "clear_board")] == ["="] * 4
    assert len(talk.engine.played.states) == 1


def test_the_clock_is_kept():
    talk = Talk(GtpEngine, Patient(TIC_TAC_TOE, depth=10**6))
    assert ask(talk, "time_settings 0 1 10") == "="
    assert ask(talk, "genmove b")[0] == "="
    clock = talk.engine._clocks[0]
    assert clock.moves == 9 and 0.8 < clock.remaining < 1
    assert ask(talk, "time_left w 0.1 1") == "=" and ask(talk, "genmove w")[0] == "="
    assert ask(talk, "clear_board") == "=" and vars(talk.engine._clocks[0]) == vars(PeriodClock(0.0, 1.0, 10))
    assert ask(talk, "reg_genmove b")[0] == "=" and talk.engine._clocks[0].moves == 10, "it makes no move"
    assert ask(talk, "time_settings 0 5 0") == "=" and talk.engine._clocks is None


def test_an_agent_that_fails_is_an_answer():
    talk = Talk(GtpEngine, Broken(TIC_TAC_TOE))
    assert ask(talk, "genmove b") == "? RuntimeError: out of\nideas"


WORDS = st.sampled_from(
    [*COMMANDS, "b", "w", "black", "1", "-1", "1e99", "nan", "a1", "b2", "pass", "#", "\x00", "é", "="]
)
SHARED = Talk(GtpEngine, Patient(TIC_TAC_TOE, depth=1), warm=False)


@pytest.mark.slow
@settings(max_examples=200)
@given(st.lists(st.lists(WORDS, max_size=5).map(" ".join) | st.text(max_size=20), max_size=8))
def test_no_line_whatever_breaks_the_conversation(lines):
    for line in lines:
        SHARED.engine.handle(line.replace("\n", " ").replace("\r", " "))
    assert SHARED.say("5 clear_board", "6 genmove b")[-1].startswith("=6 ")
    assert all(line[0] in "=?" and "Error: " not in line for line in SHARED.lines)
    SHARED.lines.clear()
