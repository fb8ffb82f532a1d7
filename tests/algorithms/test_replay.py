"""The memory holds the states that were played, game by game, and where they are too many the last of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.algorithms.probs.replay import remember, remember_with_rolls, some_games, thin_out
from beamzero.algorithms.probs.self_play import Games, Rolls


def made(lengths, plies=5):
    """Games whose states say where they belong."""
    number, ply = np.mgrid[: len(lengths), :plies].astype(np.int32)
    played = ply < np.array(lengths)[:, None]
    return Games(
        states={"number": jnp.array(number), "ply": jnp.array(ply)},
        played=jnp.array(played),
        outcome=jnp.array(np.where(played, number + ply / 10, np.nan), jnp.float32),
        length=jnp.array(lengths, jnp.int32),
    )


def rows(memory):
    columns = (np.asarray(memory.states[name])[: memory.size].tolist() for name in ("number", "ply"))
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("lengths", [[3, 5, 1], [5, 5, 5], [1, 1, 1]])
@pytest.mark.parametrize("capacity", [1, 2, 4, 9, 15])
def test_it_holds_the_last_states_in_order(lengths, capacity):
    memory = remember(capacity, made(lengths))
    everything = [(game, ply) for game, length in enumerate(lengths) for ply in range(length)]
    assert rows(memory) == everything[-capacity:]
    assert memory.outcome.shape == (capacity,)
    np.testing.assert_allclose(
        memory.outcome[: memory.size], [g + t / 10 for g, t in everything[-capacity:]], rtol=1e-6
    )


def test_positions_before_a_roll_stand_behind_the_ones_that_led_there():
    games = made([3, 5, 1])
    assert rows(remember_with_rolls(20, games)) == rows(remember(20, games)), "where there are no dice, there are none"
    rolled = np.array([[1, 0, 1, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]], bool)
    states = jax.tree.map(lambda x: 100 + x, games.states)
    games = games._replace(rolls=Rolls(states, jnp.array(rolled), -games.outcome))
    wanted = [(0, 0), (100, 100), (0, 1), (0, 2), (100, 102), *((1, ply) for ply in range(5)), (101, 104), (2, 0)]
    assert rows(remember_with_rolls(20, games)) == wanted
    memory = remember_with_rolls(7, games)
    assert rows(memory) == wanted[-7:], "the oldest go first"
    np.testing.assert_allclose(memory.outcome[:7], outcomes(wanted[-7:]), rtol=1e-6)
    assert rows(remember(20, some_games(games, 1, 2))) == [*((1, ply) for ply in range(5)), (2, 0)]


def outcomes(places):
    """What `made` says of them, with the other sign before a roll."""
    return [(g + t / 10) if g < 100 else -(g - 100 + (t - 100) / 10) for g, t in places]


def test_some_games_are_those_games():
    part = some_games(made([3, 5, 1, 2]), 1, 2)
    assert rows(remember(10, part)) == [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 0)]
    assert jax.tree.leaves(part)[0].shape[0] == 2


def test_a_share_of_the_states_is_left_out_and_the_others_stay_in_order():
    memory = remember(9, made([3, 5, 1]))
    assert rows(thin_out(memory, jnp.float32(0), jax.random.key(0))) == rows(memory)
    left = [rows(thin_out(memory, jnp.float32(0.5), jax.random.key(seed))) for seed in range(200)]
    assert all(some == sorted(some) and set(some) <= set(rows(memory)) for some in left)
    assert 4 < np.mean([len(some) for some in left]) < 5 and {len(some) for some in left} > {3, 4, 5, 6}
    thinned = thin_out(memory, jnp.float32(0.5), jax.random.key(3))
    np.testing.assert_allclose(thinned.outcome[: thinned.size], outcomes(rows(thinned)), rtol=1e-6)
