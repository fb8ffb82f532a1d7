"""The engine as another program sees it: python-chess starts it, plays it against itself, and holds the clock."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator

import chess
import chess.engine
import pytest

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "beamzero", "engine", "uci", "chess", "alphabeta:depth=4"]


@pytest.fixture(scope="module")
def engine() -> Iterator[chess.engine.SimpleEngine]:
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=180) as engine:
        engine.ping()
        yield engine


@pytest.mark.parametrize("seed", [0, 1])
def test_a_whole_game_from_both_sides(engine, seed):
    """python-chess refuses illegal moves. A few random plies lead to other games; few lead to mate, so 60 moves do."""
    board, draw = chess.Board(), random.Random(seed)
    for _ in range(4):
        board.push(draw.choice(list(board.legal_moves)))
    while not board.is_game_over() and board.fullmove_number <= 60:
        move = engine.play(board, chess.engine.Limit(depth=1), game=seed).move
        assert move is not None
        board.push(move)
    assert board.fullmove_number > 10


def test_the_weaker_side_is_mated(engine):
    """With a queen more, against a king alone."""
    board = chess.Board("8/8/8/3k4/8/8/7Q/4K2R w K - 0 1")
    while not board.is_game_over(claim_draw=True):
        limit = chess.engine.Limit(depth=4 if board.turn else 1)
        board.push(engine.play(board, limit, game="queen").move)
    assert board.is_checkmate() and board.turn == chess.BLACK


def test_a_mate_is_announced(engine):
    info = engine.analyse(chess.Board("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"), chess.engine.Limit(depth=3))
    assert info["score"].white() == chess.engine.Mate(1) and info["pv"] == [chess.Move.from_uci("a1a8")]


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        (chess.engine.Limit(time=0.1), 0.1),
        (chess.engine.Limit(white_clock=2.0, black_clock=2.0, remaining_moves=20), 0.1),
        (chess.engine.Limit(white_clock=0.2, black_clock=0.2, white_inc=0.05, black_inc=0.05), 0.15),
    ],
)
def test_time_is_respected(engine, limit, seconds):
    engine.play(chess.Board(), chess.engine.Limit(depth=1))
    began = time.monotonic()
    engine.play(chess.Board(), limit)
    assert time.monotonic() - began < seconds + 0.2  # the machine may be busy


def test_depth_and_nodes_are_respected(engine):
    assert engine.analyse(chess.Board(), chess.engine.Limit(depth=2))["depth"] == 2
    info = engine.analyse(chess.Board(), chess.engine.Limit(nodes=300))
    assert info["nodes"] <= 300 and info["nps"] > 0 and info["time"] >= 0


def test_stop_ends_an_endless_search(engine):
    with engine.analysis(chess.Board()) as analysis:
        for info in analysis:
            if info.get("depth", 0) >= 2:
                break
        analysis.stop()
        assert analysis.wait().move in chess.Board().legal_moves


def test_options_are_kept(engine):
    engine.configure({"Depth": 2, "Move Overhead": 10})
    try:
        assert engine.analyse(chess.Board(), chess.engine.Limit(time=5))["depth"] == 2
    finally:
        engine.configure({"Depth": 4, "Move Overhead": 30})
