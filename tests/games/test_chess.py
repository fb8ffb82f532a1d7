"""Chess and chess 6x6 against python-chess, Fairy-Stockfish, OpenSpiel and published counts."""

from __future__ import annotations

import functools
import random

import chess
import jax
import numpy as np
import pyffish
import pyspiel
import pytest

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.games.chess.moves import DIRECTIONS, JUMPS, UNDERPROMOTIONS
from beamzero.games.chess.state import Ending
from beamzero.search.perft import perft

CHESS, SMALL = make_game("chess"), make_game("chess6x6")

VARIANT = """[chess6x6:losalamos]
doubleStep = true
doubleStepRegionWhite = *2
doubleStepRegionBlack = *5
enPassantRegion = *3 *4
castling = true
castlingKingFile = d
castlingKingsideFile = f
castlingQueensideFile = b
castlingRookKingsideFile = f
castlingRookQueensideFile = a
promotionPieceTypes = q
startFen = rnqknr/pppppp/6/6/PPPPPP/RNQKNR w KQkq - 0 1
stalemateValue = draw
"""
"""The rules of chess 6x6, as Fairy-Stockfish reads them."""


def to_action(game, uci: str, black: bool) -> int:
    """The number of a move, written down here once more: its square and plane as the mover sees them."""
    size = game.variant.size
    (from_file, from_rank), (to_file, to_rank) = (("abcdefgh".index(uci[i]), int(uci[i + 1]) - 1) for i in (0, 2))
    if black:
        from_rank, to_rank = size - 1 - from_rank, size - 1 - to_rank
    files, ranks = to_file - from_file, to_rank - from_rank
    slides = 8 * (size - 1)
    if uci[4:] in ("n", "b", "r"):
        plane = slides + 8 + 3 * "nbr".index(uci[4:]) + UNDERPROMOTIONS.index((files, ranks))
    elif (files, ranks) in JUMPS:
        plane = slides + JUMPS.index((files, ranks))
    else:
        distance = max(abs(files), abs(ranks))
        plane = DIRECTIONS.index((files // distance, ranks // distance)) * (size - 1) + distance - 1
    return plane * size**2 + from_rank * size + from_file


class Line:
    """A game played elsewhere: the start, the actions, and what was legal before each of them."""

    def __init__(self, start: str) -> None:
        self.start, self.actions, self.legal = start, [], []
        self.ending, self.score, self.fen = Ending.NONE, 0.0, start


@functools.partial(jax.jit, static_argnums=0)
def _watch(game, states, actions):
    def ply(states, actions):
        seen = (*jax.vmap(game.moves)(states), jax.vmap(game.over)(states))
        return jax.vmap(game.step)(states, actions), seen

    return jax.lax.scan(ply, states, actions)


def check_lines(game, lines: list[Line], rows: int = 16, plies: int = 64) -> None:
    """Play the lines again here, `rows` games at a time, and find the same all along. Shapes are fixed."""
    lines = sorted(lines, key=lambda line: len(line.actions))  # those beside each other are over together
    for first in range(0, len(lines), rows):
        some = lines[first : first + rows]
        starts = [game.read_position(line.start) for line in some]
        states = jax.tree.map(lambda *x: np.stack(x), *starts, *[starts[0]] * (rows - len(some)))
        for begin in range(0, max(len(line.actions) for line in some), plies):
            actions = np.zeros((plies, rows), np.int32)
            for row, line in enumerate(some):
                here = line.actions[begin : begin + plies]
                actions[: len(here), row] = here
            states, (moves, count, over) = jax.device_get(_watch(game, states, actions))
            for row, line in enumerate(some):
                for ply, expected in enumerate(line.legal[begin : begin + plies]):
                    where = (line.start, begin + ply)
                    assert not over[ply, row], where
                    assert set(moves[ply, row, : count[ply, row]].tolist()) == expected, where
                    assert count[ply, row] == len(expected), where
        for row, line in enumerate(some):
            state = jax.tree.map(lambda x: x[row], states)
            if line.ending != Ending.NONE:
                assert Ending(int(state.ending)) == line.ending, line.start
                assert float(game.score(state)) == line.score, line.start
                assert game.write_position(state).split()[:4] == line.fen.split()[:4], line.start


def play_python_chess(start: str, draw: random.Random, most: int = 1000) -> Line:
    board, line = chess.Board(start), Line(start)
    while len(line.actions) < most:
        line.ending, line.score = python_chess_ending(board)
        if line.ending != Ending.NONE:
            break
        moves = list(board.legal_moves)
        move = draw.choice(moves)
        line.legal.append({to_action(CHESS, m.uci(), not board.turn) for m in moves})
        line.actions.append(to_action(CHESS, move.uci(), not board.turn))
        board.push(move)
    line.fen = board.fen()
    return line


def python_chess_ending(board: chess.Board) -> tuple[Ending, float]:
    if board.is_checkmate():
        return Ending.CHECKMATE, -1.0 if board.turn else 1.0
    if board.is_stalemate():
        return Ending.STALEMATE, 0.0
    if board.is_insufficient_material():
        return Ending.MATERIAL, 0.0
    if board.is_repetition(3):
        return Ending.THREEFOLD, 0.0
    if board.halfmove_clock >= 100:
        return Ending.FIFTY_MOVES, 0.0
    return Ending.NONE, 0.0


HARD = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
    "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1",
    "8/5bk1/8/2Pp4/8/1K6/8/8 w - d6 0 1",
    "8/8/1k6/8/2pP4/8/5BK1/8 b - d3 0 1",
    "3k4/3p4/8/K1P4r/8/8/8/8 b - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "r3k2r/7b/8/8/8/8/1B4BQ/R3K2R b KQkq - 0 1",
]
ENDGAMES = [
    "8/8/4k3/8/8/3K1R2/8/8 w - - 0 1",
    "8/8/4k3/8/8/3KQ3/8/r7 b - - 90 60",
    "8/8/4k1n1/8/8/3K1R2/8/8 w - - 0 1",
    "4k3/8/8/8/8/8/PP6/4K3 w - - 0 1",
    "4k1b1/8/8/8/8/8/8/B3K1B1 w - - 0 1",
    "k7/8/8/8/8/8/8/K1N4b w - - 96 80",
    "4k3/p7/8/8/8/8/7P/4K3 w - - 0 1",
    "2b1k3/8/8/8/8/8/8/2B1K3 w - - 0 1",
]


# --- counts ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_lines_from_the_start_of_chess():
    assert perft(CHESS, 4) == [20, 400, 8902, 197281]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fen", "counts"),
    [
        (HARD[0], [48, 2039, 97862]),
        (HARD[1], [14, 191, 2812, 43238]),
        (HARD[2], [6, 264, 9467]),
        (HARD[3], [44, 1486, 62379]),
        (HARD[4], [46, 2079, 89890]),
        (HARD[5], [24, 496, 9483, 182838]),
    ],
)
def test_lines_from_hard_positions(fen, counts):
    """Published counts: castling, checks, pins, promotions and captures in passing in every mixture."""
    assert perft(CHESS, len(counts), CHESS.read_position(fen)) == counts


