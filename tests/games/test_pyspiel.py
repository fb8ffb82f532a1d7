"""Thousands of random moves, played here and in OpenSpiel: the same are legal, the same side moves, the same wins."""

from __future__ import annotations

import random

import jax
import numpy as np
import pytest

from beamzero.games import make_game
from tests.games.play import replay

pyspiel = pytest.importorskip("pyspiel")

# OpenSpiel counts the squares of tic-tac-toe from the top left, we from the bottom left.
TURNED = {action: (2 - action // 3) * 3 + action % 3 for action in range(9)}


def same(action: int) -> int:
    return action


@pytest.mark.parametrize(
    ("ours", "theirs", "number"),
    [
        ("tic_tac_toe", "tic_tac_toe", 800),
        ("connect_four", "connect_four", 250),
        ("connect_four:rows=4,columns=5,length=3", "connect_four(rows=4,columns=5,x_in_row=3)", 200),
        ("connect_four:rows=9,columns=4", "connect_four(rows=9,columns=4,x_in_row=4)", 200),
        ("connect_four:rows=3,columns=10,length=9", "connect_four(rows=3,columns=10,x_in_row=9)", 200),
        ("connect_four:rows=16,columns=3,length=3", "connect_four(rows=16,columns=3,x_in_row=3)", 200),
        ("connect_four:rows=8,columns=5,length=2", "connect_four(rows=8,columns=5,x_in_row=2)", 200),
    ],
)
def test_random_games_go_the_same_way(ours, theirs, number):
    game, peer = make_game(ours), pyspiel.load_game(theirs)
    renumber = TURNED.__getitem__ if ours == "tic_tac_toe" else same
    draw = random.Random(0)
    shape = (game.max_plies + 1, number)
    actions = np.zeros(shape, np.int32)
    legal = np.zeros((*shape, game.num_actions), bool)
    player = np.zeros(shape, np.int32)
    over = np.ones(shape, bool)
    score = np.zeros(shape, np.float32)
    for row in range(number):
        state, ply = peer.new_initial_state(), 0
        while not state.is_terminal():
            moves = state.legal_actions()
            move = draw.choice(moves)
            legal[ply, row, [renumber(m) for m in moves]] = True
            player[ply, row], over[ply, row] = state.current_player(), False
            actions[ply, row] = renumber(move)
            state.apply_action(move)
            ply += 1
        score[ply:, row] = state.returns()[0]

    first = jax.vmap(game.init)(jax.random.split(jax.random.key(0), number))
    seen = jax.device_get(replay(game, first, actions))
    assert (seen.over == over).all()
    assert (seen.score == score).all()
    assert (seen.player == player)[~over].all()
    assert (seen.legal == legal)[~over].all()
    assert (~over).sum() > 500, "enough moves to mean something"
