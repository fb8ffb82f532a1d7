"""UCI by the line, with an agent that costs nothing, on 6 x 6 squares."""

from __future__ import annotations

import random
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.core.errors import BadInput
from beamzero.engines.chess_positions import ChessPosition, uci_line, uci_moves
from beamzero.engines.uci import UciEngine, centipawns, score_text
from beamzero.games import make_game
from beamzero.players.analysis import step
from tests.engines.stub import Broken, Patient, Talk

GAME = make_game("chess6x6")
FIRST = GAME.write_position(ChessPosition(GAME).state)
LEGAL = set(uci_moves(GAME, ChessPosition(GAME).state).values())
PROMOTING = "3k2/P5/6/6/6/3K2 w - - 0 1"


@pytest.fixture
def talk():
    talk = Talk(UciEngine, Patient(GAME))
    yield talk
    assert talk.engine.close(5.0)


def best(lines: list[str]) -> str:
    (move,) = (line.split()[1] for line in lines if line.startswith("bestmove "))
    return move


def test_the_handshake_names_the_options(talk):
    lines = talk.say("uci")
    assert lines[0].startswith("id name beamzero ") and lines[1].startswith("id author ") and lines[-1] == "uciok"
    assert lines[2:-1] == [
        "option name Move Overhead type spin default 30 min 0 max 5000",
        "option name Depth type spin default 3 min 1 max 64",
        "option name UCI_Variant type combo default chess6x6 var chess6x6",
    ]


def test_ready_only_when_all_is_compiled():
    talk = Talk(UciEngine, Patient(GAME), warm=False)
    compiled = threading.Event()
    talk.engine.later(lambda: compiled.wait(5.0) and None)  # takes as long as a compiler
    talk.engine.prepare()
    assert talk.engine.handle("uci") and talk.engine.handle("isready") and talk.engine.handle("go infinite")
    time.sleep(0.02)
    assert talk.lines[-1] == "uciok"
    compiled.set()
    assert talk.wait_for("readyok") and best(talk.say("stop")) in LEGAL
    assert talk.engine.close()


def test_a_setting_that_cannot_be_is_taken_back(talk):
    talk.engine.player = Broken(GAME)
    talk.engine.prepare()
    assert talk.say("isready") == ["info string RuntimeError: out of ideas", "readyok"]
    assert talk.engine.player == Patient(GAME)


def test_a_search_is_told_of_and_ends_with_a_legal_move(talk):
    lines = talk.say("ucinewgame", "position startpos", "go depth 2")
    assert [line.split()[:3] for line in lines[:-1]] == [["info", "depth", "1"], ["info", "depth", "2"]]
    assert all(word in lines[0] for word in (" score cp ", " nodes ", " nps ", " time ", " pv "))
    assert best(lines) in LEGAL and lines[-2].endswith(f" pv {best(lines)}")


def test_without_any_limit_the_agent_has_its_own(talk):
    assert len(talk.say("go")) == 3 + 1
    assert len(talk.say("setoption name Depth value 5", "isready", "go")) == 1 + 5 + 1


def test_infinite_ends_by_stop_and_not_before(talk):
    talk.engine.handle("go infinite")
    talk.wait_for("info depth 5 ")
    talk.engine.handle("isready")  # answered while it thinks
    talk.wait_for("readyok", 0.5)
    time.sleep(0.02)
    assert not any(line.startswith("bestmove") for line in talk.lines)
    assert best(talk.say("stop")) in LEGAL
    assert talk.say("stop", "ponderhit") == []


def test_infinite_waits_even_where_the_agent_has_finished(talk):
    talk.engine.handle("go infinite depth 1")
    talk.wait_for("info depth 1 ")
    time.sleep(0.05)
    assert not any(line.startswith("bestmove") for line in talk.lines)
    assert best(talk.say("stop")) in LEGAL


@pytest.mark.parametrize(
    ("limit", "low", "high"),
    [
        ("movetime 100", 0.05, 0.1),
        ("wtime 3000 btime 9999", 0.03, 0.1),
        ("wtime 100 btime 9999 movestogo 1", 0.05, 0.1),
        ("wtime 1 btime 1", 0.0, 0.03),
        ("movetime 0", 0.0, 0.03),
    ],
)
def test_time_is_respected(talk, limit, low, high):
    talk.say("go movetime 1")
    began = time.monotonic()
    assert best(talk.say(f"go {limit}")) in LEGAL
    assert low <= time.monotonic() - began < high + 0.1  # the machine may be busy


def test_a_second_go_ends_the_first(talk):
    talk.engine.handle("go infinite")
    lines = talk.say("go depth 1")
    assert sum(line.startswith("bestmove ") for line in lines) == 2


def test_every_position_can_be_set_up(talk):
    move = best(talk.say(f"position fen {PROMOTING} moves d1c1 d6c5", "go depth 1"))
    assert move in {"a5a6q", "c1b1", "c1d1", "c1b2", "c1c2", "c1d2"}
    lines = talk.say(f"position fen {PROMOTING}", "go depth 1")
    assert best(lines) in uci_moves(GAME, GAME.read_position(PROMOTING)).values()


