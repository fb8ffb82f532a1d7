"""Thousands of random moves, played here and in OpenSpiel: the same are legal, the same side moves, the same wins."""

from __future__ import annotations

import functools
import random

import jax
import numpy as np
import pyspiel
import pytest

from beamzero.games import make_game
from tests.games.play import replay, stack


def same(action: int, player: int) -> int:
    return action


def from_bottom_left(action: int, player: int) -> int:
    """OpenSpiel counts the squares of tic-tac-toe from the top left, we from the bottom left."""
    return (2 - action // 3) * 3 + action % 3


def from_the_mover(action: int, player: int) -> int:
    """OpenSpiel counts the squares of checkers, light ones too, from the top left, and the first side sits below."""
    row, column, direction = action // 64, action // 8 % 8, action // 2 % 4  # up left, up right, down right, down left
    if player == 0:
        row, column, direction = 7 - row, 7 - column, (direction + 2) % 4
    return 32 * (2, 3, 1, 0)[direction] + 4 * row + column // 2


def from_its_left(action: int, player: int) -> int:
    """OpenSpiel counts all pits of mancala round the board, from the second side's store."""
    return action % 7 - 1


slow = functools.partial(pytest.param, marks=pytest.mark.slow)
RENUMBERED = {"tic_tac_toe": from_bottom_left, "checkers": from_the_mover, "kalah:seeds=4": from_its_left}


def seldom_in_othello(actions, player, over, score) -> list[bool]:
    passes = ((actions == 64) & ~over).sum(axis=0)
    discs = 4 + (~over).sum(axis=0) - passes
    return [passes.any(), (discs < 64).any(), (score[-1] == 0).any()]


def seldom_in_checkers(actions, player, over, score) -> list[bool]:
    again = (player[1:] == player[:-1]) & ~over[1:]
    return [again.any(), (again[1:] & again[:-1]).any(), *((score[-1] == result).any() for result in (-1, 0, 1))]


def seldom_in_kalah(actions, player, over, score) -> list[bool]:
    again = (player[1:] == player[:-1]) & ~over[1:]
    return [(again[1:] & again[:-1]).any(), *((score[-1] == result).any() for result in (-1, 0, 1))]


SELDOM = {"othello": seldom_in_othello, "checkers": seldom_in_checkers, "kalah:seeds=4": seldom_in_kalah}
"""What must have happened in some of the games: passes, ends with squares left, jumps in a row, every result."""


@pytest.mark.parametrize(
    ("ours", "theirs", "number"),
    [
        ("tic_tac_toe", "tic_tac_toe", 256),
        slow("connect_four", "connect_four", 128),
        ("connect_four:rows=4,columns=5,length=3", "connect_four(rows=4,columns=5,x_in_row=3)", 128),
        slow("connect_four:rows=9,columns=4", "connect_four(rows=9,columns=4,x_in_row=4)", 128),
        slow("connect_four:rows=3,columns=10,length=9", "connect_four(rows=3,columns=10,x_in_row=9)", 128),
        slow("connect_four:rows=16,columns=3,length=3", "connect_four(rows=16,columns=3,x_in_row=3)", 200),
        slow("connect_four:rows=8,columns=5,length=2", "connect_four(rows=8,columns=5,x_in_row=2)", 200),
        ("othello", "othello", 64),
        ("checkers", "checkers", 128),
        ("kalah:seeds=4", "mancala", 128),
    ],
)
def test_random_games_go_the_same_way(ours, theirs, number):
    game, peer = make_game(ours), pyspiel.load_game(theirs)
    renumber = RENUMBERED.get(ours, same)
    draw = random.Random(4)
    shape = (min(game.max_plies, 400) + 1, number)
    actions = np.zeros(shape, np.int32)
    legal = np.zeros((*shape, game.num_actions), bool)
    player = np.zeros(shape, np.int32)
    over = np.ones(shape, bool)
    score = np.zeros(shape, np.float32)
    for row in range(number):
        state, ply = peer.new_initial_state(), 0
        while not state.is_terminal():
            moves, side = state.legal_actions(), state.current_player()
            move = draw.choice(moves)
            legal[ply, row, [renumber(m, side) for m in moves]] = True
            player[ply, row], over[ply, row] = side, False
            actions[ply, row] = renumber(move, side)
            state.apply_action(move)
            ply += 1
        score[ply:, row] = state.returns()[0]

    longest = int((~over).sum(axis=0).max()) + 1
    actions, legal, player, over, score = (x[:longest] for x in (actions, legal, player, over, score))
    seen = replay(game, stack([game.init(jax.random.key(0))] * number), actions)
    assert (seen.over == over).all()
    assert (seen.score == score).all()
    assert (seen.player == player)[~over].all()
    assert (seen.legal == legal)[~over].all()
    assert (~over).sum() > 500, "enough moves to mean something"
    if ours in SELDOM:
        assert all(SELDOM[ours](actions, player, over, score))
