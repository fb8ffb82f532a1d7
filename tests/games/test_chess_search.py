"""What chess tells searches: features, noisy moves, order and keys, against python-chess and slow counts."""

from __future__ import annotations

import functools
import itertools
import random
from typing import Any, NamedTuple

import chess
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.games.chess import notation
from beamzero.games.chess.moves import DIAGONALS, DIRECTIONS, JUMPS, STRAIGHTS
from beamzero.games.chess.order import CAPTURE_ORDER, QUIET_ORDER, THREAT_ORDER
from beamzero.games.chess.state import KEYS, Ending
from tests.games.play import ask_all, at, play, stack
from tests.games.test_chess import ENDGAMES, HARD, python_chess_ending, to_action

pytestmark = pytest.mark.slow  # chess at full size

CHESS, SMALL = make_game("chess"), make_game("chess6x6")
MIDDLE = [
    "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4",
    "2rq1rk1/pp1bppbp/2np1np1/8/3NP3/1BN1BP2/PPPQ2PP/2KR3R w - - 0 12",
    "8/5pk1/4p1p1/3pP2p/2pP1P1P/2P2KP1/1r6/R7 b - - 0 40",
    "6k1/PP3ppp/8/8/3p4/8/5PpP/R5K1 w - - 0 30",
]


class Played(NamedTuple):
    """A random game of python-chess: its boards, what is legal on each, and our states."""

    boards: list[chess.Board]
    legal: list[dict[int, chess.Move]]
    states: Any  # [T, ...]


@functools.partial(jax.jit, static_argnums=0)
def _follow(game, state, actions):
    def ply(state, action):
        return game.step(state, action), state

    return jax.lax.scan(ply, state, actions)[1]


@functools.cache
def played(start: str, seed: int, plies: int = 128) -> Played:
    """Plies of a random game, fewer where it ends before."""
    draw, board, boards, legal, actions = random.Random(seed), chess.Board(start), [], [], []
    while len(actions) < plies and python_chess_ending(board)[0] == Ending.NONE:
        moves = {to_action(CHESS, move.uci(), not board.turn): move for move in board.legal_moves}
        action = draw.choice(list(moves))
        boards.append(board.copy())
        legal.append(moves)
        actions.append(action)
        board.push(moves[action])
    then_nothing = np.pad(np.array(actions, np.int32), (0, plies - len(actions)))
    states = jax.device_get(_follow(CHESS, CHESS.read_position(start), then_nothing))
    return Played(boards, legal, at(states, slice(len(boards))))


def all_played() -> list[Played]:
    """Thousands of positions: openings, hard ones with every kind of move, endgames."""
    starts = [chess.STARTING_FEN] * 5 + [*HARD, *MIDDLE, *ENDGAMES]
    return [played(start, seed) for seed, start in enumerate(starts)]


@functools.partial(jax.jit, static_argnums=(0, 1))
def _ask(game, hook, states, moves):
    """[T, W]: what `game` answers of each move of each state."""
    return jax.vmap(lambda state, moves: jax.vmap(functools.partial(getattr(game, hook), state))(moves))(states, moves)


WIDTH = 96
"""More moves than there are in any of these positions; there could be more."""


def padded(states):
    """128 states, whatever their number."""
    return jax.tree.map(lambda x: np.concatenate([x, np.repeat(x[:1], 128 - len(x), axis=0)]), states)


def ask_moves(hook: str, game_played: Played) -> list[dict[int, Any]]:
    """What chess says of every legal move in every position of a game, by action."""
    moves = np.zeros((128, WIDTH), np.int32)
    for row, legal in enumerate(game_played.legal):
        moves[row, : len(legal)] = list(legal)
    answers = np.asarray(_ask(CHESS, hook, padded(game_played.states), moves)).tolist()
    return [dict(zip(legal, answers[row], strict=False)) for row, legal in enumerate(game_played.legal)]


# --- features --------------------------------------------------------------------------------------------------------


def slow_features(rows: notation.Cells) -> dict[str, int]:
    """What the side with upper case letters, which goes up, has less what the other side has."""
    turned = [[letter.swapcase() for letter in row] for row in reversed(rows)]
    own, other = slow_side(rows), slow_side(turned)
    return {name: own[name] - other[name] for name in own}


