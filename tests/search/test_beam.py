"""The beam search on the device is the paper's Algorithm 1, node for node."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.core.errors import BadInput
from beamzero.core.packing import chunk_rows
from beamzero.games import make_game
from beamzero.search.beam import BeamSearch, BeamTree, back_up, best_line
from beamzero.search.children import children_at_once, is_narrow
from beamzero.search.evaluator import SearchResult, zero_evaluator
from tests.games.play import at, sample_states
from tests.search.forest import NARROW, ROOTS, TREES, WIDE, ForestGame, ForestRules, forest_evaluator, grow
from tests.search.reference import Beam, GameRules, Rules, beam_search, move_values, scrambled_evaluator

SEEDS = st.integers(0, 2**32 - 1)
KEY = jax.random.key(0)
SHAPES = pytest.mark.parametrize("shape", [NARROW, WIDE], ids=["narrow", "wide"])
WIDTHS = {shape: ForestGame(None, shape) for shape in (NARROW, WIDE)}  # for what asks only how wide a node is


class Searched(NamedTuple):
    tree: BeamTree
    value: jax.Array  # after the back-up
    proven: jax.Array
    result: SearchResult


def _searched(search: BeamSearch, game, evaluator, tree: BeamTree, budget, key) -> Searched:
    tree = search.advance(game, evaluator, tree, budget)
    return Searched(tree, *back_up(game, tree), search.result(game, tree, key))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _start_in_forest(search, shape, forest, roots, wanted):
    return search.start(ForestGame(forest, shape), forest_evaluator(forest), roots, wanted=wanted)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _search_in_forest(search, shape, forest, tree, budget, key):
    return _searched(search, ForestGame(forest, shape), forest_evaluator(forest), tree, budget, key)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _start(search, game, states, wanted):
    return search.start(game, zero_evaluator(game), states, wanted=wanted)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _search(search, game, evaluator, tree, budget, key):
    return _searched(search, game, evaluator, tree, budget, key)


def search_in_forest(search, forest, wanted=None, budgets=None, shape=NARROW) -> Searched:
    """Search every tree of the forest, in slices of `budgets` expansions; all at once by default."""
    wanted = np.ones(TREES, bool) if wanted is None else wanted
    tree = _start_in_forest(search, shape, forest, ROOTS, wanted)
    for budget in budgets or [search.expand]:
        searched = _search_in_forest(search, shape, forest, tree, jnp.int32(budget), KEY)
        tree = searched.tree
    return jax.device_get(searched)


def search_game(search, game, evaluator, states, budget=None) -> Searched:
    """All expansions by default."""
    tree = _start(search, game, states, np.ones(len(states[0]), bool))
    return jax.device_get(_search(search, game, evaluator, tree, np.int32(budget or search.expand), KEY))


def assert_same(searched: Searched, row: int, width: int, beam: Beam, rules: Rules, near: float = 0) -> None:
    """The tree of one row is the reference's, node for node and bit for bit; values up to `near`, if that is not 0."""
    tree, result = searched.tree, searched.result
    slots: dict[int, int] = {0: -1}  # place in the reference's tree to slot
    made = len(beam.expanded)
    assert (tree.children[row, made:] == 0).all(), "no more expansions than the reference"
    for e, place in enumerate(beam.expanded):
        node = beam.tree[place]
        assert rules.position(at(tree.states, row, e)) == node.state, f"expansion {e}"
        assert tree.slot[row, e] == slots[place]
        assert tree.depth[row, e] == node.depth
        assert tree.sign[row, e] == (0 if node.odds else node.side)
        assert tree.children[row, e] == len(node.children)
        for i, child_place in enumerate(node.children):
            slot, child = e * width + i, beam.tree[child_place]
            slots[child_place] = slot
            assert tree.action[row, slot] == child.action
            assert tree.over[row, slot] == child.done
            assert abs(searched.value[row, slot] - child.value) <= near, f"child {i} of expansion {e}"
            assert searched.proven[row, slot] == child.proven
    assert tree.evaluations[row] == beam.evaluations
    assert result.nodes[row] == len(beam.tree)
    legal = np.isin(np.arange(result.values.shape[1]), list(beam.q_values))
    expected = np.array([beam.q_values.get(action, -np.inf) for action in range(len(legal))], np.float32)
    assert np.allclose(result.values[row], expected, rtol=0, atol=near)
    proven = {node.action for node in (beam.tree[child] for child in beam.tree[0].children) if node.proven}
    assert set(np.flatnonzero(result.proven[row])) == proven
    if legal.any():
        best = expected >= expected.max() - near
        assert abs(result.value[row] - expected.max()) <= near
        assert best[result.action[row]]
        if not near:  # else ties may be none
            assert (result.policy[row] == (best / best.sum()).astype(np.float32)).all()