@pytest.mark.slow
def test_lines_from_the_start_of_chess6x6():
    assert perft(SMALL, 4) == [16, 244, 4100, 64467]


# --- random games ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_random_games_go_as_in_python_chess():
    draw = random.Random(0)
    check_lines(CHESS, [play_python_chess(chess.STARTING_FEN, draw) for _ in range(8)])


@pytest.mark.slow
def test_games_from_hard_positions_and_endgames_go_as_in_python_chess():
    draw = random.Random(2)
    lines = [play_python_chess(fen, draw) for fen in HARD]
    lines += [play_python_chess(fen, draw) for fen in ENDGAMES for _ in range(6)]
    check_lines(CHESS, lines)
    assert {line.ending for line in lines} == set(Ending) - {Ending.NONE, Ending.LENGTH}, "every ending is reached"


@pytest.mark.slow
def test_random_games_end_as_in_openspiel():
    draw = random.Random(2)
    lines = []
    for _ in range(8):
        state, board, line = pyspiel.load_game("chess").new_initial_state(), chess.Board(), Line(chess.STARTING_FEN)
        while not state.is_terminal():
            moves = state.legal_actions()
            sans = [state.action_to_string(state.current_player(), move) for move in moves]
            ucis = [board.parse_san(san).uci() for san in sans]
            chosen = draw.randrange(len(moves))
            line.legal.append({to_action(CHESS, uci, not board.turn) for uci in ucis})
            line.actions.append(to_action(CHESS, ucis[chosen], not board.turn))
            state.apply_action(moves[chosen])
            board.push_uci(ucis[chosen])
        line.fen = board.fen()
        line.ending, line.score = python_chess_ending(board)
        assert line.score == state.returns()[1], "black is OpenSpiel's player 0"
        assert line.ending != Ending.NONE
        lines.append(line)
    check_lines(CHESS, lines)


