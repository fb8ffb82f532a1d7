"""What tic-tac-toe and Connect Four tell a search: lines counted the slow and obvious way, and the order of moves."""

from __future__ import annotations

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from beamzero.games import Game, State, make_game
from beamzero.games.connect_four.open_lines import OpenLines, Words
from tests.games.play import ask, ask_all, at, sample_states
from tests.games.play import play as random_play
from tests.games.test_grids import play

slow = functools.partial(pytest.param, marks=pytest.mark.slow)
SPECS = [
    "connect_four",
    "connect_four:rows=4,columns=5,length=3",
    slow("connect_four:rows=9,columns=4"),
    slow("connect_four:rows=3,columns=10,length=9"),
    slow("connect_four:rows=3,columns=6,length=2"),
    slow("connect_four:rows=16,columns=16,length=5"),
]
Square = tuple[int, int]


def lines(rows: int, columns: int, length: int) -> list[list[Square]]:
    """All lines that fit on the board."""
    found = []
    for row, column, (up, on) in itertools.product(range(rows), range(columns), [(1, 0), (0, 1), (1, 1), (-1, 1)]):
        line = [(row + i * up, column + i * on) for i in range(length)]
        if 0 <= line[-1][0] < rows and line[-1][1] < columns:
            found.append(line)
    return found


def stones_and_gaps(cells: np.ndarray, side: int, line: list[Square]) -> tuple[int, list[Square]]:
    """How many stones `side` has in the line, and its empty squares."""
    return sum(cells[square] == 1 + side for square in line), [square for square in line if cells[square] == 0]


# --- Connect Four ----------------------------------------------------------------------------------------------------


def threats(game, cells: np.ndarray, side: int) -> set[Square]:
    found = [stones_and_gaps(cells, side, line) for line in lines(game.rows, game.columns, game.length)]
    return {gaps[0] for stones, gaps in found if len(gaps) == 1 and stones == game.length - 1}


def lines_that_lack_two(game, cells: np.ndarray, side: int) -> int:
    found = [stones_and_gaps(cells, side, line) for line in lines(game.rows, game.columns, game.length)]
    return sum(len(gaps) == 2 and stones == game.length - 2 for stones, gaps in found)


def counted(game, cells: np.ndarray, side: int) -> list[int]:
    """Threats, those in time, lines that lack two stones, stones in the middle."""
    found = threats(game, cells, side)
    elsewhere = game.rows * (game.columns - 1)  # stones on the board when there is one empty column left
    middle = {(game.columns - 1) // 2, game.columns // 2}
    return [
        len(found),
        sum((elsewhere + row) % 2 == side for row, _ in found),
        lines_that_lack_two(game, cells, side),
        sum(int((cells[:, column] == 1 + side).sum()) for column in middle),
    ]


def features_of(game: Game, states: State) -> np.ndarray:
    return ask_all(game, "features", states)


@functools.partial(jax.jit, static_argnums=0)
def winning_moves(game: Game, states: State) -> Array:
    """int32 [N]: how many moves win at once, by playing them all."""

    def wins(state: State, action: Array) -> Array:
        mine = 1 - 2 * game.player(state).astype(jnp.float32)
        return game.legal(state)[action] & (game.score(game.step(state, action)) == mine)

    won = jax.vmap(jax.vmap(wins, (None, 0)), (0, None))(states, jnp.arange(game.num_actions, dtype=jnp.int32))
    return jnp.sum(won, axis=1, dtype=jnp.int32)


def some_states(game: Game) -> State:
    """On a large board it takes long to count lines by hand, and on one with short lines there are few states."""
    return sample_states(game, 30 if game.length == 2 or game.rows == 16 else 60, 1)


@pytest.mark.parametrize("spec", SPECS)
def test_lines_are_counted_as_by_hand(spec):
    game = make_game(spec)
    states, seen = some_states(game), np.zeros(4, bool)
    found = features_of(game, states)
    for row in range(len(found)):
        state = at(states, row)
        cells, mover = np.array(game.view(state)["cells"]), int(game.player(state))
        mine, theirs = (np.array(counted(game, cells, side)) for side in (mover, 1 - mover))
        assert found[row, 1:].tolist() == (mine - theirs).tolist()
        seen |= (mine > 0) & (theirs > 0)
    assert seen.all() or game.length != 4, "or the comparison says nothing"


@pytest.mark.parametrize("spec", SPECS)
def test_a_win_is_at_hand_where_a_move_wins_and_a_loss_where_two_threaten(spec):
    """By playing: a move of the mover's that wins; else, two columns in which the other side would win."""
    game = make_game(spec)
    states = some_states(game)
    passed = states._replace(stones=states.stones[:, ::-1])  # the mover has the other side's stones now
    wins, threats = (np.asarray(winning_moves(game, some)) for some in (states, passed))
    expected = np.where(wins > 0, 1, np.where(threats > 1, -1, 0))
    assert (features_of(game, states)[:, 0] == expected).all()


def test_known_threats_of_connect_four():
    game, state = play("connect_four", "b a c a d")
    features = dict(zip(game.feature_names, ask(game, "features", state).tolist(), strict=True))
    assert features["win at hand"] == 0, "one threat can be met"
    assert features["threats"] == features["threats in time"] == -1, "e1 falls to X, who moves first"
    game, state = play("connect_four", "c a d a e")
    assert ask(game, "features", state)[0] == -1, "b1 and f1 cannot both be met"
    game, state = play("connect_four", "c a d a e g")
    assert ask(game, "features", state)[0] == 1


@pytest.mark.parametrize(("columns", "expected"), [(7, "dcebfag"), (4, "bcad"), (2, "ab")])
def test_the_middle_column_comes_first(columns, expected):
    game, state = play(f"connect_four:columns={columns}", "")
    order = [int(ask(game, "order", state, action)) for action in range(columns)]
    assert "".join("abcdefg"[a] for a in sorted(range(columns), key=lambda a: -order[a])) == expected


@pytest.mark.parametrize("spec", ["tic_tac_toe", *SPECS])
def test_boards_have_the_same_key_only_if_they_are_the_same(spec):
    game = make_game(spec)
    games = random_play(game)
    states = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), games.states)
    keys, boards = ask_all(game, "hash", states), states.stones.reshape(len(states.stones), -1)
    pairs = np.concatenate([keys.astype(np.int64), boards.astype(np.int64)], axis=1)
    number = len(np.unique(pairs, axis=0))
    assert number == len(np.unique(keys, axis=0)) == len(np.unique(boards, axis=0)) > 50


