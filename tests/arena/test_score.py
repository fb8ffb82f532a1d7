"""Solved positions: what is stored is true by other programs' word, and agents are held against it rightly."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import bitbully
import chess
import jax
import jax.numpy as jnp
import numpy as np
import pyspiel
import pytest

from beamzero.arena.score import Scored, Share, score, share_interval
from beamzero.arena.truth import (
    ILLEGAL,
    NO_ACTION,
    Truth,
    folder,
    games_with_truth,
    load_truth,
    read_puzzles,
    read_stored,
)
from beamzero.core.compiler import CompilationCount
from beamzero.core.errors import BadInput
from beamzero.games import Game, make_game
from beamzero.players import Player, make_player
from beamzero.plots.measures import draw_scores
from beamzero.plots.style import write_png
from tests.games.sowing_by_hand import KalahByHand
from tests.solvers.test_endgame import result_by_hand

SOLVED = ("connect_four", "kalah", "othello", "tic_tac_toe")
TIC_TAC_TOE = make_game("tic_tac_toe")


@functools.cache
def truth_of(name: str, positions: int | None = None) -> Truth:
    return load_truth(make_game(name), positions)


@functools.cache
def stored(name: str) -> list[tuple[list[int], dict[int, int], str]]:
    """List for each position the moves that lead to it, the values of its legal moves, and its class."""
    found = read_stored(folder() / f"{name}.npz")
    return [
        (
            moves[moves != NO_ACTION].tolist(),
            {action: value for action, value in enumerate(values.tolist()) if value != ILLEGAL},
            found.classes[label],
        )
        for moves, values, label in zip(found.moves, found.values, found.labels)
    ]


def some(name: str, number: int, label: str | None = None) -> list[tuple[list[int], dict[int, int], str]]:
    rows = [row for row in stored(name) if label in (None, row[2])]
    return [rows[i] for i in np.random.default_rng(0).choice(len(rows), number, replace=False)]


# --- the positions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOLVED)
def test_positions_are_different_and_have_the_moves_that_are_legal(name):
    game, truth = make_game(name), truth_of(name)
    legal, over = jax.jit(lambda states: (jax.vmap(game.legal)(states), jax.vmap(game.over)(states)))(truth.states)
    assert not over.any()
    assert ((truth.values != ILLEGAL) == legal).all()
    leaves = [np.asarray(leaf).reshape(len(truth), -1) for leaf in truth.states]
    assert len(np.unique(np.concatenate(leaves, axis=1), axis=0)) == len(truth)


@pytest.mark.parametrize(
    ("name", "classes", "each"),
    [
        (
            "connect_four",
            ["end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard"],
            1000,
        ),
        ("othello", [f"{empties} empties" for empties in range(8, 13)], 200),
        ("kalah", [f"{seeds} seeds" for seeds in (12, 16, 20, 24)], 200),
    ],
)
def test_every_class_is_full_and_its_moves_differ(name, classes, each):
    rows = stored(name)
    assert [label for _, _, label in rows] == [label for label in classes for _ in range(each)]
    assert all(len({np.sign(value) for value in values.values()}) > 1 for _, values, _ in rows)


@pytest.mark.slow
def test_connect_four_is_as_its_solver_says():
    solver = bitbully.BitBully()
    for moves, values, label in some("connect_four", 40):
        board = bitbully.Board(moves)
        assert solver.score_all_moves(board) == values
        best = max(values.values())
        left = solver.score_to_moves_left(best, board) if best else 42 - len(moves)
        phase = "begin" if len(moves) <= 14 else "middle" if len(moves) <= 28 else "end"
        assert label == f"{phase}-{'easy' if left < 14 else 'medium' if left <= 28 else 'hard'}"


def test_tic_tac_toe_is_whole_and_as_brute_force_says():
    lines = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]

    @functools.cache
    def move_values(own: frozenset[int], other: frozenset[int]) -> dict[int, int]:
        """Give the value of each move; none where the game is over."""
        if len(own | other) == 9 or any(line <= other for line in lines):
            return {}
        return {square: -value(other, own | {square}) for square in range(9) if square not in own | other}

    def value(own: frozenset[int], other: frozenset[int]) -> int:
        if any(line <= other for line in lines):
            return -1
        return max(move_values(own, other).values(), default=0)

    seen = set()
    for moves, values, label in stored("tic_tac_toe"):
        own, other = frozenset(moves[len(moves) % 2 :: 2]), frozenset(moves[1 - len(moves) % 2 :: 2])
        assert values == move_values(own, other)
        assert label == ("begin" if len(moves) <= 2 else "middle" if len(moves) <= 5 else "end")
        seen.add((own, other))
    assert len(seen) == len(stored("tic_tac_toe")) == 5478 - 958, "all that can be reached, less those that are over"


def test_endgames_of_othello_are_as_a_plain_search_with_other_rules_says():
    def value(state: Any, alpha: int = -1, beta: int = 1) -> int:
        """For the side to move: plain alpha-beta."""
        side = state.current_player()
        for action in state.legal_actions():
            child = state.child(action)
            alpha = max(alpha, int(child.returns()[side]) if child.is_terminal() else -value(child, -beta, -alpha))
            if alpha >= beta:
                break
        return alpha

    for moves, values, label in some("othello", 30, "8 empties"):
        state = pyspiel.load_game("othello").new_initial_state()
        for action in moves:
            state.apply_action(action)
        assert f"{str(state).count('-')} empties" == label
        side, children = state.current_player(), {action: state.child(action) for action in state.legal_actions()}
        assert values == {
            action: int(child.returns()[side]) if child.is_terminal() else -value(child)
            for action, child in children.items()
        }


@pytest.mark.slow
def test_endgames_of_kalah_are_as_a_plain_search_by_other_rules_says():
    known: dict[tuple[int, ...], int] = {}
    for moves, values, label in some("kalah", 2, "12 seeds"):
        game = KalahByHand()
        for house in moves:
            game.play(house)
        assert f"{sum(map(sum, game.houses))} seeds" == label
        found = {}
        for house in game.legal():
            after = game.copy()
            after.play(house)
            found[house] = int(np.sign(result_by_hand(after, known))) * (1 - 2 * game.side)
        assert values == found


def mates(board: chess.Board, moves: int) -> bool:
    """Whether the side to move mates in so many moves at most, whatever the other side does."""
    return any(is_right(board, move, moves) for move in board.legal_moves)


def is_right(board: chess.Board, move: chess.Move, moves: int) -> bool:
    """Whether `move` mates in so many moves at most, itself counted."""
    board.push(move)
    try:
        if board.is_checkmate():
            return True
        if moves == 1 or board.is_game_over():
            return False
        return all(escapes(board, reply, moves - 1) for reply in board.legal_moves)
    finally:
        board.pop()


def escapes(board: chess.Board, reply: chess.Move, moves: int) -> bool:
    """Whether the reply does not help: the side that moves after it still mates."""
    board.push(reply)
    try:
        return mates(board, moves)
    finally:
        board.pop()


def test_mates_of_chess_are_mates_and_no_other_move_is_as_quick():
    puzzles = read_puzzles(folder() / "chess.txt")
    labels = [f"mate in {moves}" for moves in (2, 3)]
    assert [puzzle.label for puzzle in puzzles] == [label for label in labels for _ in range(200)]
    for puzzle in puzzles[3:200:10]:
        board = chess.Board(puzzle.position)
        right = {move.uci() for move in board.legal_moves if is_right(board, move, 2)}
        assert right == set(puzzle.right) and not mates(board, 1)


@pytest.mark.slow
def test_puzzles_have_moves_that_are_legal_in_our_rules():
    truth = truth_of("chess6x6", 2)
    assert truth.puzzles and truth.classes == ("mate in 2", "mate in 3") and truth.labels.tolist() == [0, 0, 1, 1]
    assert set(np.unique(truth.values)) == {ILLEGAL, 0, 1}


def test_a_game_without_truth_is_told_which_have_it():
    assert games_with_truth() == ["chess", "chess6x6", "connect_four", "kalah", "othello", "tic_tac_toe"]
    known = "chess, chess6x6, connect_four, kalah, othello, tic_tac_toe"
    with pytest.raises(BadInput, match=f"^no positions of checkers are solved, only those of {known}$"):
        load_truth(make_game("checkers"))
    with pytest.raises(BadInput, match=r"^no positions of kalah:seeds=4 are solved"):
        load_truth(make_game("kalah:seeds=4"))


# --- the score -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Told(Player):
    """Plays the moves that it is told, by positions."""

    name: str
    game: Game
    moves: dict[bytes, int]
    deterministic: bool = True

    def think_batch(self, states, key):
        raise NotImplementedError

    def choose(self, states, mask, key):
        rows = [b"".join(np.asarray(leaf[row]).tobytes() for leaf in states) for row in range(mask.shape[0])]
        return jnp.array([self.moves[row] for row in rows], jnp.int32)


def told(truth: Truth, best: bool) -> Told:
    values = truth.values.astype(int)
    moves = values.argmax(axis=1) if best else np.where(values == ILLEGAL, 99, values).argmin(axis=1)
    marks = [b"".join(np.asarray(leaf[row]).tobytes() for leaf in truth.states) for row in range(len(truth))]
    return Told("told", TIC_TAC_TOE, dict(zip(marks, moves.tolist())))


def test_the_best_moves_are_no_errors_and_the_worst_are_all_that_can_be():
    truth = truth_of("tic_tac_toe", 30)
    assert (len(truth), truth.labels.tolist()) == (90, [0] * 30 + [1] * 30 + [2] * 30)
    best, worst = score(truth, told(truth, True)), score(truth, told(truth, False))
    assert best.all == Share(90, 0) and set(best.losses.values()) == {0}
    signs = [np.unique(np.sign(row[row != ILLEGAL])) for row in truth.values]
    assert worst.all.errors == sum(len(row) > 1 for row in signs) == sum(worst.losses.values())
    assert worst.losses["win to loss"] == sum(row[0] == -1 and row[-1] == 1 for row in signs)
    assert [share.positions for share in worst.classes.values()] == [30, 30, 30]


@pytest.mark.slow
def test_perfect_play_never_errs():
    found = score(truth_of("tic_tac_toe"), make_player("alphabeta:depth=9", TIC_TAC_TOE))
    assert found.all == Share(4520, 0) and found.milliseconds > 0


def test_random_play_errs_as_often_as_moves_are_wrong():
    truth = truth_of("tic_tac_toe")
    legal, signs = truth.values != ILLEGAL, np.sign(truth.values.astype(int))
    best = np.where(legal, signs, -1).max(axis=1, keepdims=True)
    wrong = ((signs < best) & legal).sum(axis=1) / legal.sum(axis=1)
    found = score(truth, make_player("random", TIC_TAC_TOE))
    assert found.all.interval.low < wrong.mean() < found.all.interval.high
    assert found == dataclasses.replace(
        score(truth, make_player("random", TIC_TAC_TOE)), milliseconds=found.milliseconds
    )


def test_nothing_compiles_once_the_first_positions_are_looked_at():
    truth, compiled, told = truth_of("tic_tac_toe"), [], []
    player = make_player("lookahead:1", TIC_TAC_TOE)
    with CompilationCount() as count:
        found = score(truth, player, progress=lambda d, n: (compiled.append(count.number), told.append((d, n))))
        compiled.append(count.number)
    assert compiled[0] > 0 and len(compiled) > 10 and set(compiled[2:]) == {compiled[1]}
    assert told == sorted(told) and told[0] == (0, len(truth))
    assert 0 < found.all.rate < 0.42


def test_a_share_is_within_its_interval_which_has_the_known_ends():
    for errors in range(0, 201, 8):
        low, high = share_interval(errors, 200)
        assert 0 <= low <= errors / 200 <= high <= 1
        assert (1 - high, 1 - low) == pytest.approx(share_interval(200 - errors, 200))
    assert share_interval(0, 200) == pytest.approx((0, 1 - 0.025 ** (1 / 200)))
    assert share_interval(10, 100) == pytest.approx((0.0490, 0.1762), abs=1e-4)


@pytest.mark.slow
def test_agents_with_and_without_errors_are_drawn(tmp_path):
    scores = [Scored(f"a${n}", {"all": Share(100, n)}, {}, 10.0**n) for n in (0, 1, 2)]
    write_png(draw_scores(scores, "errors"), tmp_path / "scores.png")
    assert (tmp_path / "scores.png").read_bytes().startswith(b"\x89PNG")
