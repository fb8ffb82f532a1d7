"""Othello: against rules written the slow and obvious way, and by hand."""

from __future__ import annotations

import functools
import itertools
import random

import jax
import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from tests.games.play import ask, ask_all, at, replay, sample_states, stack, step

slow = functools.partial(pytest.param, marks=pytest.mark.slow)
SIZES = [4, slow(6), 8]
DIRECTIONS = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]


class Reference:
    """One game, as the rules are told to a child; sides are 1 and -1, squares (row, column)."""

    def __init__(self, size: int) -> None:
        self.size, self.side = size, 1
        half = size // 2
        self.discs = {(half - 1, half): 1, (half, half - 1): 1, (half - 1, half - 1): -1, (half, half): -1}

    def enclosed(self, square: tuple[int, int], side: int) -> list[tuple[int, int]]:
        found = []
        for down, right in DIRECTIONS:
            line = [(square[0] + i * down, square[1] + i * right) for i in range(1, self.size)]
            others = list(itertools.takewhile(lambda s: self.discs.get(s) == -side, line))
            if len(others) < len(line) and self.discs.get(line[len(others)]) == side:
                found += others
        return found

    def moves(self, side: int) -> list[tuple[int, int]]:
        squares = itertools.product(range(self.size), repeat=2)
        return [square for square in squares if square not in self.discs and self.enclosed(square, side)]

    def play(self, square: tuple[int, int] | None) -> None:
        if square is not None:
            for s in [square, *self.enclosed(square, self.side)]:
                self.discs[s] = self.side
        self.side = -self.side

    def over(self) -> bool:
        return not self.moves(1) and not self.moves(-1)


@pytest.mark.parametrize(("size", "number"), [(4, 128), slow(6, 50), slow(8, 12)])
def test_random_games_go_as_the_slow_rules_say(size, number):
    game, draw = make_game("othello", size=size), random.Random(0)
    shape = (game.max_plies + 1, number)
    actions, player = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    legal, over = np.zeros((*shape, game.num_actions), bool), np.ones(shape, bool)
    score = np.zeros(shape, np.float32)
    passes = early_ends = 0
    for row in range(number):
        slow, ply = Reference(size), 0
        while not slow.over():
            moves = slow.moves(slow.side)
            numbers = [r * size + c for r, c in moves] or [size**2]
            choice = draw.randrange(len(numbers))
            legal[ply, row, numbers], actions[ply, row] = True, numbers[choice]
            player[ply, row], over[ply, row] = slow.side < 0, False
            passes += not moves
            slow.play(moves[choice] if moves else None)
            ply += 1
        score[ply:, row] = np.sign(sum(slow.discs.values()))
        early_ends += len(slow.discs) < size**2

    longest = int((~over).sum(axis=0).max()) + 1
    actions, legal, player, over, score = (x[:longest] for x in (actions, legal, player, over, score))
    seen = replay(game, stack([game.init(jax.random.key(0))] * number), actions)
    assert (seen.over == over).all()
    assert (seen.score == score).all()
    assert (seen.player == player)[~over].all()
    assert (seen.legal == legal)[~over].all()
    assert passes, "or the comparison says nothing of them"
    assert early_ends or size > 4
    assert {-1, 1} <= set(score[-1]), "both sides won"


# --- bounds ----------------------------------------------------------------------------------------------------------


def test_every_position_of_the_smallest_board_is_within_the_bounds():
    game = make_game("othello:size=4")

    @jax.jit
    def look(states):
        moves, count = jax.vmap(game.moves)(states)
        assert game.max_moves < 12, "or a slot would be missing below"
        legal = jax.vmap(game.legal)(states).sum(axis=1)
        return jax.vmap(jax.vmap(game.step, (None, 0)))(states, moves), count, legal, jax.vmap(game.over)(states)

    states, most, positions, plies = jax.tree.map(lambda x: np.asarray(x)[None], game.init(jax.random.key(0))), 0, 0, 0
    while len(states.side):
        chunks = []
        for first in range(0, len(states.side), 4096):
            part = jax.tree.map(lambda x: x[first : first + 4096], states)
            real = len(part.side)
            children, count, legal, over = jax.device_get(
                look(jax.tree.map(lambda x: np.pad(x, (0, 4096 - real), "edge"), part))
            )
            running = ~over & (np.arange(4096) < real)
            most, positions = max(most, legal[running].max(initial=0)), positions + running.sum()
            listed = (np.arange(game.max_moves) < count[:, None]) & running[:, None]
            chunks.append(jax.tree.map(lambda x: x[listed], children))
        states = jax.tree.map(lambda *x: np.concatenate(x), *chunks)
        _, first = np.unique(np.stack([states.own_lo, states.other_lo, states.side]), axis=1, return_index=True)
        states, plies = jax.tree.map(lambda x: x[first], states), plies + 1
    assert positions > 50_000
    assert most == 6 < game.max_moves, "positions that no game leads to, but a person may ask about, have more"
    assert plies - 1 <= game.max_plies


