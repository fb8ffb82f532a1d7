"""How many lines of play there are, against published counts."""

from __future__ import annotations

import functools

import jax
import pytest

from beamzero.games import make_game
from beamzero.search.perft import perft
from tests.games.play import step

slow = functools.partial(pytest.param, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("tic_tac_toe", [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]),
        slow("connect_four", [7, 49, 343, 2401, 16807, 117649, 823536, 5673234]),
        slow("othello", [4, 12, 56, 244, 1396, 8200, 55092, 390216]),
        ("checkers", [7, 49, 302, 1469, 7361, 36768]),  # so early, no jump is followed by another
    ],
)
def test_the_number_of_lines_is_the_published_one(name, counts):
    assert perft(make_game(name), len(counts)) == counts


def test_lines_can_be_counted_from_any_position_and_end_with_the_game():
    game = make_game("tic_tac_toe")
    state = step(game, game.init(jax.random.key(0)), 0, 3, 1, 4)  # X a1, O a2, X b1, O b2: c1 wins for X, then c2 for O
    # X c1 ends the game; X c2 leaves 4 * 3 lines; after each of X a3, b3, c3 one reply ends it and 3 * 3 lines go on.
    assert perft(game, 3, state) == [5, 16, 39]
    counted: list[int] = []
    perft(game, 3, state, counted.append)
    assert counted == sorted(counted) and counted[-1] == 60
    assert perft(game, 2, step(game, state, 2)) == [0, 0]
