"""Our tree search against mctx's, where both can be set to do the same; and Gumbel search, which is mctx's own."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pytest

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.search.mcts.gumbel import Gumbel, as_mctx_is_written, mctx_step
from beamzero.search.mcts.mcts import MCTS
from tests.games.play import sample_states
from tests.search.reference import scrambled_evaluator

KEY = jax.random.key(0)
SIMS, C = 60, 1.5
SMALL, ROWS = "connect_four:rows=4,columns=4,length=3", 64


def play_the_best(draw, best):
    return best


def values_as_they_are(tree, node):
    """0 where a move was never tried. Below the root, mctx itself would try illegal moves where all others look bad."""
    illegal = tree.children_prior_logits[node] == jnp.finfo(jnp.float32).min
    return jnp.where(illegal, -1e9, tree.qvalues(node))


@functools.partial(jax.jit, static_argnums=0)
def visits_by_mctx(game, evaluator, states):
    value, scores = evaluator.value_and_scores(states)
    with as_mctx_is_written():
        return mctx.muzero_policy(
            evaluator,
            KEY,
            mctx.RootFnOutput(prior_logits=scores, value=value, embedding=states),
            lambda evaluator, key, action, states: mctx_step(game, evaluator, action, states),
            SIMS,
            invalid_actions=~jax.vmap(game.legal)(states),
            dirichlet_fraction=0.0,
            pb_c_init=C,
            pb_c_base=1e9,  # so that c does not grow with the visits
            qtransform=values_as_they_are,
        ).action_weights


@functools.partial(jax.jit, static_argnums=(0, 1))
def visits_by_us(game, search, evaluator, states):
    return search(game, evaluator, states, KEY).policy


def test_visits_are_those_of_mctx():
    """With a node counted among its visits, as MuZero does; in Kalah a side often moves twice."""
    game = make_game("kalah:houses=3,seeds=2")
    states, evaluator = sample_states(game, ROWS, 1), scrambled_evaluator(game, 1, levels=10_000)  # without ties
    ours = visits_by_us(game, MCTS(SIMS, c=C, count_node=True), evaluator, states)
    np.testing.assert_allclose(ours, visits_by_mctx(game, evaluator, states), atol=1e-6)


@functools.partial(jax.jit, static_argnums=(0, 1))
def targets_of(game, search, evaluator, states):
    return search.search_targets(game, evaluator, states, KEY, play_the_best)


def test_gumbel_search_teaches_a_win_at_hand():
    game, search = make_game(SMALL), Gumbel(16)
    state = jax.jit(game.init)(KEY)
    for column in (3, 0, 3, 0):
        state = game.step(state, jnp.int32(column))
    states = jax.tree.map(lambda x: np.stack([x] * ROWS), state)
    targets = targets_of(game, search, scrambled_evaluator(game, 1), states)
    np.testing.assert_allclose(np.sum(targets.policy, axis=1), 1, rtol=1e-5)
    assert (np.asarray(targets.best) == 3).all()
    assert (np.asarray(targets.policy)[:, 3] > 0.3).all()
    assert (np.asarray(targets.value) > 0.1).all()
    assert targets.evaluations.sum() == ROWS * 17
    np.testing.assert_array_equal(np.sum(targets.draw, axis=1), 1)


def test_gumbel_search_never_plays_what_is_illegal():
    game, search = make_game(SMALL), Gumbel(16)
    states = sample_states(game, ROWS, 2)
    targets = targets_of(game, search, scrambled_evaluator(game, 1), states)
    count = np.asarray(jax.jit(jax.vmap(lambda state: game.moves(state)[1]))(states))
    empty = np.arange(game.max_moves)[None] >= count[:, None]
    assert empty.any()
    assert (np.asarray(targets.policy)[empty] == 0).all() and (np.asarray(targets.draw)[empty] == 0).all()
    assert (np.asarray(targets.best) < count).all()


def test_gumbel_search_refuses_dice():
    class Dice:
        name, num_chance = "dice", 6

    with pytest.raises(BadInput, match="search=gumbel knows no dice, which dice has"):
        Gumbel().search_targets(Dice(), None, None, KEY, play_the_best)
