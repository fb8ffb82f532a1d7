"""The window of AlphaZero is a ring: the last positions in the order in which they came, and nothing else."""

from __future__ import annotations

from collections import deque

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.algorithms.alphazero.self_play import Credit, SearchedGames
from beamzero.algorithms.alphazero.window import Window, empty_window, keep
from beamzero.games import make_game
from beamzero.games.tic_tac_toe import TicTacToeState
from tests.training.toy import same_bits

GAME = make_game("tic_tac_toe")
PLIES, GAMES = 9, 4


def some_games(rng: np.random.Generator) -> SearchedGames:
    """Games of one to nine plies with stones enough for the side to move to be right, and any numbers beside."""
    lengths = rng.integers(1, PLIES + 1, GAMES)
    filled = [(1 << ply) - 1 for ply in range(PLIES)]
    stones = np.array([[[here & 0o525, here & 0o252] for here in filled] for _ in range(GAMES)], np.uint16)
    states = TicTacToeState(stones.swapaxes(0, 1), rng.integers(-100, 100, (PLIES, GAMES)).astype(np.int8))
    winner = rng.choice(np.array([-1, 0, 1], np.int8), GAMES)
    now = TicTacToeState(np.full((GAMES, 2), 0o777, np.uint16), winner)
    plies = np.arange(PLIES)[:, None]
    return SearchedGames(
        now=now,
        greedy=np.zeros(GAMES, bool),
        openings=jax.tree.map(lambda x: x[:1], states),
        begun=np.zeros(GAMES, np.int32),
        number=np.zeros(GAMES, np.int32),
        states=states,
        policy=rng.random((PLIES, GAMES, 9)).astype(np.float16),
        value=rng.uniform(-1, 1, (PLIES, GAMES)).astype(np.float32),
        played=plies < lengths[None],
        ended=plies == lengths[None] - 1,
        result=np.broadcast_to(winner.astype(np.float32), (PLIES, GAMES)),
        ply=np.int32(PLIES),
        evaluations=np.int32(0),
    )


def remembered(window: Window) -> list[list[np.ndarray]]:
    """The arrays of each real row, the oldest first."""
    size, following = int(window.size), int(window.next)
    capacity = window.rows.outcome.shape[0]
    order = np.arange(size) if size < capacity else (following + np.arange(size)) % capacity
    assert size == capacity or following == size
    return [[np.asarray(leaf)[row] for leaf in jax.tree.leaves(window.rows)] for row in order]


@pytest.mark.parametrize(
    ("capacity", "share"), [(7, 0.0), (50, 0.25)], ids=["smaller than what comes at once", "filled in a few"]
)
def test_it_holds_what_a_deque_would(capacity, share):
    rng = np.random.default_rng(0)
    window, plain = empty_window(GAME, capacity), deque(maxlen=capacity)
    overflows = 0
    for _ in range(8):
        games = some_games(rng)
        window = keep(GAME, Credit(search_value=share), window, games)
        overflows += games.played.sum() > capacity
        for game in range(GAMES):
            for ply in range(int(games.played[:, game].sum())):
                sign = 1 if ply % 2 == 0 else -1
                outcome = (1 - share) * sign * games.now.winner[game] + share * games.value[ply, game]
                state = [games.states.stones[ply, game], games.states.winner[ply, game]]
                plain.append([*state, games.policy[ply, game], np.float32(outcome)])
        ours = remembered(window)
        assert len(ours) == len(plain)
        for row, expected in zip(ours, plain, strict=True):
            for array, other in zip(row, expected, strict=True):
                assert array.dtype == other.dtype
                np.testing.assert_allclose(array, other, atol=1e-6)
    assert (overflows > 2) == (capacity == 7) and len(plain) == capacity


def test_it_is_the_same_after_it_lay_on_disk():
    window = keep(GAME, Credit(), empty_window(GAME, 50), some_games(np.random.default_rng(1)))
    tree = jax.tree.map(np.asarray, window.as_tree())
    assert all(isinstance(name, str) for name in tree["rows"]), "plain dicts"
    again = Window.from_tree(jax.tree.map(jnp.asarray, tree), GAME)
    assert isinstance(again.rows.states, TicTacToeState) and same_bits(window, again)
