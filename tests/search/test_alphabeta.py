"""Whatever is switched on or off, alpha-beta finds what plain minimax finds."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.games import GAMES, make_game
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from beamzero.search.alphabeta.lanes import LaneSearcher
from beamzero.search.alphabeta.negamax import Rules, Searcher
from beamzero.search.features import feature_evaluator
from tests.search.agreement import assert_games_are_searched_as_by_minimax, assert_graphs_are_searched_as_by_minimax
from tests.search.graphs import NARROW, WIDE, draw
from tests.search.plain import QUICK as LESS_OPTIMIZED

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


BOARDS = {"connect_four": "connect_four:rows=4,columns=4,length=3", "othello": "othello:size=4"}
DEPTHS = {"connect_four": 3, "kalah": 3}
SMALL = [name for name, game in GAMES.items() if "chess" not in name and name != "togyzkumalak" and not game.hidden]
"""Chess takes long to compile, and is in a file of its own; Togyzkumalak is to a search what Kalah is; a search would
see hidden cards."""
QUICK = "tic_tac_toe"
MINIMAX = AlphaBeta(prune=False, order=False, entries=0, deepen=False)
ALPHABETA = AlphaBeta(quiet=2, entries=64)


# --- in lanes: many nodes at once -------------------------------------------------------------------------------------

LANES = [
    AlphaBeta(DEPTH, entries=8, quiet=2, lanes=5),
    AlphaBeta(DEPTH, entries=256, quiet=2, lanes=3, every_move=True),
    AlphaBeta(DEPTH, entries=0, lanes=40, deepen=False),
    AlphaBeta(DEPTH, entries=64, lanes=8, prune=False),
    AlphaBeta(DEPTH, entries=64, lanes=2, order=False),
]


@pytest.mark.parametrize(
    "search",
    [pytest.param(one, marks=() if one is LANES[0] else pytest.mark.slow) for one in LANES],
    ids=described,
)
@settings(max_examples=8)
@given(seed=SEEDS)
def test_random_graphs_are_searched_in_lanes_as_by_minimax(search, seed):
    assert_graphs_are_searched_as_by_minimax(search, draw(seed), NARROW)


@pytest.mark.slow
@settings(max_examples=5)
@given(seed=SEEDS)
def test_so_are_graphs_with_many_moves_in_lanes(seed):
    assert_graphs_are_searched_as_by_minimax(AlphaBeta(3, entries=64, quiet=1, lanes=6), draw(seed, WIDE), WIDE)


@pytest.mark.slow
@settings(max_examples=5)
@given(seed=SEEDS)
def test_lanes_believe_a_table_of_solved_positions(seed):
    search = AlphaBeta(DEPTH, entries=64, quiet=1, lanes=4)
    assert_graphs_are_searched_as_by_minimax(search, draw(seed, solved=True), NARROW)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in SMALL if name != QUICK])
def test_games_are_searched_in_lanes_as_by_minimax(name):
    ways = dataclasses.replace(ALPHABETA, lanes=16), dataclasses.replace(ALPHABETA, lanes=5, every_move=True)
    assert_games_are_searched_as_by_minimax(make_game(BOARDS.get(name, name)), DEPTHS.get(name, 2), 30, *ways)


def test_one_lane_looks_at_the_positions_that_a_search_one_by_one_looks_at():
    """The order of the tree is the same, and so is each bound; a small pool of open nodes is freed again and again."""
    game = make_game("connect_four:rows=4,columns=5,length=3")
    evaluator, root = feature_evaluator(game), game.init(jax.random.key(0))
    rules, yes = Rules(max_depth=9), jnp.bool_(True)
    seen = []
    for searcher in (Searcher(game, evaluator, rules), LaneSearcher(game, evaluator, rules, lanes=1)):

        @functools.partial(jax.jit, compiler_options=LESS_OPTIMIZED)
        def run(depth, searcher=searcher):
            search = searcher.restart(searcher.new_search(root, searcher.new_memory(2**12)), root, depth, yes, yes)
            search = searcher.advance(search, jnp.int32(2**30), jnp.int32(2**30))
            return searcher.spending(search), searcher.answer(search)

        spent, answer = jax.device_get(run(jnp.int32(9)))
        assert spent.finished
        seen.append((spent.visited, spent.expanded, answer.score, answer.line[:3].tolist()))
    assert seen[0] == seen[1] and seen[0][0] > 1000


@pytest.mark.slow
def test_a_search_in_lanes_keeps_to_its_budget_and_goes_on():
    game = make_game("othello:size=6")
    evaluator, roots = feature_evaluator(game), jax.vmap(game.init)(jax.random.key(0)[None])
    search = AlphaBeta(5, entries=2**10, lanes=16)
    advance = jax.jit(lambda carry, budget: search.advance(game, evaluator, carry, budget))
    carry, units = search.start(game, evaluator, roots, jax.random.key(0)), []
    while not bool(search.done(game, carry)[0]):
        carry = advance(carry, jnp.int32(7))
        units.append(int(search.spent(game, carry).units))
    parts = np.diff(units)
    assert (parts <= 7).all() and len(units) > 10
    whole = search(game, evaluator, roots, jax.random.key(0))
    cut = search.result(game, carry, jax.random.key(0))
    plain = dataclasses.replace(search, lanes=1)(game, evaluator, roots, jax.random.key(0))
    assert float(whole.value[0]) == float(cut.value[0]) == float(plain.value[0])


# --- games -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [name if name == QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SMALL]
)
def test_games_are_searched_as_by_minimax(name):
    """With random numbers as evaluations, and with the game's own."""
    game, ways = make_game(BOARDS.get(name, name)), (MINIMAX, ALPHABETA) if name == QUICK else (ALPHABETA,)
    assert_games_are_searched_as_by_minimax(game, DEPTHS.get(name, 2), 30, *ways)