def slow_side(rows: notation.Cells) -> dict[str, int]:
    size = len(rows)
    inside = range(size)
    where = {letter: [(f, r) for r in inside for f in inside if rows[r][f] == letter] for letter in "PNBRQKpnbrqk"}

    def walk(start, way, most):
        """The squares up to the first piece; that one too, if it is of the other side."""
        for distance in range(1, most + 1):
            file, rank = start[0] + way[0] * distance, start[1] + way[1] * distance
            if file not in inside or rank not in inside or rows[rank][file].isupper():
                return
            yield file, rank
            if rows[rank][file]:
                return

    def walks(letters, ways, most=size):
        return [to for letter in letters for start in where[letter] for way in ways for to in walk(start, way, most)]

    jumps, diagonal, straight = walks("N", JUMPS, 1), walks("BQ", DIAGONALS), walks("RQ", STRAIGHTS)
    (king,), (enemy_king,) = where["K"], where["k"]
    near = [(enemy_king[0] + files, enemy_king[1] + ranks) for files, ranks in DIRECTIONS]
    pressing = [to for to in jumps + diagonal + straight if to in near]
    low, high = (size - 2) // 2, size // 2
    pawns, others = where["P"], where["p"]
    passed = [(f, r) for f, r in pawns if not any(abs(f - g) <= 1 and s > r for g, s in others)]
    shield = [(f, r) for f, r in pawns if abs(f - king[0]) <= 1 and r - king[1] in (1, 2)]
    return {
        "pawns": len(pawns),
        "knights": len(where["N"]),
        "bishops": len(where["B"]),
        "rooks": len(where["R"]),
        "queens": len(where["Q"]),
        "knight_moves": len(jumps),
        "diagonal_moves": len(diagonal),
        "straight_moves": len(straight),
        "king_pressure": len(pressing) if where["Q"] else 0,
        "centre_pawns": sum(low <= f <= high and low <= r <= high for f, r in pawns),
        "centre_knights": sum(low - 1 <= f <= high + 1 and low - 1 <= r <= high + 1 for f, r in where["N"]),
        "pawn_steps": sum(r - 1 for _, r in pawns),
        "doubled_pawns": sum(any(f == g and s > r for g, s in pawns) for f, r in pawns),
        "lone_pawns": sum(not any(abs(f - g) == 1 for g, _ in pawns) for f, r in pawns),
        "passed_pawns": len(passed),
        "passed_steps": sum(r - 1 for _, r in passed),
        "king_shield": len(shield) if where["q"] else 0,
    }


def as_mover_sees(game, state) -> notation.Cells:
    rows = notation.cells(game.variant, state)
    return rows if int(state.ply) % 2 == 0 else [[letter.swapcase() for letter in row] for row in reversed(rows)]


@functools.cache
def all_random_states(game):
    """States [N]: of the games above, or of shorter ones, which the tests of every game have compiled."""
    if game == CHESS:
        return jax.tree.map(lambda *x: np.concatenate(x), *(game.states for game in all_played()))
    games = play(make_game(f"{game.name}:max_plies=120"))
    return at(games.states, ~games.facts.over)


def random_states(game, seed: int, number: int = 128) -> list:
    """States that are not over, from random games, of either side to move."""
    running = all_random_states(game)
    chosen = np.random.default_rng(seed).choice(len(running.ply), number, replace=False)
    return [at(running, i) for i in chosen]


def features(game, states: list, rows: int = 128) -> np.ndarray:
    """Of up to `rows` states. Shapes are fixed."""
    stacked = jax.tree.map(lambda *x: np.stack(x), *states, *[states[0]] * (rows - len(states)))
    return ask_all(game, "features", stacked)[: len(states)]


def test_features_are_what_one_counts_square_by_square():
    game = CHESS
    states = random_states(game, seed=1)
    assert {int(state.ply) % 2 for state in states} == {0, 1}
    found = features(game, states)
    for state, row in zip(states, found, strict=True):
        expected = slow_features(as_mover_sees(game, state))
        assert dict(zip(game.feature_names, row.tolist(), strict=True)) == {n: expected[n] for n in game.feature_names}
    assert (np.abs(found).max(axis=0) > 0).all(), "every feature is seen at work"


