"""Whatever is switched on or off, alpha-beta finds what plain minimax finds."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.games import GAMES, make_game
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from tests.search.agreement import assert_games_are_searched_as_by_minimax, assert_graphs_are_searched_as_by_minimax
from tests.search.graphs import NARROW, WIDE, draw

SEEDS = st.integers(0, 2**32 - 1)
DEPTH = 4
PLAIN = AlphaBeta(DEPTH, prune=False, order=False, entries=0)


OPTIONS = [
    PLAIN,
    *(
        dataclasses.replace(PLAIN, **options)
        for options in (
            {"quiet": 2, "deepen": False},
            {"entries": 8},
            {"entries": 8, "quiet": 2, "deepen": False},
            {"prune": True, "quiet": 2},
            {"prune": True, "entries": 8, "deepen": False},
            {"prune": True, "order": True, "deepen": False},
            {"prune": True, "order": True, "entries": 8, "quiet": 2},
            {"prune": True, "order": True, "every_move": True, "deepen": False},
            {"prune": True, "order": True, "every_move": True, "quiet": 2, "entries": 256},
        )
    ),
]
"""Each value of an option together with each of any other; only pruning gives order and every_move a meaning."""

CHEAP = [OPTIONS[1], *OPTIONS[5:]]
"""Every value of an option is among these too."""


def described(search: AlphaBeta) -> str:
    changed = {f.name: getattr(search, f.name) for f in dataclasses.fields(search)}
    return ",".join(f"{k}={v}" for k, v in changed.items() if v != getattr(PLAIN, k)) or "plain"


@pytest.mark.parametrize(
    "search",
    [pytest.param(one, marks=() if one in CHEAP else pytest.mark.slow) for one in OPTIONS],
    ids=described,
)
@settings(max_examples=8)
@given(seed=SEEDS)
def test_random_graphs_are_searched_as_by_minimax(search, seed):
    """Here a side may move twice, many paths lead to a position, and scores are not only won, drawn, lost."""
    assert_graphs_are_searched_as_by_minimax(search, draw(seed), NARROW)


@pytest.mark.parametrize("prune", [pytest.param(False, marks=pytest.mark.slow), True])
@settings(max_examples=8)
@given(seed=SEEDS)
def test_a_table_of_solved_positions_is_believed(prune, seed):
    """What it has counts as an end, though of a win nobody knows when it comes."""
    search = dataclasses.replace(PLAIN, prune=prune, entries=64, quiet=1)
    assert_graphs_are_searched_as_by_minimax(search, draw(seed, solved=True), NARROW)


@pytest.mark.slow
@settings(max_examples=5)
@given(seed=SEEDS)
def test_so_are_graphs_with_more_moves_than_are_made_at_a_time(seed):
    search = AlphaBeta(3, entries=64, quiet=1)
    assert_graphs_are_searched_as_by_minimax(search, draw(seed, WIDE), WIDE)


# --- games -----------------------------------------------------------------------------------------------------------

BOARDS = {"connect_four": "connect_four:rows=4,columns=4,length=3", "othello": "othello:size=4"}
DEPTHS = {"connect_four": 3, "kalah": 3}
SMALL = [name for name, game in GAMES.items() if "chess" not in name and name != "togyzkumalak" and not game.hidden]
"""Chess takes long to compile, and is in a file of its own; Togyzkumalak is to a search what Kalah is; a search would
see hidden cards."""
QUICK = "tic_tac_toe"
MINIMAX = AlphaBeta(prune=False, order=False, entries=0, deepen=False)
ALPHABETA = AlphaBeta(quiet=2, entries=64)


@pytest.mark.parametrize(
    "name", [name if name == QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SMALL]
)
def test_games_are_searched_as_by_minimax(name):
    """With random numbers as evaluations, and with the game's own."""
    game, ways = make_game(BOARDS.get(name, name)), (MINIMAX, ALPHABETA) if name == QUICK else (ALPHABETA,)
    assert_games_are_searched_as_by_minimax(game, DEPTHS.get(name, 2), 30, *ways)