def play_fairy(draw: random.Random, start: str, most: int = 300) -> Line:
    """A random game. Each question to the library takes milliseconds, so only those that can matter are asked."""
    line = Line(start)
    moves: list[str] = []  # since the last one that cannot be undone, which is all that a repetition can reach back to
    while len(line.actions) < most:
        line.fen = fen = pyffish.get_fen("chess6x6", start, moves)
        board, mover, _, _, clock, _ = fen.split()
        if clock == "0":
            start, moves = fen, []
        legal = pyffish.legal_moves("chess6x6", start, moves)
        if not legal:
            mate = pyffish.gives_check("chess6x6", start, moves)
            line.ending = Ending.CHECKMATE if mate else Ending.STALEMATE
            line.score = 0.0 if not mate else 1.0 if mover == "b" else -1.0
        elif sum(map(str.isalpha, board)) < 5 and all(pyffish.has_insufficient_material("chess6x6", start, moves)):
            line.ending = Ending.MATERIAL
        elif int(clock) >= 8 and pyffish.is_optional_game_end("chess6x6", start, moves)[0]:
            line.ending = Ending.FIFTY_MOVES if int(clock) >= 100 else Ending.THREEFOLD
        if line.ending != Ending.NONE:
            break
        line.legal.append({to_action(SMALL, move, mover == "b") for move in legal})
        moves.append(draw.choice(legal))
        line.actions.append(to_action(SMALL, moves[-1], mover == "b"))
    return line


@pytest.mark.slow
def test_random_games_of_chess6x6_go_as_in_fairy_stockfish():
    pyffish.load_variant_config(VARIANT)
    draw = random.Random(8)
    starts = [SMALL.start] * 3
    for fen in ("3k2/6/6/6/6/R2K1R w KQ -", "r2k1r/6/6/6/2P3/2QK2 b kq -", "3k2/6/6/6/1N4/2K3 w - -"):
        starts += [f"{fen} 0 1"] * 2
    starts += ["4k1/1P4/6/6/4p1/2K3 w - - 0 1", "r2k1r/1P4/6/6/5p/R2K1R b KQkq - 0 1"]
    starts += ["3k2/6/6/R5/6/3K2 w - - 90 60"] * 2 + ["k5/P5/1K4/6/6/6 w - - 0 1"] * 3
    lines = [play_fairy(draw, start) for start in starts]
    check_lines(SMALL, lines)
    reached = {line.ending for line in lines}
    assert reached >= set(Ending) - {Ending.NONE, Ending.LENGTH}


# --- rules that can be switched ---------------------------------------------------------------------------------------


def shuffle(game, plies: int):
    """Knights go out and home again."""
    state = game.init(jax.random.key(0))
    endings = []
    moves = ("e1d3", "e6d4", "d3e1", "d4e6")
    for ply in range(plies):
        state = game.step(state, to_action(game, moves[ply % 4], ply % 2 == 1))
        endings.append(Ending(int(state.ending)))
    return endings


@pytest.mark.slow
def test_the_rules_of_repetition_and_fifty_moves_can_be_switched_off():
    name = "chess6x6"  # Chess has the same rules here, and takes longer to compile.
    endings = shuffle(make_game(name, history=1), 8)
    assert endings == [Ending.NONE] * 7 + [Ending.THREEFOLD], "the start comes for the third time after eight plies"
    endings = shuffle(make_game(name, history=1, threefold=False), 101)
    assert endings == [Ending.NONE] * 99 + [Ending.FIFTY_MOVES] * 2
    endings = shuffle(make_game(name, history=1, threefold=False, fifty_moves=False, max_plies=230), 231)
    assert endings == [Ending.NONE] * 229 + [Ending.LENGTH] * 2


# --- positions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fen", [*HARD, *ENDGAMES, chess.STARTING_FEN])
def test_a_position_is_written_as_it_was_read(fen):
    written = CHESS.write_position(CHESS.read_position(fen))
    assert written == chess.Board(fen).fen(), "a square to take in passing only where that is legal"
    assert CHESS.write_position(CHESS.read_position(written)) == written


def test_the_counts_of_a_position_may_be_left_out():
    state = CHESS.read_position("8/8/4k3/8/8/3K1R2/8/8 b - -")
    assert CHESS.write_position(state) == "8/8/4k3/8/8/3K1R2/8/8 b - - 0 1"


