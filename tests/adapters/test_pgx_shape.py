"""Our games as pgx's environments: pgx's own test, the same games as by the rules, and what trainers do with them."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pytest
from pgx._src import api_test
from pgx.experimental import auto_reset

from beamzero.adapters.pgx import GameEnv, env
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from tests.conftest import relaxed_promotion

slow = functools.partial(pytest.param, marks=pytest.mark.slow)
SPECS = [
    "tic_tac_toe",
    slow("kalah:houses=3,seeds=2"),
    slow("kuhn_poker"),
    slow("connect_four"),
    slow("othello:size=4"),
    slow("checkers:draw_plies=10"),
    slow("chess6x6:max_plies=60"),
    slow("backgammon:max_plies=60"),
    slow("leduc_poker"),
    slow("pgx:tic_tac_toe"),
    slow("open_spiel:pig,winscore=15,plies=30"),
]


@pytest.fixture(autouse=True)
def relaxed_jax():
    with relaxed_promotion():
        yield


def act_randomly(key: jax.Array, mask: jax.Array) -> jax.Array:
    return jax.random.categorical(key, jnp.where(mask, 0.0, -jnp.inf), axis=-1)


@pytest.mark.parametrize("spec", SPECS)
def test_pgx_finds_no_fault(spec, monkeypatch):
    """All that it checks but one: that the name is one of its own games."""
    world = env(spec)
    monkeypatch.setattr(api_test, "get_args", lambda names: (world.id,))
    # That of pgx 2.6 draws for batches alone, so that its test of single states fails for its own games too.
    monkeypatch.setattr(api_test, "act_randomly", jax.jit(act_randomly))
    for use_key in (True,) if world.game.num_chance else (True, False):
        api_test.api_test(world, 2, use_key)


def test_it_has_what_an_environment_of_pgx_has():
    world = env("connect_four")
    assert isinstance(world, GameEnv) and world is env(make_game("connect_four"))
    assert (world.id, world.version, world.num_players) == ("beamzero:connect_four", "v1", 2)
    assert (world.num_actions, world.observation_shape) == (7, make_game("connect_four").observation_shape)
    state = world.init(jax.random.key(0))
    assert state.env_id == world.id and state._repr_html_().startswith("<svg")
    batch = jax.vmap(world.init)(jax.random.split(jax.random.key(0), 3))
    assert batch.to_svg(scale=0.5) != state.to_svg() and 'width="240"' in batch.to_svg(scale=0.5)


@functools.partial(jax.jit, static_argnums=(0, 1))
def play(world: GameEnv, plies: int, keys: jax.Array):
    """Play random games [N]: every state, and the action in it."""

    def ply(state, key):
        act, dice = jax.random.split(key)
        actions = act_randomly(act, state.legal_action_mask)
        return jax.vmap(world.step)(state, actions, jax.random.split(dice, len(keys))), (state, actions)

    return jax.lax.scan(ply, jax.vmap(world.init)(keys), jax.random.split(jax.random.key(9), plies))[1]


@pytest.mark.parametrize("spec", ["kalah:houses=3,seeds=2", slow("backgammon:max_plies=40"), slow("kuhn_poker")])
def test_random_games_go_as_by_the_rules(spec):
    world = env(spec)
    game, plies = world.game, world.game.max_plies + 2
    states, _ = jax.device_get(play(world, plies, jax.random.split(jax.random.key(1), 16)))
    ours = states._state
    first, running = states._first, ~states.terminated
    ask = jax.jit(
        jax.vmap(jax.vmap(lambda x: (game.player(x), game.over(x), game.score(x), game.legal(x), game.observe(x))))
    )
    player, over, score, legal, observation = jax.device_get(ask(ours))
    assert (over == states.terminated).all() and over[-1].all() and not states.truncated.any()
    assert ((player ^ first) == states.current_player)[running].all() and set(first[0]) == {0, 1}
    assert (legal == states.legal_action_mask)[running].all() and states.legal_action_mask[over].all()
    assert (observation == states.observation)[running].all()
    assert (states._step_count == np.cumsum(running, axis=0) - running).all()
    # The result is there once, in the state that ends the game.
    of_first = np.take_along_axis(states.rewards, first[..., None], axis=2)[..., 0]
    assert (states.rewards.sum(axis=2) == 0).all() and (of_first.sum(axis=0) == score[-1]).all()
    assert ((of_first != 0).sum(axis=0) <= 1).all() and (states.rewards[running] == 0).all()
    again = (states.current_player[1:] == states.current_player[:-1]) & running[1:]
    assert spec == "kuhn_poker" or again.any(), "a side moved twice in a row"


def test_an_illegal_move_ends_the_game_as_in_pgx():
    world = env("tic_tac_toe")
    state = jax.jit(world.init)(jax.random.key(0))
    step, mover = jax.jit(world.step), int(state.current_player)
    state = step(step(state, jnp.int32(4)), jnp.int32(4))
    assert bool(state.terminated) and float(state.rewards[1 - mover]) == -1 and float(state.rewards[mover]) == 1


def test_dice_need_a_key_and_hidden_hands_are_refused():
    world = env("open_spiel:pig,winscore=15,plies=30")
    with pytest.raises(BadInput, match=r"step\(state, action, key\) needs a key"):
        jax.eval_shape(world.step, jax.eval_shape(world.init, jax.random.key(0)), jnp.int32(0))
    with pytest.raises(BadInput, match="cannot be an environment of pgx, for a side has several hands"):
        env("bridge")


def test_a_trainer_of_pgx_runs():
    """Self-play as in pgx's example of AlphaZero: `auto_reset`, Gumbel search by mctx, all compiled, in a batch."""
    world, batch = env("tic_tac_toe"), 4

    def recurrent(_, key, action, state):
        mover = state.current_player
        after = jax.vmap(world.step)(state, action)
        reward = after.rewards[jnp.arange(batch), mover]
        discount = jnp.where(after.terminated, 0.0, jnp.where(after.current_player == mover, 1.0, -1.0))
        logits = jnp.where(after.legal_action_mask, 0.0, -1e9)
        return mctx.RecurrentFnOutput(
            reward=reward, discount=discount, prior_logits=logits, value=jnp.zeros(batch)
        ), after

    def ply(state, key):
        search, begin = jax.random.split(key)
        root = mctx.RootFnOutput(prior_logits=jnp.zeros((batch, 9)), value=jnp.zeros(batch), embedding=state)
        found = mctx.gumbel_muzero_policy(
            None, search, root, recurrent, 4, invalid_actions=~state.legal_action_mask, max_num_considered_actions=4
        )
        after = jax.vmap(auto_reset(world.step, world.init))(state, found.action, jax.random.split(begin, batch))
        return after, (after.terminated, after.rewards)

    first = jax.vmap(world.init)(jax.random.split(jax.random.key(0), batch))
    over, rewards = jax.jit(lambda s: jax.lax.scan(ply, s, jax.random.split(jax.random.key(1), 24))[1])(first)
    assert over.sum() >= 2 * batch and (rewards.sum(axis=2) == 0).all() and (np.abs(rewards) <= 1).all()
    assert (rewards != 0).any()