def test_moves_of_pieces_are_counted_as_python_chess_sees_attacks():
    states = random_states(CHESS, seed=2)
    for state, row in zip(states, features(CHESS, states), strict=True):
        found, board = (
            dict(zip(CHESS.feature_names, row.tolist(), strict=True)),
            chess.Board(CHESS.write_position(state)),
        )

        def reached(colour, *kinds):
            pieces = [square for kind in kinds for square in board.pieces(kind, colour)]
            return sum(len(board.attacks(square) - board.occupied_co[colour]) for square in pieces)

        us, them = board.turn, not board.turn
        assert found["knight_moves"] == reached(us, chess.KNIGHT) - reached(them, chess.KNIGHT)
        sliders = chess.BISHOP, chess.ROOK, chess.QUEEN
        assert found["diagonal_moves"] + found["straight_moves"] == reached(us, *sliders) - reached(them, *sliders)
        for name, kind in zip(CHESS.feature_names, chess.PIECE_TYPES, strict=False):
            if kind != chess.KING:
                assert found[name] == len(board.pieces(kind, us)) - len(board.pieces(kind, them))


@pytest.mark.parametrize("game", [CHESS, SMALL], ids=["chess", "chess6x6"])
def test_features_change_sign_with_the_sides_and_are_the_same_for_either_colour(game):
    states, others, colours = [], [], []
    for state in random_states(game, seed=3, number=60):
        board, side, castling, _, clock, number = game.write_position(state).split()
        swapped = "/".join(reversed(board.swapcase().split("/")))
        rest = f"- {clock} {number}"
        try:
            other = game.read_position(f"{board} {'wb'[side == 'w']} {castling} {rest}")
        except BadInput:
            continue  # The side to move gives check: it cannot be the other's turn.
        states.append(state)
        others.append(other)
        colours.append(game.read_position(f"{swapped} {'wb'[side == 'w']} - {rest}"))
    assert len(states) > 30
    ours = features(game, states)
    np.testing.assert_array_equal(features(game, others), -ours)
    np.testing.assert_array_equal(features(game, colours), ours)


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", {"queens": 1, "knights": 0}),
        ("4k3/8/8/8/8/8/8/Q3K3 b - - 0 1", {"queens": -1, "king_pressure": 0}),
        ("4k3/8/8/3P4/3P4/8/P7/4K3 w - - 0 1", {"doubled_pawns": 1, "lone_pawns": 3, "passed_pawns": 3}),
        ("4k3/8/8/3P4/3P4/8/P7/4K3 w - - 0 1", {"pawn_steps": 5, "passed_steps": 5, "centre_pawns": 2}),
        ("4k3/8/4p3/8/3P4/2P5/8/4K3 w - - 0 1", {"passed_pawns": 1, "passed_steps": 1, "lone_pawns": -1}),
        ("q5k1/5ppp/8/8/8/6P1/5P1P/Q5K1 w - - 0 1", {"king_shield": 0}),
        ("q5k1/5pp1/7p/7n/8/8/8/Q5K1 w - - 0 1", {"king_shield": -3, "pawn_steps": -1}),
        ("6k1/5pp1/7p/7n/8/8/8/6K1 w - - 0 1", {"king_shield": 0}),
    ],
)
def test_features_of_positions_one_can_count_at_a_glance(fen, expected):
    found = dict(zip(CHESS.feature_names, features(CHESS, [CHESS.read_position(fen)])[0].tolist(), strict=True))
    assert {name: found[name] for name in expected} == expected


def test_material_is_worth_what_the_books_say():
    for game in (CHESS, SMALL):
        worth = dict(zip(game.feature_names, game.point_weights, strict=True))
        books = {"pawns": 1, "knights": 3, "bishops": 3, "rooks": 5, "queens": 9}
        assert {name: worth[name] for name in books if name in worth} == {n: books[n] for n in books if n in worth}
    assert "bishops" in CHESS.feature_names and "bishops" not in SMALL.feature_names


# --- noisy moves and checks ------------------------------------------------------------------------------------------


RANK = {chess.PAWN: 1, chess.KNIGHT: 2, chess.BISHOP: 3, chess.ROOK: 4, chess.QUEEN: 5, chess.KING: 6}


def defended_squares(board: chess.Board) -> chess.SquareSet:
    """What the side that is not to move attacks, through the king of the other side too."""
    without = board.copy(stack=False)
    without.remove_piece_at(without.king(board.turn))
    return chess.SquareSet(sq for sq in chess.SQUARES if without.is_attacked_by(not board.turn, sq))


