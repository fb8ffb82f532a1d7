"""Alpha-beta in chess: mates and their distance, draws by repetition and by the fifty-move rule, and the horizon."""

from __future__ import annotations

import functools
import itertools

import chess
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.games import State, make_game
from beamzero.search.alphabeta import AlphaBeta, Found
from beamzero.search.deepening import Depth, deepen
from beamzero.search.evaluator import Evaluator
from beamzero.search.features import feature_evaluator
from beamzero.search.negamax import Memory
from tests.search.agreement import assert_games_are_searched_as_by_minimax
from tests.search.plain import QUICK, Lines, Minimax, mixed_evaluator

CHESS, SMALL = make_game("chess"), make_game("chess6x6")
"""The small one has the same rules of repetition and fifty moves, and compiles sooner."""
FEATURES = feature_evaluator(CHESS)
FIXED = AlphaBeta(8, entries=0)
QUIET = AlphaBeta(8, quiet=4, entries=2**12)


def search(settings: AlphaBeta, state: State, depth: int) -> Depth:
    """What is found at a depth, or where that is decided sooner."""
    return list(itertools.islice(deepen(CHESS, FEATURES, settings, state), depth))[-1]


def best_move(settings: AlphaBeta, fen: str, depth: int) -> str:
    state = CHESS.read_position(fen)
    return CHESS.action_name(state, search(settings, state, depth).line[0])


def test_chess_is_searched_as_by_minimax():
    assert_games_are_searched_as_by_minimax(SMALL, 2, 3, AlphaBeta(quiet=2, entries=64))


# --- mates -----------------------------------------------------------------------------------------------------------


def mating_moves(board: chess.Board, number: int) -> list[chess.Move]:
    """The moves that force mate within `number` moves, by trying everything."""
    found = []
    for move in list(board.legal_moves):
        if number == 1 and not board.gives_check(move):
            continue
        board.push(move)
        if board.is_checkmate() or (number > 1 and not board.is_game_over() and _loses(board, number - 1)):
            found.append(move)
        board.pop()
    return found


def _loses(board: chess.Board, number: int) -> bool:
    for move in list(board.legal_moves):
        board.push(move)
        lost = any(mating_moves(board, sooner) for sooner in range(1, number + 1))
        board.pop()
        if not lost:
            return False
    return True


MATES = [
    ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 1),  # on the back rank
    ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", 1),  # the scholar's mate
    ("rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2", 1),  # the fool's mate
    ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),  # Paul Morphy's problem: the key is quiet
    ("5r1k/6pp/7N/8/8/1Q6/8/6K1 w - - 0 1", 2),  # a smothered mate
    ("7k/8/4K3/8/8/8/8/6R1 w - - 0 1", 2),
    ("r5k1/5Npp/8/8/2Q5/8/8/6K1 w - - 0 1", 3),  # Philidor's legacy
]


@pytest.mark.parametrize("settings", [FIXED, QUIET], ids=["fixed", "quiet"])
def test_a_mate_is_found_with_its_distance(settings):
    for fen, number in MATES:
        board, state = chess.Board(fen), CHESS.read_position(fen)
        keys = {board.san(move) for move in mating_moves(board, number)}
        assert keys and (number == 1 or not mating_moves(board, number - 1)), "as brute force finds it"
        found = search(settings, state, 2 * number - 1)
        assert (found.value, found.proven, found.plies) == (1.0, True, 2 * number - 1), fen
        assert CHESS.action_name(state, found.line[0]) in keys, fen
        for action in found.line:
            board.push_san(CHESS.action_name(state, action))
            state = CHESS.step(state, jnp.int32(action))
        assert board.is_checkmate() and len(found.line) == 2 * number - 1


def test_a_side_that_is_mated_puts_it_off():
    """In the corner every move loses, but not all of them at once."""
    fen = "7k/5K2/8/8/8/8/8/R7 b - - 0 1"
    found = search(QUIET, CHESS.read_position(fen), 4)
    assert (found.value, found.proven, found.plies) == (-1.0, True, 2)


