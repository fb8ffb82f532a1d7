"""Games that are known to the end: what the search promises is true, and is reached or beaten against any opponent."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import bitbully
import jax
import numpy as np
import pytest

from beamzero.games import Game, State, make_game
from beamzero.games.kalah import KalahState
from beamzero.games.tic_tac_toe import TicTacToeState
from beamzero.search.alphabeta.alphabeta import AlphaBeta, Found
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.mcts.mcts import MCTS
from tests.games.sowing_by_hand import KalahByHand
from tests.search.plain import MILLION, WON, random_positions, rows, solve

KEY = jax.random.key(0)
OPTIMIZED = {"xla_backend_optimization_level": 2}
"""For a program that runs so long that it pays."""


def find(search: AlphaBeta, game: Game, states: State) -> Found:
    return jax.device_get(solve(search, game, zero_evaluator(game), states, KEY)[0])


def later(worth: int) -> int:
    """What is worth so much after a ply, before it."""
    return worth - (worth > MILLION) + (worth < -MILLION)


# --- tic-tac-toe, whole ----------------------------------------------------------------------------------------------

LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]
Squares = frozenset[int]


@functools.cache
def tic_tac_toe(own: Squares, other: Squares) -> int:
    """What a position is worth for the side to move, which has the squares `own`."""
    if any(line <= other for line in LINES):
        return -WON
    free = set(range(9)) - own - other
    return max((later(-tic_tac_toe(other, own | {square})) for square in free), default=0)


def all_positions() -> list[tuple[Squares, Squares]]:
    """The squares of the side to move and of the other one, in every position that is not over."""
    found, new = set(), {(frozenset[int](), frozenset[int]())}
    while new:
        found |= new
        after = {(other, own | {s}) for own, other in new for s in set(range(9)) - own - other}
        new = {(own, o) for own, o in after if len(own | o) < 9 and not any(line <= o for line in LINES)}
    return sorted(found, key=lambda position: sorted(map(sorted, position)))


def as_bits(squares: Squares) -> int:
    return sum(1 << square for square in squares)


def as_states(positions: list[tuple[Squares, Squares]]) -> TicTacToeState:
    sides = [(own, other) if len(own) == len(other) else (other, own) for own, other in positions]
    stones = np.array([[as_bits(first), as_bits(second)] for first, second in sides], np.uint16)
    return TicTacToeState(stones, np.zeros(len(stones), np.int8))


def one_of_each_kind() -> list[tuple[Squares, Squares]]:
    """Of positions that are each other's mirror images or rotations, one."""
    turns = [lambda r, c: (r, c), lambda r, c: (c, 2 - r), lambda r, c: (2 - r, 2 - c), lambda r, c: (2 - c, r)]
    squares = [[3 * r + c for square in range(9) for r, c in [turn(*divmod(square, 3))]] for turn in turns]
    squares += [[square[3 * (i // 3) + 2 - i % 3] for i in range(9)] for square in squares]

    def alike(position: tuple[Squares, Squares]) -> tuple:
        return min(tuple(tuple(sorted(square[i] for i in side)) for side in position) for square in squares)

    positions = list({alike(position): position for position in all_positions()}.values())
    assert len(positions) == 627, "known: 765 up to symmetry, of which 138 are over"
    return positions


def after_each_move(own: Squares, other: Squares) -> dict[int, int]:
    """What the moves of a position are worth."""
    return {move: later(-tic_tac_toe(other, own | {move})) for move in sorted(set(range(9)) - own - other)}


def test_tic_tac_toe_is_solved_whole():
    positions = all_positions()
    assert len(positions) == 4520, "known: 5,478 positions, of which 958 are over"
    found = find(AlphaBeta(9), make_game("tic_tac_toe"), as_states(positions))
    assert found.score.tolist() == [tic_tac_toe(*position) for position in positions]
    assert (found.complete | (np.abs(found.score) > MILLION)).all(), "every value is proven"
    assert not any(positions[0]) and (found.score[0], bool(found.complete[0]), found.depth[0]) == (0, True, 9)
    assert len(found.line[0][found.line[0] >= 0]) == 9, "the whole game is a draw"


@pytest.mark.slow
def test_every_move_of_tic_tac_toe_is_solved():
    positions = one_of_each_kind()
    search = AlphaBeta(9, order=False, entries=16, every_move=True)
    found = find(search, make_game("tic_tac_toe"), as_states(positions))
    assert found.score.tolist() == [tic_tac_toe(*position) for position in positions]
    for position, worths in zip(positions, found.moves.tolist()):
        known = after_each_move(*position)
        assert worths[: len(known)] == list(known.values())


@pytest.mark.slow
def test_simulations_alone_find_a_best_move_in_every_position_of_tic_tac_toe():
    """Without a net: all moves look alike, and a position is worth what the ends that were met there say.

    Where all moves are equally good, nothing can be missed.
    """
    results = {
        position: {move: int(np.sign(worth // MILLION)) for move, worth in after_each_move(*position).items()}
        for position in one_of_each_kind()
    }
    positions = [position for position, moves in results.items() if len(set(moves.values())) > 1]
    game, search = make_game("tic_tac_toe"), MCTS(2000)
    play = jax.jit(lambda states: search(game, zero_evaluator(game), states, KEY).action, compiler_options=OPTIMIZED)
    moves = play(as_states(positions))
    missed = [
        (position, move)
        for position, move in zip(positions, np.asarray(moves).tolist(), strict=True)
        if results[position][move] < max(results[position].values())
    ]
    assert len(positions) > 300 and missed == []


# --- small boards of Kalah -------------------------------------------------------------------------------------------


class KalahSolved:
    """Brute force over the rules as they are played by hand."""

    def __init__(self) -> None:
        self.worth: dict[tuple[int, ...], int] = {}

    def solve(self, board: KalahByHand) -> int:
        place = tuple(board.position())
        if place not in self.worth:
            self.worth[place] = max(self.after(board, house) for house in board.legal())
        return self.worth[place]

    def after(self, board: KalahByHand, house: int) -> int:
        """What a move is worth to the side that makes it."""
        after, sign = board.copy(), 1 - 2 * board.side
        after.play(house)
        if after.over():
            return later(after.score() * sign * WON)
        return later(self.solve(after) * (1 if after.side == board.side else -1))


def kalah_states(positions: list[tuple[int, ...]], houses: int) -> KalahState:
    pits = []
    for side, *seeds in positions:
        first, second, stores = seeds[:houses], seeds[houses : 2 * houses], seeds[2 * houses :]
        pits.append([[*first, stores[0]], [*second, stores[1]]][:: -1 if side else 1])
    return KalahState(np.array(pits, np.uint8), np.array([side for side, *_ in positions], np.uint8))


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param("houses=2,seeds=3", marks=pytest.mark.slow),
        "houses=3,seeds=2",
        pytest.param("houses=3,seeds=2,empty_capture=true", marks=pytest.mark.slow),
    ],
)
def test_small_boards_of_kalah_are_solved(spec):
    game = make_game(f"kalah:{spec}")
    solved = KalahSolved()
    solved.solve(KalahByHand(game.houses, game.seeds, game.empty_capture))
    positions = random.Random(0).sample(sorted(solved.worth), min(300, len(solved.worth)))
    found = find(AlphaBeta(48, entries=2**10), game, kalah_states(positions, game.houses))
    assert found.score.tolist() == [solved.worth[position] for position in positions]
    assert len({int(np.sign(worth)) for worth in found.score}) == 3, "some are won, some drawn, some lost"
    assert (found.complete | (np.abs(found.score) > MILLION)).all()


# --- against any opponent --------------------------------------------------------------------------------------------


class Line(NamedTuple):
    root: int
    plies: int
    state: State


def same_size(function: Callable[[State], Any], states: list[State], size: int = 64) -> Iterator[Any]:
    """The answers of a compiled function of many states to any number of them, one by one."""
    for start in range(0, len(states), size):
        some = states[start : start + size]
        padded = jax.tree.map(lambda *x: np.stack(x), *some, *[some[-1]] * (size - len(some)))
        answers = jax.device_get(function(padded))
        yield from (rows(answers, i) for i in range(len(some)))


def roots_of(game: Game, number: int) -> list[State]:
    """The first position, and random ones."""
    some = random_positions(game, number, seed=1)
    return [jax.device_get(jax.jit(game.init)(KEY)), *(rows(some, i) for i in range(number))]


@functools.partial(jax.jit, static_argnums=0)
def facts_of(game: Game, states: State) -> Any:
    return jax.vmap(lambda s: (game.player(s), game.over(s), game.score(s), game.legal(s)))(states)


@functools.partial(jax.jit, static_argnums=0)
def step_all(game: Game, states: State, actions: Any) -> State:
    return jax.vmap(game.step)(states, actions)


@pytest.mark.slow
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four:rows=4,columns=3,length=3", "kalah:houses=3,seeds=2"])
def test_what_is_promised_is_reached_or_beaten_against_any_opponent(name, side):
    """Every reply of the other side is tried. A win comes no later than promised, a loss no sooner."""
    game = make_game(name)
    choose = functools.partial(solve, AlphaBeta(48, entries=2**12), game, zero_evaluator(game), key=KEY)
    facts = functools.partial(facts_of, game)

    roots = roots_of(game, 9)
    promised = [
        int(found.score) * (1 if player == side else -1)
        for (found, _), (player, *_) in zip(same_size(choose, roots), same_size(facts, roots), strict=True)
    ]
    lines = [Line(root, 0, state) for root, state in enumerate(roots)]
    ended = 0
    while lines:
        going = []
        for line, (player, over, score, legal) in zip(lines, same_size(facts, [line.state for line in lines])):
            if over:
                worth = int(score) * (1 - 2 * side) * (WON - line.plies)
                assert worth >= promised[line.root]
                ended += 1
            else:
                going.append((line, player == side, np.flatnonzero(legal).tolist()))
        ours = [line.state for line, is_ours, _ in going if is_ours]
        answers = iter([int(result.action) for _, result in same_size(choose, ours)])
        moves = [(line, [next(answers)] if is_ours else legal) for line, is_ours, legal in going]
        pairs = [(line, np.int32(action)) for line, actions in moves for action in actions]
        after = same_size(lambda pair: step_all(game, *pair), [(line.state, action) for line, action in pairs])
        made = {}
        for (line, _), state in zip(pairs, after):
            made[line.root, *(leaf.tobytes() for leaf in state)] = Line(line.root, line.plies + 1, state)
        lines = list(made.values())
    assert ended > len(roots)
    assert {np.sign(worth) for worth in promised} >= {1, -1}, "some roots are won, some lost"


# --- Connect Four, against a program that solves it ------------------------------------------------------------------


def drop(seed: int, stones: int) -> list[int] | None:
    """The columns of a random game of so many stones; None where it is over before."""
    draw, board, moves = random.Random(seed), bitbully.Board(), []
    for _ in range(stones):
        column = draw.choice([c for c in range(7) if board.is_legal_move(c)])
        board.play(column)
        moves.append(column)
        if board.is_game_over():
            return None
    return moves


def openings(number: int, low: int, high: int) -> list[list[int]]:
    games = (drop(seed, low + seed % (high - low + 1)) for seed in itertools.count())
    return list(itertools.islice(filter(None, games), number))


def after_moves(game: Game, games: list[list[int]]) -> State:
    step, first = jax.jit(game.step), jax.jit(game.init)(KEY)
    states = [functools.reduce(step, map(np.int32, moves), first) for moves in games]
    return jax.tree.map(lambda *x: np.stack(x), *states)


@functools.cache
def solver() -> bitbully.BitBully:
    return bitbully.BitBully()


def known_worth(score: int, board: bitbully.Board) -> int:
    """A score of the solver's for the side to move."""
    return int(np.sign(score)) * (WON - solver().score_to_moves_left(score, board))


@pytest.mark.slow
def test_late_positions_of_connect_four_are_solved():
    """Every column: won, drawn or lost, and when."""
    game, games = make_game("connect_four"), openings(80, 30, 40)
    found = find(AlphaBeta(12, entries=2**14, every_move=True), game, after_moves(game, games))
    assert found.complete.all()
    for moves, worth, worths in zip(games, found.score.tolist(), found.moves.tolist()):
        board = bitbully.Board(moves)
        scores = solver().score_all_moves(board)
        known = [known_worth(scores[column], board) for column in sorted(scores)]
        assert worths[: len(known)] == known
        assert worth == max(known)
    assert len(set(np.sign(found.score))) == 3


@pytest.mark.slow
def test_what_is_decided_within_the_depth_is_found_in_connect_four_and_nothing_else():
    game, games, depth = make_game("connect_four"), openings(60, 12, 24), 8
    found = find(AlphaBeta(depth, entries=2**14), game, after_moves(game, games))
    decided = 0
    for moves, worth in zip(games, found.score.tolist()):
        board = bitbully.Board(moves)
        score = solver().mtdf(board)
        near = score != 0 and solver().score_to_moves_left(score, board) <= depth
        assert worth == (known_worth(score, board) if near else 0)
        decided += near
    assert 12 < decided < 48