def loses_material(board: chess.Board, defended: chess.SquareSet, move: chess.Move) -> bool:
    """Whether a piece takes what is worth less and defended. A knight and a bishop are worth the same."""
    victim = RANK[board.piece_type_at(move.to_square) or chess.PAWN]
    taker = RANK[board.piece_type_at(move.from_square)]
    minor = {taker, victim} == {RANK[chess.KNIGHT], RANK[chess.BISHOP]}
    return taker > victim and not minor and move.to_square in defended


def test_captures_at_no_loss_and_new_queens_are_noisy():
    seen = {True: 0, False: 0}
    for game in all_played()[::2]:
        for board, legal, noisy in zip(game.boards, game.legal, ask_moves("noisy", game), strict=True):
            defended = defended_squares(board)
            for action, move in legal.items():
                pays = board.is_capture(move) and not loses_material(board, defended, move)
                assert noisy[action] == (pays or move.promotion == chess.QUEEN), (board.fen(), move.uci())
                seen[noisy[action]] += 1
    assert seen[False] > 20_000 and seen[True] > 500


@functools.partial(jax.jit, static_argnums=0)
def _noise(game, states):
    """[N, K] each: which slots hold moves; whether they are noisy; pieces, and queens, before and after them."""

    def count(state):
        words = [jnp.stack([state[i], state[i + 1]]) for i in (2, 4, 6)]
        pieces, queens = words[0] | words[1] | words[2], words[0] & words[1] & words[2]
        return [jnp.sum(jnp.bitwise_count(squares), dtype=jnp.int32) for squares in (pieces, queens)]

    def one(state):
        moves, number = game.moves(state)
        noisy = jax.vmap(functools.partial(game.noisy, state))(moves)
        after = jax.vmap(lambda move: count(game.step(state, move)))(moves)
        return jnp.arange(game.max_moves) < number, noisy, count(state), after

    return jax.vmap(one)(states)


@pytest.mark.parametrize("game", [CHESS, SMALL], ids=["chess", "chess6x6"])
def test_noisy_moves_take_a_piece_or_add_a_queen(game):
    states = jax.tree.map(lambda *x: np.stack(x), *random_states(game, seed=4))
    real, noisy, before, after = jax.device_get(_noise(game, states))
    fewer, queens = after[0] < before[0][:, None], after[1] > before[1][:, None]
    assert (fewer | queens)[real & noisy].all() and noisy[real & queens].all()
    assert (fewer & noisy)[real].any() and (fewer & ~noisy)[real].any() and queens[real].any()


def test_who_is_in_check_must_answer():
    checks = 0
    for game in all_played():
        answers = ask_all(CHESS, "must_answer", padded(game.states))[: len(game.boards)]
        assert answers.tolist() == [board.is_check() for board in game.boards]
        checks += int(answers.sum())
    assert checks > 50


# --- order -----------------------------------------------------------------------------------------------------------


def attacks_something(board: chess.Board, defended: chess.SquareSet, move: chess.Move) -> bool:
    """Whether the piece, set down where the move leads, attacks the king, or what is worth more or not defended."""
    piece = board.piece_type_at(move.from_square)
    if piece == chess.KING:
        return False
    after = board.copy(stack=False)
    after.set_piece_at(move.to_square, chess.Piece(piece, board.turn))
    for square in after.attacks(move.to_square):
        victim = board.piece_at(square)
        if victim and victim.color != board.turn:
            worth_more = RANK[victim.piece_type] > max(RANK[piece], RANK[chess.BISHOP] if piece == chess.KNIGHT else 0)
            if worth_more or square not in defended:
                return True
    return False


def test_captures_come_before_threats_and_threats_before_moves_forward_and_those_before_moves_back():
    tiers = [0, 0, 0, 0]
    for game in all_played()[::3]:
        for board, legal, order in zip(game.boards, game.legal, ask_moves("order", game), strict=True):
            defended = defended_squares(board)
            for action, move in legal.items():
                found, where = order[action], (board.fen(), move.uci())
                forward = chess.square_rank(move.to_square) - chess.square_rank(move.from_square)
                forward = forward if board.turn else -forward
                if board.is_capture(move) or move.promotion == chess.QUEEN:
                    assert CAPTURE_ORDER <= found <= 255, where
                    tiers[0] += 1
                elif move.promotion:
                    assert found == 0, where
                elif attacks_something(board, defended, move):
                    assert found == THREAT_ORDER + 2 * forward, where
                    tiers[1] += 1
                else:
                    assert found == QUIET_ORDER + 2 * forward, where
                    tiers[2 if forward > 0 else 3] += 1
    assert min(tiers) > 500
    assert (
        CAPTURE_ORDER > THREAT_ORDER + 2 * 7 and THREAT_ORDER - 2 * 7 > QUIET_ORDER + 2 * 7 and QUIET_ORDER - 2 * 7 > 0
    )