# --- trees of every shape --------------------------------------------------------------------------------------------

EITHER_SHAPE = [
    (NARROW, BeamSearch(5, 99)),
    (NARROW, BeamSearch(60, 99)),
    (NARROW, BeamSearch(20, 2, True)),
    (WIDE, BeamSearch(20, 99)),
    (WIDE, BeamSearch(20, 3, True)),
]
SLOW_TOO = [
    (NARROW, BeamSearch(1, 99)),
    (NARROW, BeamSearch(20, 1)),
    (NARROW, BeamSearch(20, 2)),
    (WIDE, BeamSearch(60, 99)),
]


@pytest.mark.parametrize(
    ("shape", "search"),
    [*EITHER_SHAPE, *(pytest.param(*both, marks=pytest.mark.slow) for both in SLOW_TOO)],
    ids=lambda part: str(part) if isinstance(part, BeamSearch) else f"{part.moves}",
)
@settings(max_examples=6)
@given(seed=SEEDS)
def test_random_trees_are_searched_as_the_paper_says(search, shape, seed):
    forest = grow(seed, shape)
    rules = ForestRules(forest)
    searched = search_in_forest(search, forest, shape=shape)
    for row, root in enumerate(ROOTS.node):
        beam = beam_search(rules, int(root), search.expand, search.depth, search.strict)
        assert_same(searched, row, shape.moves, beam, rules)
        assert best_line(WIDTHS[shape], searched.tree, row) == beam.line


def test_the_random_trees_hold_what_they_should():
    """Else the test above proves less than it says."""
    forests = [grow(seed) for seed in range(8)]
    beams = [beam_search(ForestRules(forest), int(root), 60, 99) for forest in forests for root in ROOTS.node]
    nodes = [node for beam in beams for node in beam.tree]
    assert {len(node.children) for node in nodes} == {0, 1, 2, 3, 4}
    assert any(len(beam.tree) == 1 for beam in beams), "a root that is over"
    assert len({node.depth for node in nodes if node.done}) > 10, "ends at all depths"
    assert max(node.depth for node in nodes) > 20
    assert any(len(beam.expanded) < 60 for beam in beams) and any(len(beam.expanded) == 60 for beam in beams)
    wide = [grow(seed, WIDE) for seed in range(8)]
    counts = np.concatenate([(forest.child >= 0).sum(axis=1) for forest in wide])
    assert counts.max() == WIDE.moves and 1 < counts[counts > 0].mean() < WIDE.moves / 4, "few moves in many slots"
    for forest in forests:
        child, player = forest.child, forest.player
        again = [player[node] == player[after] for node in range(len(child)) for after in child[node] if after >= 0]
        assert 0.4 < np.mean(again) < 0.6, "a side often moves twice"


def test_the_paper_s_depth_sees_one_ply_more_than_the_strict_one():
    deepest = {True: 0, False: 0}
    for seed in range(4):
        for strict in (False, True):
            tree = search_in_forest(BeamSearch(20, 2, strict), grow(seed)).tree
            deepest[strict] = max(deepest[strict], int(tree.depth[tree.children > 0].max()) + 1)
    assert deepest == {False: 3, True: 2}