@pytest.mark.parametrize(
    ("game", "fen", "said"),
    [
        (CHESS, "", "a FEN has"),
        (CHESS, "8/8/8/8 w - - 0 1", "8 ranks of 8"),
        (CHESS, "9/8/8/8/8/8/8/k1K5 w - - 0 1", "8 ranks of 8"),
        (CHESS, "k7/8/8/8/8/8/8/8 w - - 0 1", "white has 0 kings"),
        (CHESS, "kk6/8/8/8/8/8/8/K7 w - - 0 1", "black has 2 kings"),
        (CHESS, "k7/8/8/8/8/8/8/K6x w - - 0 1", "'x' is no piece"),
        (CHESS, "k7/8/8/8/8/8/8/K6P w - - 0 1", "first or the last rank"),
        (CHESS, "8/8/8/3kK2R/8/8/8/8 w - - 0 1", "beside each other"),
        (SMALL, "6/2k3/1K4/6/6/R5 b - - 0 1", "beside each other"),
        (CHESS, "k7/8/8/8/8/8/8/K7 x - - 0 1", "w or b"),
        (CHESS, "k7/8/8/8/8/8/8/K7 w KQ - 0 1", "not where they began"),
        (CHESS, "k7/8/8/8/8/8/8/K7 w KX - 0 1", "some of KQkq"),
        (CHESS, "k7/8/8/8/8/8/8/K7 w - e3 0 1", "rank 6"),
        (CHESS, "k7/8/8/8/8/8/8/K7 w - e6 0 1", "passed over e6"),
        (CHESS, "k7/8/8/8/8/8/8/K7 w - - x 1", "whole numbers"),
        (CHESS, "k7/8/8/8/8/8/8/K6R b - - 0 9999", "longest"),
        (CHESS, "k6R/8/8/8/8/8/8/K7 w - - 0 1", "not to move is in check"),
        (CHESS, "k7/8/8/QQQQ4/QQQQ4/QQ6/8/K7 b - - 0 1", "more pawns and promoted"),
        (SMALL, "2k3/6/6/6/6/2KB2 w - - 0 1", "'B' is no piece"),
        (SMALL, "2k3/6/6/6/NNN3/2K3 w - - 0 1", "becomes a queen"),
        (SMALL, chess.STARTING_FEN, "'B' is no piece"),
    ],
)
def test_a_position_that_cannot_be_is_told_why(game, fen, said):
    with pytest.raises(BadInput) as caught:
        game.read_position(fen)
    assert said in str(caught.value) and "\n" not in str(caught.value)


# --- moves as text ---------------------------------------------------------------------------------------------------


def test_moves_are_named_and_read_as_in_python_chess():
    for fen in [*HARD, chess.STARTING_FEN, "8/7k/8/8/Q2Q4/8/8/Q2K4 w - - 0 1", "7k/5P2/6K1/8/8/8/8/8 w - - 0 1"]:
        state, board = CHESS.read_position(fen), chess.Board(fen)
        names = {CHESS.action_name(state, action) for action in CHESS.legal_actions(state)}
        assert names == {board.san(move) for move in board.legal_moves}
        for number, move in enumerate(board.legal_moves):
            action = to_action(CHESS, move.uci(), not board.turn)
            san = board.san(move)
            texts = (san, move.uci(), san.rstrip("+#"), san.replace("O", "0"), f"{san}!")
            for text in texts if "O" in san or "=" in san else texts[number % 5 :][:1]:
                assert CHESS.parse_action(state, text) == action


# --- what a net sees -------------------------------------------------------------------------------------------------


def expected_observation(boards: list[chess.Board]) -> np.ndarray:
    """The planes, square by square, from python-chess boards, the latest one last."""
    now = boards[-1]
    planes = np.zeros((8, 8, 111), np.float32)
    for age, board in enumerate(reversed(boards[-8:])):
        for square, piece in board.piece_map().items():
            rank = chess.square_rank(square) if now.turn else 7 - chess.square_rank(square)
            channel = 13 * age + (piece.piece_type - 1) + (0 if piece.color == now.turn else 6)
            planes[rank, chess.square_file(square), channel] = 1
        planes[:, :, 13 * age + 12] = 2 if board.is_repetition(3) else 1 if board.is_repetition(2) else 0
    us, them = (now.turn, not now.turn)
    rest = [not now.turn, (now.fullmove_number - 1) / 512]
    rest += [now.has_kingside_castling_rights(us), now.has_queenside_castling_rights(us)]
    rest += [now.has_kingside_castling_rights(them), now.has_queenside_castling_rights(them)]
    planes[:, :, 104:] = np.array([*rest, now.halfmove_clock / 100], np.float32)
    return planes


@pytest.mark.slow
def test_a_net_sees_eight_positions_and_the_state_of_the_game():
    draw = random.Random(4)
    board, state = chess.Board(), CHESS.init(jax.random.key(0))
    boards = [board.copy()]
    shuffling = ["g1f3", "g8f6", "f3g1", "f6g8"]
    for ply in range(90):
        np.testing.assert_allclose(np.asarray(CHESS.observe(state)), expected_observation(boards), atol=1e-7)
        uci = shuffling[ply] if ply < 4 else draw.choice([move.uci() for move in board.legal_moves])
        state = CHESS.step(state, to_action(CHESS, uci, not board.turn))
        board.push_uci(uci)
        boards.append(board.copy())
        if CHESS.over(state):
            break
    assert ply > 30