def most_open_squares(size: int) -> int:
    """The most squares on which one side may put a disc, in any position at all: an integer programme.

    A square holds an own disc, one of the other side's, or is open, or none of these. An open square has a line: discs
    of the other side in a row, then an own one. Along each of the four axes, a disc of the other side is in one row of
    its kind, whose two ends make one line or none. An own disc ends at most one line from each of eight directions.
    """
    names = itertools.count()
    squares = list(itertools.product(range(size), repeat=2))
    own, other, is_open = ({square: next(names) for square in squares} for _ in range(3))
    integers = next(names)
    at_most: dict[tuple, list[int]] = {}  # lines, of which there are no more than one for what the key ends in
    for square, (down, right) in itertools.product(squares, DIRECTIONS):
        line = [(square[0] + i * down, square[1] + i * right) for i in range(1, size)]
        line = [s for s in line if s in own]
        for end in range(1, len(line)):
            name = next(names)
            axis = max((down, right), (-down, -right))
            at_most.setdefault(("own", down, right, own[line[end]]), []).append(name)
            for passed in line[:end]:
                at_most.setdefault(("other", axis, other[passed]), []).append(name)
            at_most.setdefault(("of", is_open[square]), []).append(name)
    rows, high = [], []
    total = next(names)
    for square in squares:
        rows.append({own[square]: 1, other[square]: 1, is_open[square]: 1})
        high.append(1)
    for (kind, *_, wanted), lines in at_most.items():
        sign = -1 if kind == "of" else 1
        rows.append({wanted: -sign, **dict.fromkeys(lines, sign)})
        high.append(0)
    matrix = np.zeros((len(rows), total))
    for i, row in enumerate(rows):
        matrix[i, list(row)] = list(row.values())
    found = milp(
        -np.isin(np.arange(total), list(is_open.values())).astype(float),
        constraints=LinearConstraint(matrix, -np.inf, high),
        integrality=np.arange(total) < integers,
        bounds=Bounds(0, 1),
    )
    assert found.success
    return round(-found.fun)


@pytest.mark.parametrize("size", [4, slow(6)])
def test_no_position_of_a_smaller_board_has_more_moves_than_stated(size):
    assert most_open_squares(size) == make_game(f"othello:size={size}").max_moves


def test_a_position_with_more_moves_than_any_game_leads_to_is_refused():
    squares = "XO----------OXO--OOXOOO---OOX-X--OOXO-O---XX-XO--OOOOXO---------"
    with pytest.raises(BadInput, match="more than 33 moves"):
        make_game("othello").read_position(f"{squares} X")


# --- what a net sees, and symmetries ---------------------------------------------------------------------------------


def turned_round(position: str) -> str:
    """The same discs, the other side to move."""
    return position[:-1] + {"X": "O", "O": "X"}[position[-1]]


@pytest.mark.parametrize("size", SIZES)
def test_a_net_sees_discs_and_moves_of_both_sides(size):
    game = make_game("othello", size=size)
    states = sample_states(game, 20, 1)
    for row in range(20):
        state = at(states, row)
        cells, mover = np.array(game.view(state)["cells"]), int(game.player(state))
        other = game.read_position(turned_round(game.write_position(state)))
        moves = [ask(game, "legal", s)[:-1].reshape(size, size) for s in (state, other)]
        expected = np.stack([cells == 1 + mover, cells == 2 - mover, *moves], axis=-1)
        assert (ask(game, "observe", state) == expected).all()


