"""NBoard's protocol by the line, with an agent that costs nothing."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.core.errors import BadInput
from beamzero.engines.nboard import NBoardEngine, play_ggf_move, read_ggf, write_ggf_move
from beamzero.games import make_game
from tests.engines.stub import Broken, Patient, Talk

OTHELLO = make_game("othello")
BOARD = "BO[8 ---------------------------O*------*O--------------------------- *]"
GAME = f"(;GM[Othello]PC[NBoard]PB[a]PW[b]RE[?]TI[15:00]TY[8]{BOARD}B[F5//1.2]W[F6/0.5]B[D3];)"
LAST = f"(;GM[Othello]BO[8 {'*' * 62}O- *];)"
"""The last square is black's to take or nobody's."""


@pytest.fixture
def talk():
    talk = Talk(NBoardEngine, Patient(OTHELLO))
    yield talk
    assert talk.engine.close(5.0)


def test_the_session_of_the_documentation(talk):
    assert talk.say("nboard 2") == ["set myname beamzero stub"]
    assert talk.say("set depth 2", f"set game {GAME}", "set contempt 3", "ping 1") == ["pong 1"]
    lines = talk.say("go")
    assert (lines[0], lines[-1]) == ("status thinking", "status waiting")
    assert [line.split()[0] for line in lines[1:-2]] == ["nodestats", "nodestats"]
    move = re.fullmatch(r"=== ([A-H][1-8])/-?\d+\.\d\d/\d+\.\d\d", lines[-2])[1]
    assert len(talk.engine.played.states) == 4  # NBoard plays the move, not the engine
    assert talk.say(f"move {move}/0.5/1", "ping 2") == ["pong 2"]
    assert len(talk.engine.played.states) == 5
    assert talk.say("learn") == ["learned"]


def test_hints_are_lines_with_what_they_are_worth(talk):
    lines = [line for line in talk.say("set depth 2", "hint 3") if line.startswith("search ")]
    assert all(re.fullmatch(r"search ([A-H][1-8])+ -?\d+\.\d\d 0 \d+", line) for line in lines)
    assert [line.split()[4] for line in lines] == ["1", "2", "2", "2"]
    assert len({line.split()[1] for line in lines}) == 3
    assert len([line for line in talk.say("hint 1") if line.startswith("search ")]) == 2


def test_a_game_is_looked_through_from_its_end(talk):
    lines = [line for line in talk.say(f"set game {GAME}", "analyze") if line.startswith("analysis ")]
    assert [line.split()[1] for line in lines] == ["3", "2", "1", "0"]


def test_a_ping_ends_what_is_being_thought(talk):
    talk.engine.player = Patient(OTHELLO, depth=10**6)
    talk.engine.handle("hint 1")
    talk.wait_for("search ")
    time.sleep(0.02)
    assert talk.say("ping 5")[-1] == "pong 5"


def test_a_pass_is_played_and_written():
    played = read_ggf(OTHELLO, f"(;GM[Othello]BO[8 {'-' * 24}---O*---{'---**---'}{'-' * 24} O]W[F4];)")
    assert played.side == 0
    assert (write_ggf_move("pass"), write_ggf_move("d3")) == ("PA", "D3")
    with pytest.raises(BadInput, match="'pass' is not a legal move here"):
        play_ggf_move(played, "PA/0.0/1")


@pytest.mark.parametrize(
    "wrong",
    [
        "set game (;GM[Othello];)",
        f"set game (;{BOARD}{BOARD};)",
        "set game (;BO[8 --- *];)",
        "set game (;BO[];)",
        f"set game (;{BOARD}W[D3];)",
        f"set game (;{BOARD}B[A1];)",
        "move A1",
        "move",
        "set depth deep",
        "hint some",
    ],
)
def test_what_cannot_be_is_said_and_changes_nothing(talk, wrong):
    (line,) = talk.say(wrong)
    assert line.startswith("status ") and "Error" not in line
    assert len(talk.engine.played.states) == 1 and talk.engine.depth is None


def test_a_finished_game_has_no_move(talk):
    (line,) = talk.say(f"set game {LAST}", "go")[-1:]
    assert line.startswith(("status the game is over", "status waiting"))


def test_an_agent_that_fails_is_said():
    talk = Talk(NBoardEngine, Broken(OTHELLO), warm=False)
    assert talk.say("go") == ["status thinking", "status RuntimeError: out of ideas"]


WORDS = st.sampled_from(["nboard", "set", "game", "depth", "move", "hint", "go", "ping", "learn", "analyze", "2", "D3",
                         "PA", "-1", GAME, BOARD, LAST, "B[", "]", "é"])  # fmt: skip
SHARED = Talk(NBoardEngine, Patient(OTHELLO, depth=1), warm=False)


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(st.lists(WORDS, max_size=4).map(" ".join) | st.text(max_size=20), max_size=6))
def test_no_line_whatever_breaks_the_conversation(lines):
    for line in lines:
        SHARED.engine.handle(line.replace("\n", " ").replace("\r", " "))
    answers = SHARED.say("ping 77", f"set game {GAME}", "go")
    assert "pong 77" in answers and any(line.startswith("=== ") for line in answers)
    assert all("Error: " not in line and "\n" not in line for line in SHARED.lines)
    SHARED.lines.clear()