# --- sets of squares -------------------------------------------------------------------------------------------------


def as_number(words: Words) -> int:
    return sum(int(word) << 32 * i for i, word in enumerate(words))


@pytest.mark.parametrize(("rows", "columns"), [(6, 7), (10, 3), (9, 4), (15, 2), (16, 16)])
def test_a_set_of_squares_is_one_long_number(rows, columns):
    board, draw = OpenLines(rows, columns, 2), np.random.default_rng(0)
    stones = draw.integers(0, 2 ** (rows + 1), columns, np.uint32)  # spare bits too
    words = board.pack(jnp.asarray(stones))
    number = sum(int(column) << i * (rows + 1) for i, column in enumerate(stones))
    assert as_number(words) == number
    assert words.number() == number.bit_count()
    assert as_number(board.pack(jnp.full(columns, 2**rows, jnp.uint32))) == sum(
        1 << i * (rows + 1) + rows for i in range(columns)
    )
    for by in (0, 1, -1, rows, -rows, 31, -31, 32, -32, 33, -33, 70, -70):
        moved = number << by if by > 0 else number >> -by
        assert as_number(words.shift(by)) == moved % 2 ** (32 * len(words))
    chosen = board.squares(lambda row, column: row == 1 and column != 1)
    assert as_number(chosen) == sum(1 << i * (rows + 1) + 1 for i in range(columns) if i != 1)
    assert as_number(words & chosen) | as_number(words - chosen) == number
    assert as_number(words | chosen) == number | as_number(chosen)


# --- tic-tac-toe -----------------------------------------------------------------------------------------------------


def test_lines_of_tic_tac_toe_are_counted_as_by_hand():
    game = make_game("tic_tac_toe")
    states = sample_states(game, 80, 1)
    found = features_of(game, states)
    for row in range(80):
        state = at(states, row)
        cells, mover = np.array(game.view(state)["cells"]), int(game.player(state))
        expected = [0, 0]
        for sign, side in ((1, mover), (-1, 1 - mover)):
            for stones, gaps in (stones_and_gaps(cells, side, line) for line in lines(3, 3, 3)):
                expected[0] += sign * (stones == 2 and len(gaps) == 1)
                expected[1] += sign * (stones == 1 and len(gaps) == 2)
        assert found[row].tolist() == expected


def test_the_centre_comes_before_corners_and_these_before_edges():
    game, state = play("tic_tac_toe", "")
    assert [int(ask(game, "order", state, action)) for action in range(9)] == [1, 0, 1, 0, 2, 0, 1, 0, 1]
