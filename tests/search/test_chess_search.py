"""Alpha-beta in chess: mates and their distance, draws by repetition and by the fifty-move rule, and the horizon."""

from __future__ import annotations

import dataclasses
import functools

import chess
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.games import State, make_game
from beamzero.games.chess import notation
from beamzero.search.alphabeta.alphabeta import AlphaBeta, Found
from beamzero.search.alphabeta.negamax import SearchMemory
from beamzero.search.drive import Snapshot, think
from beamzero.search.evaluator import Evaluator, SearchResult
from beamzero.search.features import feature_evaluator
from beamzero.search.limit import Limit
from tests.search.agreement import assert_played
from tests.search.plain import QUICK, Lines, Minimax, mixed_evaluator, rows, step_one

pytestmark = pytest.mark.slow  # chess takes long to compile

CHESS, SMALL = make_game("chess"), make_game("chess6x6")
"""The small one has the same rules of repetition and fifty moves, and compiles sooner."""
FEATURES = feature_evaluator(CHESS)
QUIET = AlphaBeta(8, quiet=4, entries=2**12)


def search(state: State, depth: int) -> Snapshot:
    """What is found at a depth, or where that is decided sooner."""
    return think(QUIET, CHESS, FEATURES, state, jax.random.key(0), Limit(depth=depth))


def move_of(board: chess.Board, action: int) -> chess.Move:
    cells = [[str(board.piece_at(8 * rank + file) or "") for file in range(8)] for rank in range(8)]
    return chess.Move.from_uci(notation.read_action(CHESS.variant, cells, int(not board.turn), action).uci)


# --- against minimax, on the small board -----------------------------------------------------------------------------

TABLE = AlphaBeta(8, quiet=2, entries=64)


@functools.partial(jax.jit, compiler_options=QUICK)
def search_on(
    evaluator: Evaluator, state: State, memory: SearchMemory, depth: int
) -> tuple[Found, SearchResult, SearchMemory]:
    """What is found so deep with what was remembered before, what is played, and what is remembered then."""
    start = TABLE.start(SMALL, evaluator, jax.tree.map(lambda x: x[None], state), jax.random.key(0))
    yes = jnp.bool_(True)
    stack = TABLE.searcher(SMALL, evaluator).restart(start.stack._replace(memory=memory), state, start.depth, yes, yes)
    carry = jax.lax.while_loop(
        lambda carry: (carry.row < 1) & (carry.depth <= depth),
        lambda carry: TABLE.advance(SMALL, evaluator, carry, jnp.int32(2**30)),
        start._replace(stack=stack),
    )
    found = jax.tree.map(lambda x: x[0], carry.found)
    return found, TABLE.result(SMALL, carry, jax.random.key(0)), carry.stack.memory


def assert_searched_as_by_minimax(states: list[State], seed: int, depth: int, times: int = 1) -> Minimax:
    """One table serves them all; from the second time on all of it is remembered."""
    evaluator = mixed_evaluator(SMALL, seed)
    roots = jax.tree.map(lambda *x: np.stack(x), *states)
    minimax = Minimax(Lines(SMALL, evaluator, roots, depth, TABLE.quiet), TABLE.quiet)
    memory = _new_memory(evaluator)
    for root, state in list(enumerate(states)) * times:
        found, chosen, memory = search_on(evaluator, state, memory, depth)
        found, chosen = jax.device_get((found, rows(chosen, 0)))
        assert_played(dataclasses.replace(TABLE, depth=depth), found, chosen, minimax, root, exact=seed > 0)
    return minimax


@jax.jit
def _new_memory(evaluator: Evaluator) -> SearchMemory:
    return TABLE.searcher(SMALL, evaluator).new_memory(TABLE.entries)


POSITIONS = [  # of random games
    "1k2r1/4p1/4r1/1NR2p/K2P1P/4nR w - - 0 26",
    "r1qknr/p2pp1/n4p/1ppPPN/1PP2P/RNQKR1 b Qkq - 0 5",
    "q5/3k2/6/4p1/5p/1K3n w - - 6 38",
    "rr4/p1k1Pp/P4P/1pP3/RP4/1Q1K1R w - - 1 25",
]


@pytest.mark.parametrize("seed", [1, 0])
def test_chess_is_searched_as_by_minimax(seed):
    """With evaluations that are random numbers, and with the game's own."""
    assert_searched_as_by_minimax([SMALL.read_position(fen) for fen in POSITIONS], seed, depth=2)


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


