"""What the games on a grid of squares show: to people, to the web page, and to a net."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from beamzero.games import make_game
from tests.games.play import ask, at, sample_states, step

SPECS = ["tic_tac_toe", "connect_four", "connect_four:rows=9,columns=4"]


def play(name: str, moves: str):
    """The game and its state after the moves, named as people name them."""
    game = make_game(name)
    state = game.init(jax.random.key(0))
    for text in moves.split():
        state = step(game, state, game.parse_action(state, text))
    return game, state


@pytest.mark.parametrize("spec", SPECS)
def test_a_net_sees_the_mover_s_stones_and_then_the_other_side_s(spec):
    game = make_game(spec)
    states = sample_states(game, 20, 1)
    for row in range(20):
        state = at(states, row)
        cells, mover = np.array(game.view(state)["cells"]), int(game.player(state))
        expected = np.stack([cells == 1 + mover, cells == 2 - mover], axis=-1)
        assert (ask(game, "observe", state) == expected).all()


@pytest.mark.parametrize("spec", SPECS)
def test_the_drawing_and_the_view_are_one_board(spec):
    game = make_game(spec)
    states = sample_states(game, 5, 1)
    for row in range(5):
        view = game.view(at(states, row))
        *drawn, letters = game.show(at(states, row)).splitlines()
        rows = [[" ·XO".index(stone) - 1 for stone in line.split()[1:]] for line in reversed(drawn)]
        assert rows == view["cells"]
        assert [int(line.split()[0]) for line in reversed(drawn)] == list(range(1, view["rows"] + 1))
        assert letters.split() == list("abcdefghijklmnop"[: view["columns"]])


def test_a_stone_falls_to_the_bottom_and_is_drawn_there():
    game, state = play("connect_four:rows=4,columns=5,length=3", "c c D a")
    assert game.show(state) == "4  · · · · ·\n3  · · · · ·\n2  · · O · ·\n1  O · X X ·\n   a b c d e"
    assert game.view(state)["gravity"] is True


def test_rows_of_two_digits_stay_in_line():
    game, state = play("connect_four:rows=10,columns=2,length=2", "a")
    assert game.show(state).splitlines()[0] == "10  · ·"
    assert game.show(state).splitlines()[-2:] == [" 1  X ·", "    a b"]


@pytest.mark.parametrize(
    ("name", "moves", "score", "reason"),
    [
        ("tic_tac_toe", "a1 a2 b1 b2 c1", 1, "X has three in a row"),
        ("tic_tac_toe", "a1 c1 b1 b2 c3 a3", -1, "O has three in a row"),
        ("tic_tac_toe", "a1 b1 c1 b2 a2 c2 b3 a3 c3", 0, "draw: the board is full"),
        ("tic_tac_toe", "a1 b1 c1 a2 b2 c2 b3 a3 c3", 1, "X has three in a row"),  # with the last stone: no draw
        ("connect_four", "a b a b a b a", 1, "X has 4 in a row"),
        ("connect_four", "a b c b d b g b", -1, "O has 4 in a row"),
        ("connect_four", "a b b c c d c d d g d", 1, "X has 4 in a row"),  # rising to the right
        ("connect_four", "g f f e e d e d d a d", 1, "X has 4 in a row"),  # rising to the left
        ("connect_four", "d a c a b b e", 1, "X has 4 in a row"),
        ("connect_four:rows=2,columns=3,length=3", "a b c a b c", 0, "draw: the board is full"),
    ],
)
def test_a_finished_game_says_who_won_and_how(name, moves, score, reason):
    game, state = play(name, moves)
    assert bool(game.over(state))
    assert float(game.score(state)) == score
    assert game.outcome_reason(state) == reason
