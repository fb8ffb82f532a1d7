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
TURNS, GAMES = 9, 4


def some_games(rng: np.random.Generator) -> SearchedGames:
    """Games of one to nine turns with stones enough for the side to move to be right, and any numbers beside."""
    lengths = rng.integers(1, TURNS + 1, GAMES)
    filled = [(1 << turn) - 1 for turn in range(TURNS)]
    stones = np.array([[[here & 0o525, here & 0o252] for here in filled] for _ in range(GAMES)], np.uint16)
    states = TicTacToeState(stones.swapaxes(0, 1), rng.integers(-100, 100, (TURNS, GAMES)).astype(np.int8))
    winner = rng.choice(np.array([-1, 0, 1], np.int8), GAMES)
    now = TicTacToeState(np.full((GAMES, 2), 0o777, np.uint16), winner)
    turns = np.arange(TURNS)[:, None]
    return SearchedGames(
        now=now,
        greedy=np.zeros(GAMES, bool),
        openings=jax.tree.map(lambda x: x[:1], states),
        begun=np.zeros(GAMES, np.int32),
        number=np.zeros(GAMES, np.int32),
        states=states,
        policy=rng.random((TURNS, GAMES, 9)).astype(np.float16),
        value=rng.uniform(-1, 1, (TURNS, GAMES)).astype(np.float32),
        played=turns < lengths[None],
        ended=turns == lengths[None] - 1,
        result=np.broadcast_to(winner.astype(np.float32), (TURNS, GAMES)),
        turn=np.int32(TURNS),
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
            for turn in range(int(games.played[:, game].sum())):
                sign = 1 if turn % 2 == 0 else -1
                outcome = (1 - share) * sign * games.now.winner[game] + share * games.value[turn, game]
                state = [games.states.stones[turn, game], games.states.winner[turn, game]]
                plain.append([*state, games.policy[turn, game], np.float32(outcome)])
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
