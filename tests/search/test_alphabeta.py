"""Whatever is switched on or off, alpha-beta finds what plain minimax finds."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.games import GAMES, make_game
from beamzero.search.alphabeta import AlphaBeta
from tests.search.agreement import assert_games_are_searched_as_by_minimax, assert_graphs_are_searched_as_by_minimax
from tests.search.graphs import NARROW, WIDE, draw

SEEDS = st.integers(0, 2**32 - 1)
DEPTH = 4
PLAIN = AlphaBeta(DEPTH, prune=False, order=False, entries=0)


def changes(**options) -> list[AlphaBeta]:
    """All ways to combine some options."""
    ways = itertools.product(*options.values())
    return [dataclasses.replace(PLAIN, **dict(zip(options, way, strict=True))) for way in ways]


OPTIONS = [
    *changes(entries=[0, 8], quiet=[0, 2]),
    *changes(entries=[0, 8], quiet=[0, 2], deepen=[False]),
    *changes(prune=[True], order=[False, True], entries=[0, 8], quiet=[0, 2], every_move=[False]),
    *changes(prune=[True], order=[True], entries=[0, 256], quiet=[2], every_move=[True]),
    *changes(prune=[True], order=[True], entries=[8], quiet=[0, 2], deepen=[False]),
]


def described(search: AlphaBeta) -> str:
    changed = {f.name: getattr(search, f.name) for f in dataclasses.fields(search)}
    return ",".join(f"{k}={v}" for k, v in changed.items() if v != getattr(PLAIN, k)) or "plain"


@pytest.mark.parametrize("search", OPTIONS, ids=described)
@settings(max_examples=8)
@given(seed=SEEDS)
def test_random_graphs_are_searched_as_by_minimax(search, seed):
    """Here a side may move twice, many paths lead to a position, and scores are not only won, drawn, lost."""
    assert_graphs_are_searched_as_by_minimax(search, draw(seed), NARROW)


@pytest.mark.parametrize("search", changes(prune=[False, True], entries=[64], quiet=[1]), ids=described)
@settings(max_examples=8)
@given(seed=SEEDS)
def test_a_table_of_solved_positions_is_believed(search, seed):
    """What it has counts as an end, though of a win nobody knows when it comes."""
    assert_graphs_are_searched_as_by_minimax(search, draw(seed, solved=True), NARROW)


@pytest.mark.parametrize("search", changes(prune=[True], order=[True], entries=[64], quiet=[0, 1]), ids=described)
@settings(max_examples=6)
@given(seed=SEEDS)
def test_so_are_graphs_with_more_moves_than_are_made_at_a_time(search, seed):
    search = dataclasses.replace(search, depth=3)
    assert_graphs_are_searched_as_by_minimax(search, draw(seed, WIDE), WIDE)


# --- games -----------------------------------------------------------------------------------------------------------

DEPTHS = {"tic_tac_toe": 4, "connect_four": 3, "kalah": 3, "checkers": 3}
SMALL = [name for name, game in GAMES.items() if "chess" not in name and name != "togyzkumalak" and not game.hidden]
"""Chess takes long to compile, and is in a file of its own; Togyzkumalak is to a search what Kalah is; a search would
see hidden cards."""
MINIMAX = AlphaBeta(prune=False, order=False, entries=0, deepen=False)
ALPHABETA = AlphaBeta(quiet=2, entries=64)
EVERY_MOVE = AlphaBeta(quiet=1, order=False, entries=4096, deepen=False, every_move=True)


@pytest.mark.parametrize("name", SMALL)
def test_games_are_searched_as_by_minimax(name):
    """With random numbers as evaluations, and with the game's own."""
    game, number = make_game(name), 30 if name == "checkers" else 60
    assert_games_are_searched_as_by_minimax(game, DEPTHS.get(name, 2), number, MINIMAX, ALPHABETA)


def test_every_move_of_a_game_can_be_valued_as_by_minimax():
    assert_games_are_searched_as_by_minimax(make_game("kalah"), 3, 60, EVERY_MOVE)