def test_the_most_valuable_victim_is_taken_first_and_by_the_least_valuable_piece():
    pairs = 0
    for game in all_played():
        for board, legal, order in zip(game.boards, game.legal, ask_moves("order", game), strict=True):
            defended = defended_squares(board)
            captures = []
            for action, move in legal.items():
                if board.is_capture(move) and not move.promotion:
                    victim = RANK[board.piece_type_at(move.to_square) or chess.PAWN]
                    taker = RANK[board.piece_type_at(move.from_square)]
                    loses = loses_material(board, defended, move)
                    captures.append(((not loses, victim, -taker), order[action]))
            for (better, high), (worse, low) in itertools.permutations(captures, 2):
                if better > worse:
                    assert high > low, board.fen()
                    pairs += 1
    assert pairs > 1000


def test_a_capture_that_makes_a_queen_is_the_best_of_all():
    state = CHESS.read_position("1n2k3/P7/8/3q4/4P3/8/8/4K3 w - - 0 1")
    actions = {to_action(CHESS, uci, False): uci for uci in ("a7b8q", "a7a8q", "e4d5", "a7b8n")}
    answers = ask_moves("order", Played([], [actions], stack([state])))[0]
    order = {actions[action]: answer for action, answer in answers.items()}
    assert sorted(order, key=order.__getitem__, reverse=True) == ["a7b8q", "e4d5", "a7a8q", "a7b8n"]


# --- keys ------------------------------------------------------------------------------------------------------------


def after(game, *moves: str, start: str | None = None):
    state = game.read_position(start) if start else game.init(jax.random.key(0))
    for uci in moves:
        state = game.step(state, to_action(game, uci, int(state.ply) % 2 == 1))
        assert int(state.ending) == 0
    return state


def key(game, state) -> tuple[int, int]:
    """By the same program, whatever else was asked."""
    low, high = ask_all(game, "hash", padded(stack([state])))[0].tolist()
    return low, high


def test_the_order_of_moves_does_not_matter_to_the_key():
    first = after(CHESS, "g1f3", "g8f6", "b1c3", "b8c6")
    second = after(CHESS, "b1c3", "b8c6", "g1f3", "g8f6")
    assert key(CHESS, first) == key(CHESS, second)
    assert key(CHESS, after(CHESS, "e2e3", "e7e6", "d2d3")) == key(CHESS, after(CHESS, "d2d3", "e7e6", "e2e3"))
    assert key(SMALL, after(SMALL, "a2a3", "a5a4", "b2b3")) == key(SMALL, after(SMALL, "b2b3", "a5a4", "a2a3"))


ROOKS = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R"


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (f"{ROOKS} w KQkq - 0 1", f"{ROOKS} w KQk - 0 1", False),
        (f"{ROOKS} w KQkq - 0 1", f"{ROOKS} b KQkq - 0 1", False),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1", False),
        ("4k3/8/8/3p4/8/8/4P3/4K3 w - d6 0 1", "4k3/8/8/3p4/8/8/4P3/4K3 w - - 0 1", True),  # no pawn can take it
        (f"{ROOKS} w - - 10 40", f"{ROOKS} w - - 35 40", True),  # far from the limit of a hundred plies
        (f"{ROOKS} w - - 10 40", f"{ROOKS} w - - 36 40", False),
        (f"{ROOKS} w - - 36 40", f"{ROOKS} w - - 37 40", False),
        (f"{ROOKS} w - - 0 40", f"{ROOKS} w - - 0 480", True),
        (f"{ROOKS} w - - 0 40", f"{ROOKS} w - - 0 481", False),  # 64 plies before the longest game ends
        (f"{ROOKS} w - - 0 481", f"{ROOKS} w - - 0 482", False),
    ],
)
def test_what_can_change_what_follows_is_in_the_key(first, second, same):
    states = CHESS.read_position(first), CHESS.read_position(second)
    assert (key(CHESS, states[0]) == key(CHESS, states[1])) == same