@SHAPES
@settings(max_examples=5)
@given(seed=SEEDS, chosen=st.lists(st.booleans(), min_size=TREES, max_size=TREES).map(np.array))
def test_an_unwanted_root_costs_nothing_and_changes_nothing(shape, seed, chosen):
    search, forest = BeamSearch(20, 99), grow(seed, shape)
    some, every = (search_in_forest(search, forest, wanted, shape=shape) for wanted in (chosen, None))
    assert (some.tree.evaluations == np.where(chosen, every.tree.evaluations, 0)).all()
    assert (some.result.nodes == np.where(chosen, every.result.nodes, 1)).all()
    assert (some.result.values[chosen] == every.result.values[chosen]).all()
    assert (some.result.values[~chosen] == -np.inf).all()
    assert not some.result.proven[~chosen].any()
    assert some.tree.done == max(0, *(some.tree.children > 0).sum(axis=1))


def test_nothing_is_asked_where_no_root_is_wanted():
    searched = search_in_forest(BeamSearch(20, 99), grow(0), np.zeros(TREES, bool))
    assert searched.tree.done == 0
    assert (searched.tree.evaluations == 0).all()
    assert (searched.result.nodes == 1).all()


@SHAPES
@settings(max_examples=5)
@given(seed=SEEDS, row=st.integers(0, TREES - 1))
def test_one_row_never_changes_another(shape, seed, row):
    """The row among strangers, and the row alone in a batch of its own: the same tree, bit for bit."""
    search, forest = BeamSearch(20, 99), grow(seed, shape)
    batch = search_in_forest(search, forest, shape=shape)
    tree = _start_in_forest(search, shape, forest, at(ROOTS, [row]), np.ones(1, bool))
    alone = jax.device_get(_search_in_forest(search, shape, forest, tree, jnp.int32(search.expand), KEY))
    expansions, slots = int(alone.tree.done), int(alone.tree.done) * shape.moves
    for field in ("slot", "depth", "sign", "children"):
        assert (getattr(alone.tree, field)[0, :expansions] == getattr(batch.tree, field)[row, :expansions]).all(), field
    for field in ("action", "value", "over"):
        assert (getattr(alone.tree, field)[0, :slots] == getattr(batch.tree, field)[row, :slots]).all(), field
    listed = (np.arange(shape.moves)[None] < alone.tree.children[0][:, None]).reshape(-1)
    assert (alone.value[0] == batch.value[row])[listed].all()
    assert (alone.result.values[0] == batch.result.values[row]).all()
    assert alone.tree.evaluations[0] == batch.tree.evaluations[row]
    assert best_line(WIDTHS[shape], alone.tree) == best_line(WIDTHS[shape], batch.tree, row)


@settings(max_examples=5)
@given(seed=SEEDS)
def test_slices_add_up_to_the_whole(seed):
    search, forest = BeamSearch(20, 99), grow(seed)
    whole = search_in_forest(search, forest)
    for budgets in ([1, 7, 12], [0, 3, 99], [20, 5]):
        sliced = search_in_forest(search, forest, budgets=budgets)
        for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(sliced), strict=True):
            assert (a == b).all()


@settings(max_examples=3)
@given(seed=SEEDS)
def test_a_search_that_was_cut_short_is_a_smaller_search(seed):
    forest = grow(seed)
    small, cut = (
        search_in_forest(BeamSearch(5, 99), forest),
        search_in_forest(BeamSearch(20, 99), forest, budgets=[2, 3]),
    )
    assert (small.result.values == cut.result.values).all()
    assert (small.result.nodes == cut.result.nodes).all()