@pytest.mark.parametrize("size", [4, slow(6), slow(8)])
def test_a_turned_board_is_the_same_game(size):
    """All eight symmetries, from positions of all stages: the image of a move leads to the image of what it led to."""
    game = make_game("othello", size=size)
    states, draw, symmetries = sample_states(game, 12, 1), random.Random(1), jax.jit(game.symmetries)
    observe = functools.partial(ask, game, "observe")
    for row in range(12):
        state = at(states, row)
        action = draw.choice(game.legal_actions(state))
        seen = observe(state)
        numbers = np.asarray(symmetries(seen, np.arange(game.num_actions, dtype=np.float32))[1])
        images, legal = jax.device_get(symmetries(seen, ask(game, "legal", state).astype(np.float32)))
        after = jax.device_get(
            symmetries(observe(step(game, state, action)), np.zeros(game.num_actions, np.float32))[0]
        )
        for i in range(8):
            discs = "".join("-XO"[int(own + 2 * other)] for own, other in images[i][..., :2].reshape(-1, 2))
            image = game.read_position(f"{discs} X")
            assert (observe(image) == images[i]).all()
            assert (ask(game, "legal", image) == legal[i]).all()
            moved = step(game, image, int(np.flatnonzero(numbers[i] == action)[0]))
            assert (observe(moved) == after[i]).all()


# --- what a search is told -------------------------------------------------------------------------------------------


class Counted:
    """What `features` compares, of one side in a position, the slow and obvious way."""

    def __init__(self, slow: Reference, side: int) -> None:
        self.discs = {square for square, owner in slow.discs.items() if owner == side}
        last = slow.size - 1
        squares = set(itertools.product(range(slow.size), repeat=2))
        empty = squares - slow.discs.keys()
        corners = {(0, 0), (0, last), (last, 0), (last, last)}
        self.moves = slow.moves(side)
        self.corner_moves = corners & set(self.moves)
        self.corners = corners & self.discs
        self.x_squares, self.c_squares, self.edge = set(), set(), set()
        for row, column in corners:
            down, right = (-1 if row else 1), (-1 if column else 1)
            if (row, column) in empty:
                self.x_squares |= {(row + down, column + right)} & self.discs
                self.c_squares |= {(row + down, column), (row, column + right)} & self.discs
            if (row, column) in self.discs:
                for line in (
                    [(row + i * down, column) for i in range(1, last)],
                    [(row, column + i * right) for i in range(1, last)],
                ):
                    self.edge |= set(itertools.takewhile(self.discs.__contains__, line))
        self.frontier = {(r, c) for r, c in self.discs if any((r + y, c + x) in empty for y, x in DIRECTIONS)}


@pytest.mark.parametrize("size", SIZES)
def test_features_are_what_one_counts_by_hand(size):
    game, number = make_game("othello", size=size), 60
    states, seen = sample_states(game, number, 1), np.zeros(8, bool)
    features = ask_all(game, "features", states)
    for row in range(number):
        state, slow = at(states, row), Reference(size)
        cells = np.array(game.view(state)["cells"])
        slow.discs = {(int(r), int(c)): 1 if cells[r, c] == 1 else -1 for r, c in zip(*np.nonzero(cells), strict=True)}
        mover = 1 - 2 * int(game.player(state))
        own, other = Counted(slow, mover), Counted(slow, -mover)
        leads = [
            len(mine) - len(theirs)
            for mine, theirs in (
                (own.moves, other.moves),
                (own.corner_moves, other.corner_moves),
                (own.corners, other.corners),
                (own.edge, other.edge),
                (own.x_squares, other.x_squares),
                (own.c_squares, other.c_squares),
                (own.frontier, other.frontier),
                (own.discs, other.discs),
            )
        ]
        seen |= np.array(leads) != 0
        leads[0] /= len(own.moves) + len(other.moves) + 2
        leads[7] *= (len(slow.discs) / size**2) ** 4
        assert features[row] == pytest.approx(leads, rel=1e-5)
    assert seen.all()


