"""Monte Carlo tree search: visit for visit what a slow one does, and what mctx does where that can be compared."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.search.evaluator import SearchResult
from beamzero.search.mcts.mcts import MCTS
from beamzero.search.mcts.tree import Tree
from tests.games.play import at, sample_states
from tests.search.forest import NARROW, ROOTS, TREES, WIDE, ForestGame, ForestRules, forest_evaluator, grow
from tests.search.plain_mcts import Node, never_tried, simulate, size
from tests.search.reference import GameRules, scrambled_evaluator

KEY = jax.random.key(0)
WAYS = {
    "puct": (NARROW, MCTS(30, c=0.3)),
    "relative": (NARROW, MCTS(30, unvisited=-0.2, relative=True)),
    "uct": (NARROW, MCTS(30, uct=True, c=1.0)),
    "muzero": (NARROW, MCTS(30, count_node=True, c=4.0, unvisited=-1.0)),
    "wide": (WIDE, MCTS(30)),
}
SMALL = make_game("connect_four:rows=4,columns=4,length=3")
SEARCH = MCTS(60)
"""One search of eight states a game, so that tests share its programs."""


@functools.partial(jax.jit, static_argnums=(0, 1))
def search_forest(search, shape, forest, key) -> SearchResult:
    return search(ForestGame(forest, shape), forest_evaluator(forest), ROOTS, key)


@functools.partial(jax.jit, static_argnums=(0, 1))
def search_game(search, game, evaluator, states, key) -> SearchResult:
    return search(game, evaluator, states, key)


@functools.partial(jax.jit, static_argnums=(0, 1))
def start(search, game, evaluator, states, key) -> Tree:
    """Trees with their roots in."""
    return search.advance(game, evaluator, search.start(game, evaluator, states, key), 0)


def assert_same(search: MCTS, result: SearchResult, row: int, root: Node) -> None:
    visits = {move: root.visits[place] for place, move in enumerate(root.moves)}
    policy = np.zeros(result.policy.shape[1], np.float32)
    for move, count in visits.items():
        policy[move] = np.float32(count) / np.float32(search.sims)
    np.testing.assert_allclose(result.policy[row], policy, rtol=1e-6)
    legal = np.flatnonzero(result.values[row] > -np.inf)
    assert legal.tolist() == sorted(root.moves)
    for place, move in enumerate(root.moves):
        mean = root.total[place] / root.visits[place] if root.visits[place] else never_tried(search, root)
        assert result.values[row, move] == pytest.approx(mean, abs=1e-6)
    assert visits[int(result.action[row])] == max(visits.values())
    assert result.nodes[row] == size(root)


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=pytest.mark.slow) if way in ("relative", "muzero") else way for way in WAYS]
)
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees_are_searched_as_by_a_slow_search(way, seed):
    """Either side may move at any node, games end anywhere, and many moves look alike."""
    shape, search = WAYS[way]
    forest = grow(seed, shape)
    result = jax.device_get(search_forest(search, shape, forest, KEY))
    rules = ForestRules(forest)
    for row in range(TREES):
        position = int(ROOTS.node[row])
        if not rules.over(position):
            assert_same(search, result, row, simulate(rules, search, position))


@pytest.mark.parametrize(
    "name", ["tic_tac_toe", SMALL.spec, pytest.param("kalah:houses=3,seeds=2", marks=pytest.mark.slow)]
)
def test_games_are_searched_as_by_a_slow_search(name):
    game = make_game(name)
    states, evaluator = sample_states(game, 8, 1), scrambled_evaluator(game, 1)
    result = jax.device_get(search_game(SEARCH, game, evaluator, states, KEY))
    rules = GameRules(game, evaluator)
    for row in range(8):
        assert_same(SEARCH, result, row, simulate(rules, SEARCH, rules.position(at(states, row))))


def test_slices_change_nothing():
    game = make_game("tic_tac_toe")
    states, evaluator = sample_states(game, 8, 1), scrambled_evaluator(game, 1)
    tree = start(SEARCH, game, evaluator, states, jax.random.split(KEY)[0])
    advance = jax.jit(functools.partial(SEARCH.advance, game))
    for budget, done in ((1, 1), (7, 8), (100, 60)):
        tree = advance(evaluator, tree, jnp.int32(budget))
        assert int(tree.done) == done
    sliced = jax.jit(functools.partial(SEARCH.result, game))(tree, jax.random.split(KEY)[1])
    whole = search_game(SEARCH, game, evaluator, states, KEY)
    for a, b in zip(sliced, whole, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_win_at_hand_is_found_whatever_the_net_says():
    state = SMALL.init(KEY)
    for column in (3, 0, 3, 0):
        state = SMALL.step(state, jnp.int32(column))
    states = jax.tree.map(lambda x: jnp.stack([x] * 8), state)
    result = jax.device_get(search_game(SEARCH, SMALL, scrambled_evaluator(SMALL, 1), states, KEY))
    assert (result.action == 3).all() and (result.values[:, 3] == 1).all() and (result.value > 0.5).all()
    assert result.proven[:, 3].all() and not result.proven[:, :3].any()


def test_noise_changes_the_priors_of_the_root_alone():
    game = make_game("tic_tac_toe")
    states, evaluator = sample_states(game, 8, 1), scrambled_evaluator(game, 1)
    noisy = dataclasses.replace(SEARCH, noise=0.25)
    trees = [start(search, game, evaluator, states, KEY) for search in (SEARCH, noisy)]
    before, after = (np.asarray(tree.edges[:, 0, 0]) for tree in trees)
    listed = before > -np.inf
    assert (listed == (after > -np.inf)).all()
    before, after = np.where(listed, before, 0), np.where(listed, after, 0)
    np.testing.assert_allclose(after.sum(axis=1), 1, rtol=1e-5)
    added = (after - 0.75 * before) / 0.25
    assert (added >= -1e-6).all() and np.abs(added).max() > 0.2
    other = start(noisy, game, evaluator, states, jax.random.key(1))
    assert (np.asarray(other.edges[:, 0, 0])[listed] != after[listed]).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sims": 0}, "sims is 0, but a search does 1 to 100000 simulations"),
        ({"c": -1.0}, "c is -1, but must be 0 to 1000"),
        ({"c": float("inf")}, "c is inf, but must be 0 to 1000"),
        ({"unvisited": 2.0}, "unvisited is 2, but must be -1 to 1"),
        ({"noise": 1.5}, "noise is 1.5, but must be 0 to 1"),
        ({"alpha": 0.0}, "alpha is 0, but must be more than 0"),
    ],
)
def test_wrong_settings_get_one_line(options, message):
    with pytest.raises(BadInput, match=message):
        MCTS(**options)