def test_rules_that_are_switched_off_leave_the_key_alone():
    free = make_game("chess6x6", history=1, threefold=False, fifty_moves=False, max_plies=230)
    states = [free.read_position(f"r2k1r/pppppp/6/6/PPPPPP/R2K1R w - - {clock} 40") for clock in (0, 40, 77)]
    assert len({key(free, state) for state in states}) == 1
    out_and_home = ("e1d3", "e6d4", "d3e1", "d4e6")
    assert key(free, after(free, *out_and_home)) == key(free, after(free))
    endless = make_game("chess6x6", history=1, fifty_moves=False)
    assert key(endless, after(endless, *out_and_home)) != key(endless, after(endless))


def test_positions_that_have_been_there_twice_are_in_the_key():
    home = after(CHESS)
    again = after(CHESS, "g1f3", "g8f6", "f3g1", "f6g8")
    assert key(CHESS, again) != key(CHESS, home), "the third time is a draw"
    # The same positions have been there twice, in another order.
    knights = "g1f3", "g8f6", "f3g1", "f6g8"
    others = "b1c3", "b8c6", "c3b1", "c6b8"
    first = after(CHESS, *knights, "a2a3")
    assert key(CHESS, first) == key(CHESS, after(CHESS, "a2a3")), "a pawn's move cannot be undone"
    assert key(CHESS, after(CHESS, *knights, "g1f3")) != key(CHESS, after(CHESS, *others, "g1f3"))
    start = "4k3/8/8/8/8/8/8/R3K2r w - - 0 1"
    loops = ("a1a2", "h1h2", "a2a1", "h2h1"), ("a1a3", "h1h3", "a3a1", "h3h1")
    there = after(CHESS, *loops[0], start=start), after(CHESS, *loops[1], start=start)
    assert key(CHESS, there[0]) == key(CHESS, there[1]), "what was there once does not count"


def test_keys_are_equal_just_where_nothing_that_counts_differs():
    """On random games, some of them of few pieces that move to and fro."""
    seen: dict[tuple[int, int], tuple] = {}
    known: dict[tuple, tuple[int, int]] = {}
    repeated = 0
    for game in all_played():
        since: dict[tuple, int] = {}
        keys = ask_all(CHESS, "hash", padded(game.states))[: len(game.boards)].tolist()
        for board, (low, high) in zip(game.boards, keys, strict=True):
            if board.halfmove_clock == 0:
                since = {}
            en_passant = board.ep_square if board.has_legal_en_passant() else None
            position = board.board_fen(), board.turn, board.clean_castling_rights(), en_passant
            since[position] = since.get(position, 0) + 1
            twice = frozenset(there for there, times in since.items() if times >= 2)
            repeated += bool(twice)
            clock = board.halfmove_clock if board.halfmove_clock >= 36 else 0
            everything = position, twice, clock
            assert seen.setdefault((low, high), everything) == everything
            assert known.setdefault(everything, (low, high)) == (low, high)
    assert len(seen) > 2000 and repeated > 100


def test_a_hundred_plies_back_is_out_of_sight_where_there_is_no_rule_of_fifty_moves():
    """Then all positions in sight are in the key once they begin to drop out of it."""
    game = make_game("chess6x6", history=1, fifty_moves=False)
    start = "k5/6/6/6/6/K4R w - - {} 1"
    near, far = KEYS - 64, KEYS - 65
    assert key(game, game.read_position(start.format(far))) == key(game, game.read_position(start.format(0)))
    assert key(game, game.read_position(start.format(near))) != key(game, game.read_position(start.format(0)))


def test_hooks_take_one_state_and_are_whole_numbers_of_the_declared_size():
    state = jax.eval_shape(CHESS.init, jax.random.key(0))
    for hook, action, dtype, shape in (
        ("features", [], np.float32, (len(CHESS.feature_names),)),
        ("noisy", [0], np.bool_, ()),
        ("must_answer", [], np.bool_, ()),
        ("order", [0], np.int32, ()),
        ("hash", [], np.uint32, (2,)),
    ):
        answer = jax.eval_shape(getattr(CHESS, hook), state, *action)
        assert answer.dtype == dtype and answer.shape == shape


def test_directions_are_straight_or_diagonal():
    assert sorted(STRAIGHTS + DIAGONALS) == sorted(DIRECTIONS)
    assert all(0 in way for way in STRAIGHTS) and all(0 not in way for way in DIAGONALS)