def test_corners_come_first_and_squares_beside_empty_corners_last():
    game = make_game("othello")
    state = game.init(jax.random.key(0))

    def order(state, *squares: str) -> list[int]:
        return [
            int(ask(game, "order", state, 8 * (int(row) - 1) + "abcdefgh".index(column))) for column, row in squares
        ]

    falling = order(state, "h8", "a4", "c4", "d2", "h7", "g7")
    assert falling == sorted(falling, reverse=True) and len(set(falling)) == 6
    assert order(state, "a1", "e1", "c3", "g4", "b1", "b2") == falling
    taken = game.read_position(f"X{'-' * 26}OX{'-' * 6}XO{'-' * 27} O")
    assert order(taken, "b1", "b2") == order(taken, "c1", "c2"), "no harm beside a corner that is taken"
    assert order(taken, "g1", "g2") == order(state, "b1", "b2")


def test_a_key_tells_discs_and_sides_apart():
    game, first = make_game("othello"), f"{'-' * 27}OX{'-' * 6}XO{'-' * 27}"
    boards = [first, *(first[:i] + disc + first[i + 1 :] for disc in "XO" for i in range(64) if first[i] == "-")]
    boards += [board.translate(str.maketrans("XO", "OX")) for board in boards]
    states = [game.read_position(f"{board} {side}") for board in boards for side in "XO"]
    keys = ask_all(game, "hash", stack(states))
    assert len(np.unique(keys, axis=0)) == len(states) == 2 * 2 * (1 + 2 * 60)


# --- for people ------------------------------------------------------------------------------------------------------


def play(moves: str, spec: str = "othello"):
    game = make_game(spec)
    state = game.init(jax.random.key(0))
    for text in moves.split():
        state = step(game, state, game.parse_action(state, text))
    return game, state


def test_row_1_is_drawn_on_top_and_discs_are_counted():
    game, state = play("d3 C3")
    lines = game.show(state).splitlines()
    assert lines[0] == "   a b c d e f g h"
    assert lines[3:6] == ["3  · · O X · · · ·", "4  · · · O X · · ·", "5  · · · X O · · ·"]
    assert lines[-1] == "Black (X) 3, White (O) 3"
    assert game.view(state)["cells"][2][2:4] == [2, 1]


def test_the_shortest_wipe_out_ends_the_game():
    game, state = play("e6 f4 e3 f6 g5 d6 e7 f5 c5")
    assert bool(game.over(state)) and float(game.score(state)) == 1
    assert game.outcome_reason(state) == "Black has 13 discs to 0"


@pytest.mark.parametrize(
    ("position", "moves", "score", "reason"),
    [
        ("XO--XOOOXXXXXXXX X", "c1 pass d1", 1, "Black has 16 discs to 0"),
        ("OX-OXXXXOOOOXXXX X", "pass c1", -1, "White has 10 discs to 6"),
        ("OOOOOOOOXXXXXXXX X", "", 0, "draw: 8 discs each"),
        ("OOOOOOOOOXXXXXXX O", "", -1, "White has 9 discs to 7"),
    ],
)
def test_most_discs_win_whoever_moved_last(position, moves, score, reason):
    game = make_game("othello:size=4")
    state = game.read_position(position)
    for text in moves.split():
        state = step(game, state, game.parse_action(state, text))
    assert bool(game.over(state))
    assert float(game.score(state)) == score
    assert game.outcome_reason(state) == reason


@pytest.mark.parametrize("size", SIZES)
def test_a_position_reads_back_from_its_text(size):
    game = make_game("othello", size=size)
    states = sample_states(game, 10, 1)
    for row in range(10):
        state = at(states, row)
        again = game.read_position(f" {game.write_position(state).lower()}\n")
        for a, b in zip(state, again, strict=True):
            assert a.dtype == b.dtype and a == b


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "16 squares"),
        ("----------------", "X or O"),
        ("-----XO--OX----- Z", "X or O"),
        ("-----XO--OX---- X", "16 squares"),
        ("-----XO--OX--*-- X", "X, O or -"),
        ("-----XO---X----- X", "middle"),
    ],
)
def test_a_text_that_is_no_position_is_told_what_one_looks_like(text, said):
    with pytest.raises(BadInput) as caught:
        make_game("othello:size=4").read_position(text)
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [0, 2, 3, 5, 7, 9, 10, -8])
def test_a_size_that_is_not_offered_is_told_which_are(size):
    with pytest.raises(BadInput, match="4, 6, 8"):
        make_game("othello", size=size)