def test_nets_run_on_real_children_alone_in_whole_chunks():
    """What was run is what was asked, finished children, and what fills the last chunk of each expansion."""
    search, batch = BeamSearch(20, 99), TREES * WIDE.moves
    for seed in range(4):
        tree = search_in_forest(search, grow(seed, WIDE), shape=WIDE).tree
        children = tree.children.sum(axis=0)[: tree.done]  # by expansion
        value_chunk, scores_chunk = children_at_once(WIDTHS[WIDE], TREES), chunk_rows(TREES)
        assert 1 < value_chunk < batch / 4, "so that there are chunks at all"
        value_rows = sum(-(-int(count) // value_chunk) * value_chunk for count in children)
        asked_scores = tree.evaluations.sum() - (children.sum() - tree.over.sum())
        scores_rows = tree.ran - value_rows
        assert asked_scores <= scores_rows <= asked_scores + tree.done * (scores_chunk - 1)
        assert scores_rows % scores_chunk == 0
        assert tree.evaluations.sum() <= tree.ran < batch * tree.done / 2


# --- real games ------------------------------------------------------------------------------------------------------

ROWS = 16


SMALL = "tic_tac_toe", "connect_four:rows=4,columns=4,length=3"
SEARCHES = BeamSearch(40, 99), BeamSearch(20, 3, strict=True)


@pytest.mark.parametrize(
    ("name", "search"),
    [
        pytest.param(SMALL[0], SEARCHES[0], marks=pytest.mark.slow),
        (SMALL[1], SEARCHES[1]),
        pytest.param("othello:size=6", SEARCHES[0], marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_games_are_searched_as_the_paper_says(name, search):
    game = make_game(name)
    number = ROWS if is_narrow(game) else 6
    states, evaluator = sample_states(game, number, 1), scrambled_evaluator(game, 1)
    rules = GameRules(game, evaluator)
    searched = search_game(search, game, evaluator, states)
    for row in range(number):
        root = rules.position(at(states, row))
        beam = beam_search(rules, root, search.expand, search.depth, search.strict)
        assert_same(searched, row, game.max_moves, beam, rules)
        line = best_line(game, searched.tree, row)
        assert line == beam.line
        for action in line:
            assert action in rules.moves(root)
            root = rules.step(root, action)


def test_new_weights_and_equal_settings_compile_nothing():
    game = make_game("tic_tac_toe")
    states = sample_states(game, ROWS)
    search_game(BeamSearch(40, 99), game, scrambled_evaluator(game, 5), states)
    before = _search._cache_size()
    search_game(BeamSearch(expand=40), make_game("tic_tac_toe"), scrambled_evaluator(game, 6), states)
    assert _search._cache_size() == before


def test_the_whole_search_is_one_call():
    game, search = make_game("tic_tac_toe"), BeamSearch(40, 99)
    states, evaluator = sample_states(game, ROWS, 1), scrambled_evaluator(game, 1)
    called = jax.device_get(jax.jit(search, static_argnums=0)(game, evaluator, states, KEY))
    result = search_game(search, game, evaluator, states).result
    for a, b in zip(called, result, strict=True):
        assert (a == b).all()


def test_othello_is_wide_and_the_others_are_not():
    """So that both ways of making children are held against the paper on real games."""
    names = [*SMALL, "othello:size=6"]
    assert [is_narrow(make_game(name)) for name in names] == [True, True, False]


def test_what_is_proven_is_true():
    """Against tic-tac-toe played out to the end, whatever the evaluator says meanwhile."""
    game, search = make_game("tic_tac_toe"), BeamSearch(40, 99)
    seen = 0
    for seed in range(4):
        states, evaluator = sample_states(game, ROWS, seed), scrambled_evaluator(game, seed)
        rules = GameRules(game, evaluator)
        result = search_game(search, game, evaluator, states).result
        for row in range(ROWS):
            root = rules.position(at(states, row))
            empty = len(rules.moves(root))
            if empty > 6:
                continue  # slow in plain Python
            for action, value in move_values(rules, root, 9).items():
                if result.proven[row, action]:
                    assert result.values[row, action] == value
                    seen += 1
                # Three empty squares leave at most 1 + 3 + 6 positions to expand, so nothing is left to the evaluator.
                assert result.proven[row, action] or empty > 3
    assert seen > 50


@pytest.mark.parametrize("bad", [{"expand": 0}, {"depth": 0}, {"expand": -5}])
def test_settings_that_make_no_sense_are_refused(bad):
    with pytest.raises(BadInput, match=next(iter(bad))):
        BeamSearch(**bad)