def test_a_mate_is_found_with_its_distance():
    for fen, number in MATES:
        board = chess.Board(fen)
        keys = mating_moves(board, number)
        assert keys and (number == 1 or not mating_moves(board, number - 1)), "as brute force finds it"
        found = search(CHESS.read_position(fen), 2 * number - 1)
        assert (found.value, found.outlook.proven, found.outlook.plies) == (1.0, True, 2 * number - 1), fen
        assert move_of(board, found.line[0]) in keys, fen
        for action in found.line:
            move = move_of(board, action)
            assert board.is_legal(move)
            board.push(move)
        assert board.is_checkmate() and len(found.line) == 2 * number - 1


def test_a_side_that_is_mated_puts_it_off():
    """In the corner every move loses, but not all of them at once."""
    fen = "7k/5K2/8/8/8/8/8/R7 b - - 0 1"
    found = search(CHESS.read_position(fen), 4)
    assert (found.value, found.outlook.proven, found.outlook.plies) == (-1.0, True, 2)


# --- draws -----------------------------------------------------------------------------------------------------------


def action_of(state: State, text: str) -> int:
    """The action that is a move in UCI."""
    cells, side = notation.cells(SMALL.variant, state), int(state.ply) & 1
    actions = range(SMALL.num_actions)
    return next(a for a in actions if notation.read_action(SMALL.variant, cells, side, a).uci == text)


def play(fen: str, *moves: str) -> State:
    state = SMALL.read_position(fen)
    for text in moves:
        state = step_one(SMALL, state, action_of(state, text))
    return state


SHUFFLE = ("a1b1", "f6f5", "b1a1", "f5f6")
ROOK, DEPTH = "5k/6/6/3p2/6/R4K w - - 0 1", 3


def near_a_draw() -> list[State]:
    """A rook goes there and back, until all has been there twice; and positions where few moves are left."""
    moves = SHUFFLE * 2
    shuffled = [play(ROOK, *moves[:plies]) for plies in range(len(moves))]
    clocks = [SMALL.read_position(ROOK.replace(" 0 1", f" {clock} 80")) for clock in (95, 97, 98, 99)]
    return [*shuffled, *clocks]


def test_near_a_draw_by_repetition_or_fifty_moves_the_table_changes_nothing():
    """It holds the same board with other pasts and other counts."""
    states = near_a_draw()
    minimax = assert_searched_as_by_minimax(states, 0, DEPTH, times=2)
    once, twice, last = (minimax.outlook(root, DEPTH).worth for root in (3, 7, len(states) - 1))
    assert once < 0 == twice, "the third time Black has a draw on the same board"
    assert last == 0, "nothing can be won any more"


# --- the horizon -----------------------------------------------------------------------------------------------------

PROTECTED_PAWN = "4k1/3p2/2p3/6/2Q3/4K1 w - - 0 1"
"""The queen can take a pawn, and is taken by the other."""


def test_a_fixed_depth_believes_in_a_capture_at_its_last_ply_and_quiescence_does_not():
    state, evaluator = SMALL.read_position(PROTECTED_PAWN), mixed_evaluator(SMALL, 0)
    takes = action_of(state, "c2c4")
    fixed = Minimax(Lines(SMALL, evaluator, jax.tree.map(lambda x: np.asarray(x)[None], state), 2))
    best = [max(moves, key=lambda move: moves[move].worth) for moves in (fixed.moves(0, 1), fixed.moves(0, 2))]
    assert best[0] == takes != best[1], "a ply more shows it too"
    assert search_on(evaluator, state, _new_memory(evaluator), 1)[0].line[0] != takes


DELAYED_QUEEN = "6k1/P6p/6p1/5p2/8/P2KB3/8/4r3 b - - 0 1"
"""Black has a rook and three pawns for a bishop and two, but White's pawn will be a queen.

Rook checks put that off, since White has to answer them.
"""


def test_what_checks_put_off_is_not_seen_by_quiescence_at_the_same_depth_but_by_more_depth():
    board, state = chess.Board(DELAYED_QUEEN), CHESS.read_position(DELAYED_QUEEN)
    blind = search(state, 3)
    assert blind.value > 0.1, "Black thinks that it is ahead"
    assert board.gives_check(move_of(board, blind.line[0]))
    assert search(state, 6).value < -0.3
