"""Every reply tried: what an agent can come to is counted whole, and a lost line is a game that it can lose."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest

from beamzero.arena.every_reply import play_every_reply
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.players.analysis import step

GAME = make_game("tic_tac_toe")


@functools.cache
def found(name, side):
    return play_every_reply(GAME, make_player(name, GAME), side)


def think(player, state):
    """float [A]: its policy."""
    thought = player.think(jax.tree.map(lambda x: np.asarray(x)[None], state), jax.random.key(0))
    return np.asarray(thought.policy)[0]


@pytest.mark.parametrize("side", [0, 1])
def test_a_player_that_may_do_anything_meets_every_position_there_is(side):
    """Known of tic-tac-toe: 5,478 positions with the empty board; 958 ends, of which X has won 626 and O 316."""
    every = found("random", side)
    ends = (every.wins, every.draws, every.losses)
    assert (every.side, every.positions) == (side, 5478)
    assert ends == ((626, 16, 316) if side == 0 else (316, 16, 626))


@pytest.mark.slow
@pytest.mark.parametrize("side", [0, 1])
def test_a_search_that_looks_far_enough_ahead_never_loses(side):
    perfect = found("alphabeta:6", side)
    assert (perfect.losses, perfect.lost_line) == (0, None)
    assert perfect.wins > 0 and perfect.draws > 0
    assert perfect.positions < found("random", side).positions


@pytest.mark.parametrize("side", [0, 1])
def test_a_lost_line_is_a_game_in_which_the_player_made_its_own_moves_and_lost(side):
    player = make_player("lookahead:1", GAME)
    loses = found("lookahead:1", side)
    assert loses.losses > 0 and loses.lost_line is not None
    state = GAME.init(jax.random.key(0))
    for name in loses.lost_line:
        action = GAME.parse_action(state, name)  # BadInput where it is not legal, or the game is over
        if int(GAME.player(state)) == side:
            policy = think(player, state)
            assert policy[action] == policy.max()
        state = step(GAME, state, action)
    assert bool(GAME.over(state)) and float(GAME.score(state)) == (-1 if side == 0 else 1)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("name", ["random", "lookahead:2"])
def test_a_position_counts_once_and_who_moves_there_decides_what_follows(name, side):
    """In Kalah a side may move again: a position comes after different numbers of moves, and a ply has both sides'."""
    game = make_game("kalah:houses=3,seeds=1")
    player = make_player(name, game)
    over, score, mover = (jax.jit(rule) for rule in (game.over, game.score, game.player))
    met: dict[bytes, float | None] = {}

    def walk(state):
        mark = b"".join(np.asarray(leaf).tobytes() for leaf in state)
        if mark not in met:
            met[mark] = float(score(state)) * (1 - 2 * side) if over(state) else None
            policy = think(player, state)
            for action in game.legal_actions(state):
                if int(mover(state)) != side or policy[action] == policy.max():
                    walk(step(game, state, action))

    walk(game.init(jax.random.key(0)))
    every = play_every_reply(game, player, side)
    results = list(met.values())
    assert every.positions == len(met)
    assert (every.wins, every.draws, every.losses) == tuple(results.count(result) for result in (1.0, 0.0, -1.0))


def test_a_game_that_is_too_large_is_given_up_in_one_line():
    told = []
    with pytest.raises(BadInput, match=r"^tic_tac_toe is too large: the agent can meet more than 500 positions$"):
        play_every_reply(GAME, make_player("random", GAME), 0, most=500, progress=told.append)
    assert told == sorted(told) and told[0] == 10
