"""Monte Carlo tree search: visit for visit what a slow one does, and what mctx does where that can be compared."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.errors import BadInput
from beamzero.games import make_game
from beamzero.search.evaluator import SearchResult, zero_evaluator
from beamzero.search.mcts import MCTS
from tests.games.play import at, sample_states
from tests.search.forest import NARROW, ROOTS, TREES, WIDE, ForestGame, ForestRules, forest_evaluator, grow
from tests.search.plain_mcts import Node, simulate, size
from tests.search.reference import GameRules, scrambled_evaluator

KEY = jax.random.key(0)
WAYS = [
    MCTS(30), MCTS(30, c=0.3), MCTS(30, c=4.0, unvisited=-1.0), MCTS(30, uct=True, c=1.0), MCTS(1),
    MCTS(30, count_node=True),
]  # fmt: skip


@functools.partial(jax.jit, static_argnums=(0, 1))
def search_forest(search, shape, forest, key) -> SearchResult:
    return search(ForestGame(forest, shape), forest_evaluator(forest), ROOTS, key)


@functools.partial(jax.jit, static_argnums=(0, 1))
def search_game(search, game, evaluator, states, key) -> SearchResult:
    return search(game, evaluator, states, key)


def assert_same(search: MCTS, result: SearchResult, row: int, root: Node) -> None:
    visits = {move: root.visits[place] for place, move in enumerate(root.moves)}
    policy = np.zeros(result.policy.shape[1], np.float32)
    for move, count in visits.items():
        policy[move] = np.float32(count) / np.float32(search.sims)
    np.testing.assert_allclose(result.policy[row], policy, rtol=1e-6)
    legal = np.flatnonzero(result.values[row] > -np.inf)
    assert legal.tolist() == sorted(root.moves)
    for place, move in enumerate(root.moves):
        mean = root.total[place] / root.visits[place] if root.visits[place] else search.unvisited
        assert result.values[row, move] == pytest.approx(mean, abs=1e-6)
    assert visits[int(result.action[row])] == max(visits.values())
    assert result.nodes[row] == size(root)


@pytest.mark.parametrize("search", WAYS, ids=str)
@pytest.mark.parametrize("shape", [NARROW, WIDE], ids=["narrow", "wide"])
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees_are_searched_as_by_a_slow_search(search, shape, seed):
    """Either side may move at any node, games end anywhere, and many moves look alike."""
    forest = grow(seed, shape)
    result = jax.device_get(search_forest(search, shape, forest, KEY))
    rules = ForestRules(forest)
    for row in range(TREES):
        position = int(ROOTS.node[row])
        if not rules.over(position):
            assert_same(search, result, row, simulate(rules, search, position))


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four:rows=4,columns=4,length=3", "kalah:houses=3,seeds=2"])
def test_games_are_searched_as_by_a_slow_search(name):
    game, search = make_game(name), MCTS(60)
    states, evaluator = sample_states(game, 8, 1), scrambled_evaluator(game, 1)
    result = jax.device_get(search_game(search, game, evaluator, states, KEY))
    rules = GameRules(game, evaluator)
    for row in range(8):
        assert_same(search, result, row, simulate(rules, search, rules.position(at(states, row))))


def test_slices_change_nothing():
    game, search = make_game("tic_tac_toe"), MCTS(40)
    states, evaluator = sample_states(game, 8, 1), scrambled_evaluator(game, 1)
    tree = jax.jit(functools.partial(search.start, game))(evaluator, states, jax.random.split(KEY)[0])
    advance = jax.jit(functools.partial(search.advance, game))
    for budget in (1, 7, 100):
        tree = advance(evaluator, tree, jnp.int32(budget))
    assert int(tree.done) == 40
    sliced = jax.jit(functools.partial(search.result, game))(tree, jax.random.split(KEY)[1])
    whole = search_game(search, game, evaluator, states, KEY)
    for a, b in zip(sliced, whole, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_win_at_hand_is_found_by_simulations_alone():
    game = make_game("connect_four")
    state = game.init(KEY)
    for column in (3, 0, 3, 0, 3, 0):
        state = game.step(state, jnp.int32(column))
    states = jax.tree.map(lambda x: x[None], state)
    result = search_game(MCTS(100), game, zero_evaluator(game), states, KEY)
    assert int(result.action[0]) == 3 and bool(result.proven[0, 3]) and float(result.value[0]) > 0.5


@pytest.mark.parametrize("noise", [0.25, 1.0])
def test_noise_changes_the_priors_of_the_root_alone(noise):
    game, states = make_game("tic_tac_toe"), sample_states(make_game("tic_tac_toe"), 8, 1)
    evaluator = scrambled_evaluator(game, 1)
    quiet, noisy = MCTS(20), MCTS(20, noise=noise)
    trees = [jax.jit(functools.partial(s.start, game))(evaluator, states, KEY) for s in (quiet, noisy)]
    before, after = (np.asarray(tree.edges[:, 0, 0]) for tree in trees)
    listed = before > -np.inf
    assert (listed == (after > -np.inf)).all()
    before, after = np.where(listed, before, 0), np.where(listed, after, 0)
    np.testing.assert_allclose(after.sum(axis=1), 1, rtol=1e-5)
    added = (after - (1 - noise) * before) / noise
    assert (added >= -1e-6).all() and np.abs(added).max() > 0.2
    other = jax.jit(functools.partial(noisy.start, game))(evaluator, states, jax.random.key(1))
    assert (np.asarray(other.edges[:, 0, 0])[listed] != after[listed]).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sims": 0}, "sims is 0, but a search does 1 to 100000 simulations"),
        ({"c": -1.0}, "c is -1, but must be 0 or more"),
        ({"noise": 1.5}, "noise is 1.5, but must be 0 to 1"),
        ({"alpha": 0.0}, "alpha is 0, but must be more than 0"),
    ],
)
def test_wrong_settings_get_one_line(options, message):
    with pytest.raises(BadInput, match=message):
        MCTS(**options)
