"""One look at a policy tells the moves apart by the positions after them, where their values are asked for."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np
import pytest

from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.players.analysis import analyse
from beamzero.search.simple import BestChild, Likeliest, LikeliestWithValues

KEY = jax.random.key(3)


@pytest.mark.parametrize("name", ["tic_tac_toe", pytest.param("connect_four", marks=pytest.mark.slow)])
def test_values_are_those_of_the_children_and_moves_those_of_the_policy(name):
    player = make_player(f"alphazero:{name}", make_game(name))
    assert player.search == Likeliest()
    states = jax.vmap(player.game.init)(jax.random.split(KEY, 4))
    found, by_child, one_look = (
        jax.device_get(dataclasses.replace(player, search=search).think(states, KEY))
        for search in (LikeliestWithValues(), BestChild(), Likeliest())
    )
    np.testing.assert_array_equal(found.values, by_child.values)
    np.testing.assert_array_equal(found.proven, by_child.proven)
    for field in ("action", "policy", "value"):
        np.testing.assert_array_equal(getattr(found, field), getattr(one_look, field))
    assert (found.nodes == 1 + player.game.max_moves).all()


def test_an_analysis_by_one_look_tells_moves_apart():
    game = make_game("tic_tac_toe")
    player = make_player("alphazero:tic_tac_toe", game)
    found = analyse(game, player, game.position("a1 b1 a2 b2").state, KEY)
    assert found.best == "a3" and found.moves[0].proven and found.moves[0].value == 1
    assert len({move.value for move in found.moves}) > 2


def test_where_cards_are_hidden_no_position_after_a_move_is_looked_at():
    player = make_player("alphazero:tic_tac_toe", make_game("tic_tac_toe"))
    hidden = dataclasses.replace(player, game=make_game("kuhn_poker"))
    assert hidden.with_every_move() is hidden and player.with_every_move().search == LikeliestWithValues()
