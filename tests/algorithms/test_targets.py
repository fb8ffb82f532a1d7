"""The targets of Q are what a beam search from each state says; those of V are outcomes, with a share of Q."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.algorithms.probs.replay import Memory, remember, remember_with_rolls
from beamzero.algorithms.probs.self_play import SelfPlay, self_play
from beamzero.algorithms.probs.targets import cut_searches, gather, mix_in_q, search_some
from beamzero.games import make_game
from beamzero.games.chance import chance_is_next
from beamzero.nets import Net, make_evaluator, make_net
from beamzero.search.beam import BeamSearch

SMALL = make_game("connect_four:rows=4,columns=4,length=3")
OTHELLO = make_game("othello:size=4")  # fewer slots than actions


SEARCH = BeamSearch(6, depth=2)


@functools.cache
def evaluator(game):
    value, scores = (Net(game, make_net("mlp:width=16,depth=2"), head) for head in ("value", "scores"))
    weights = jax.jit(value.init)(jax.random.key(1)), jax.jit(scores.init)(jax.random.key(2))
    return make_evaluator(value, weights[0], scores, weights[1])


@functools.cache
def memory_of(game) -> Memory:
    games = self_play(game, SelfPlay(5, 20, 1.0, 0.25, 0), evaluator(game), jax.random.key(0))
    return remember(90, games)


def search_all(game, search, expansions, batch, memory, told=lambda done: None):
    found = (search_some(game, search, evaluator(game), some) for some in cut_searches(memory, batch, expansions))
    return gather(game, memory, batch, found, told)


@functools.partial(jax.jit, static_argnums=0)
def _alone(game, evaluator, state):
    tree = SEARCH.start(game, evaluator, jax.tree.map(lambda x: x[None], state))
    tree = SEARCH.advance(game, evaluator, tree, SEARCH.expand)
    return SEARCH.result(game, tree, jax.random.key(9)).values[0], *game.moves(state), tree.evaluations[0]


def alone(game, evaluator, state):
    """What one state's own search says of each action, its moves, their number, and the states it evaluated."""
    return jax.device_get(_alone(game, evaluator, state))


@pytest.mark.parametrize(
    ("game", "batch"), [(SMALL, 7), (SMALL, 80), pytest.param(OTHELLO, 20, marks=pytest.mark.slow)]
)
def test_every_real_row_is_searched_and_nothing_else(game, batch):
    memory = memory_of(game)
    count = int(memory.size)
    assert 20 < count <= 90 and (batch == 1 or count % batch), "the last batch has rows to spare"
    assert count < 90, "and so has the memory"
    told: list[int] = []
    rows, evaluations = search_all(game, SEARCH, SEARCH.expand, batch, memory, told.append)
    rows, states = jax.device_get((rows, memory.states))
    asked = 0
    for row in range(count):
        values, moves, number, evaluated = alone(game, evaluator(game), jax.tree.map(lambda x, row=row: x[row], states))
        values = values[moves[:number]]
        assert (rows.moves[row, :number] == moves[:number]).all()
        np.testing.assert_allclose(rows.values[row, :number], values, rtol=1e-5, atol=1e-6)
        assert np.isfinite(values).all() and (rows.values[row, number:] == -np.inf).all()
        asked += int(evaluated)
    assert evaluations == asked
    assert rows.values.shape == rows.moves.shape == (90, game.max_moves)
    assert not np.isfinite(rows.values[count:]).any(), "padding gets no targets"
    assert told == [min(first + batch, count) for first in range(0, count, batch)]


def test_an_empty_memory_has_nothing_to_search():
    memory = memory_of(SMALL)._replace(size=jnp.int32(0))
    rows, evaluations = search_all(SMALL, BeamSearch(3), 3, 8, memory)
    assert evaluations == 0 and not jnp.isfinite(rows.values).any()


def test_a_search_that_is_stopped_after_some_expansions_is_one_of_so_many():
    memory = memory_of(SMALL)
    stopped, _ = search_all(SMALL, SEARCH, 3, 32, memory)
    smaller, _ = search_all(SMALL, BeamSearch(3, depth=2), 3, 32, memory)
    np.testing.assert_array_equal(stopped.values, smaller.values)
    whole, _ = search_all(SMALL, SEARCH, 99, 32, memory)
    usual, _ = search_all(SMALL, SEARCH, SEARCH.expand, 32, memory)
    np.testing.assert_array_equal(whole.values, usual.values, "it never goes beyond its own limit")
    assert (usual.values != stopped.values).any()


@pytest.mark.parametrize("game", [SMALL, pytest.param(make_game("backgammon"), marks=pytest.mark.slow)])
def test_a_share_of_what_v_learns_is_what_q_says_of_the_best_move(game):
    games = self_play(game, SelfPlay(5, 20, 1.0, 0.25, 0), evaluator(game), jax.random.key(0))
    memory = remember_with_rolls(150, games)
    count = int(memory.size)
    assert 20 < count < 150
    mixed = np.asarray(mix_in_q(game, evaluator(game), memory, jnp.float32(0.25)))
    look = jax.jit(lambda judge, states: (judge.scores(states), jax.vmap(game.legal)(states)))
    scores, legal = jax.device_get(look(evaluator(game), memory.states))
    outcome = np.asarray(memory.outcome)
    rolls = np.zeros(150, bool)
    if game.num_chance:
        rolls |= np.asarray(jax.jit(jax.vmap(functools.partial(chance_is_next, game)))(memory.states))
    for row in range(count):
        best = np.clip(np.max(scores[row][legal[row]], initial=-1), -1, 1)
        expected = outcome[row] if rolls[row] else 0.75 * outcome[row] + 0.25 * best
        assert mixed[row] == pytest.approx(expected, abs=1e-5)
    assert rolls[:count].any() == bool(game.num_chance) and not rolls[:count].all()
    np.testing.assert_array_equal(mixed[count:], outcome[count:])