@pytest.mark.parametrize(
    "wrong",
    [
        "position",
        "position fen",
        "position fen 6/6/6 w - - 0 1",
        "position fen rnqknr/pppppp/6/6/PPPPPP/RNQKNR x KQkq - 0 1",
        "position startpos moves e2e9",
        "position startpos moves a2a3 a2a3",
        "position startpos moves 0000",
        "position middle",
        "setoption name Depth value 0",
        "setoption name Depth value many",
        "setoption name Colour value blue",
        "setoption name UCI_Variant value chess",
        "setoption",
    ],
)
def test_what_cannot_be_is_said_and_changes_nothing(talk, wrong):
    talk.say("position startpos moves a2a3")
    (line,) = talk.say(wrong)
    assert line.startswith("info string ")
    assert GAME.write_position(talk.engine.position.state).split()[1] == "b"
    assert talk.engine.player == Patient(GAME)


def test_games_are_played_on_after_a_draw_that_nobody_claims(talk):
    """Knights go out and back: the same position for the third, fourth and fifth time."""
    there_and_back = ["b1c3", "b6c4", "c3b1", "c4b6"]
    talk.say(f"position startpos moves {' '.join(4 * there_and_back)}")
    assert best(talk.say("go depth 1")) in LEGAL
    for fen in ("3k2/6/6/6/6/3K2 w - - 0 1", "3k2/P5/6/6/6/3K2 w - - 120 90", "3k2/P5/6/6/6/3K2 w - - 0 9000"):
        assert best(talk.say(f"position fen {fen} moves d1c1 d6c6", "go depth 1")) != "0000"


def test_no_move_where_there_is_none(talk):
    mated = "r5/1r1k2/6/6/6/K5 w - - 0 1"
    assert best(talk.say(f"position fen {mated}", "go movetime 10")) == "0000"


def test_a_search_that_fails_still_answers():
    talk = Talk(UciEngine, Broken(GAME), warm=False)
    lines = talk.say("go depth 3")
    assert lines[0] == "info string RuntimeError: out of ideas" and best(lines) in LEGAL
    talk.engine.close()


WORDS = [
    "uci", "isready", "setoption", "name", "value", "Depth", "Hash", "1", "0", "-5", "99999999999999999999",
    "position", "startpos", "fen", "moves", "e2e4", "a2a3", "0000", "go", "movetime", "depth", "nodes",
    "wtime", "btime", "winc", "movestogo", "infinite", "ponder", "mate", "searchmoves", "stop", "ponderhit",
    "ucinewgame", "debug", "on", "register", "later", "joho", "\x00", "é", "3k2/P5/6/6/6/3K2", "w", "-", "--",
]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=200)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | st.text(max_size=30), max_size=12))
def test_no_line_whatever_breaks_the_conversation(lines):
    talk = SHARED
    quick = [line.replace("\n", " ").replace("\r", " ") for line in lines]
    for line in quick:
        if not talk.engine.handle(line):
            assert "quit" in line.split()
        talk.engine.stop()  # or an endless search would hold up the rest
    answers = talk.say("stop", "isready")
    assert "readyok" in answers
    for line in talk.lines:
        assert line.split()[0] in {"id", "option", "uciok", "readyok", "info", "bestmove"} and "\n" not in line
        assert "Error: " not in line
    talk.lines.clear()
    move = best(talk.say("position startpos", "go depth 1"))
    assert move in LEGAL
    talk.lines.clear()


SHARED = Talk(UciEngine, Patient(GAME, depth=1), warm=False)


def test_moves_known_from_before_are_not_played_again(monkeypatch):
    position = ChessPosition(GAME)
    position.set(None, ["a2a3", "a5a4"])
    monkeypatch.setattr(position, "_play", lambda state, move: pytest.fail("known"))
    position.set(None, ["a2a3", "a5a4"])
    position.set(None, ["a2a3"])
    assert GAME.write_position(position.state).split()[1] == "b"


def test_a_line_reads_as_the_rules_would_write_it():
    """A random game: castling, en passant and promotion included, without asking the rules."""
    draw = random.Random(2)
    first = state = ChessPosition(GAME).state
    actions, texts = [], []
    while not bool(GAME.over(state)) and len(actions) < 120:
        action, text = draw.choice(list(uci_moves(GAME, state).items()))
        actions.append(action)
        texts.append(text)
        state = step(GAME, state, action)
    assert uci_line(GAME, first, actions) == texts and any(text.endswith("q") for text in texts)


def test_scores():
    assert score_text(GAME, 0.0, None) == "cp 0"
    assert score_text(GAME, 1.0, 3) == "mate 2"
    assert score_text(GAME, 1.0, 1) == "mate 1"
    assert score_text(GAME, -1.0, 2) == "mate -1"
    assert centipawns(GAME, 1.0) == -centipawns(GAME, -1.0) > 2000
    assert centipawns(GAME, 0.2449187) == 100  # tanh(0.5 / 2)


def test_a_wrong_move_is_named():
    with pytest.raises(BadInput, match="'e2e9' is not a legal move in "):
        ChessPosition(GAME).set(None, ["e2e9"])