# --- draws -----------------------------------------------------------------------------------------------------------


def play(fen: str, *moves: str) -> State:
    state = SMALL.read_position(fen)
    for move in moves:
        state = SMALL.step(state, SMALL.parse_action(state, move))
    return state


SHUFFLE = ("Rb1", "Kf5", "Ra1", "Kf6")
ROOK, DEPTH = "5k/6/6/3p2/6/R4K w - - 0 1", 3


def near_a_draw() -> list[State]:
    """A rook goes there and back, until all has been there twice; and positions where few moves are left."""
    moves = SHUFFLE * 2
    shuffled = [play(ROOK, *moves[:plies]) for plies in range(len(moves))]
    clocks = [SMALL.read_position(ROOK.replace(" 0 1", f" {clock} 80")) for clock in (95, 97, 98, 99)]
    return [*shuffled, *clocks]


def test_near_a_draw_by_repetition_or_fifty_moves_the_table_changes_nothing():
    """One table serves them all, so that it holds the same board with other pasts and other counts."""
    states, evaluator = near_a_draw(), mixed_evaluator(SMALL, 0)
    lines = Lines(SMALL, evaluator, jax.tree.map(lambda *x: np.stack(x), *states), DEPTH, QUIET.quiet)
    minimax = Minimax(lines, QUIET.quiet)
    memory = jax.jit(lambda: QUIET.new_memory(SMALL, evaluator))()
    for _ in range(2):  # the second time all of it is remembered
        for root, state in enumerate(states):
            truth = minimax.outlook(root, DEPTH)
            found, memory = search_on(evaluator, state, memory)
            assert abs(int(found.worth) - truth.worth) <= 4, root
            assert abs(minimax.moves(root, DEPTH)[int(found.line[0])].worth - truth.worth) <= 8
    once, twice, last = (minimax.outlook(root, DEPTH).worth for root in (3, 7, len(states) - 1))
    assert once < 0 == twice, "the third time Black has a draw on the same board"
    assert last == 0, "nothing can be won any more"


@functools.partial(jax.jit, compiler_options=QUICK)
def search_on(evaluator: Evaluator, state: State, memory: Memory) -> tuple[Found, Memory]:
    """What is found DEPTH plies deep with what was remembered before, and what is remembered then."""
    progress = jax.lax.fori_loop(
        0,
        DEPTH,
        lambda _, progress: QUIET.advance(SMALL, evaluator, progress, jnp.int32(2**30)),
        QUIET.start(SMALL, evaluator, state, memory),
    )
    return progress.found, progress.search.memory


# --- the horizon -----------------------------------------------------------------------------------------------------

PROTECTED_PAWN = "4k3/8/4p3/3p4/8/8/3Q4/4K3 w - - 0 1"
"""The queen can take a pawn, and is taken by the other."""


def test_a_fixed_depth_believes_in_a_capture_at_its_last_ply_and_quiescence_does_not():
    assert best_move(FIXED, PROTECTED_PAWN, 1) == "Qxd5"
    assert best_move(QUIET, PROTECTED_PAWN, 1) != "Qxd5"
    assert best_move(FIXED, PROTECTED_PAWN, 2) != "Qxd5", "a ply more shows it too"


DELAYED_QUEEN = "6k1/P6p/6p1/5p2/8/P2KB3/8/4r3 b - - 0 1"
"""Black has a rook and three pawns for a bishop and two, but White's pawn will be a queen.

Rook checks put that off, since White has to answer them.
"""


def test_what_checks_put_off_is_not_seen_by_quiescence_at_the_same_depth_but_by_more_depth():
    state = CHESS.read_position(DELAYED_QUEEN)
    for settings in (FIXED, QUIET):
        blind = search(settings, state, 3)
        assert blind.value > 0.1, "Black thinks that it is ahead"
        assert CHESS.action_name(state, blind.line[0]).endswith("+") or settings == FIXED
    assert search(QUIET, state, 6).value < -0.3
