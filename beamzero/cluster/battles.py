"""The games of a battle, played by the workers of a cluster, some at a time."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from beamzero.arena.playing import Finished, Match, play_games
from beamzero.cluster.pool import Pool
from beamzero.core.progress import OnProgress, no_progress
from beamzero.games import Game, State, make_game
from beamzero.players import make_player
from beamzero.players.player import Player


class Part(NamedTuple):
    """Some of the games of a battle."""

    states: State  # [B, ...] where they go on
    first_side: np.ndarray  # int32 [B] the side of the first-named player
    before: np.ndarray  # int32 [B, T] the moves so far
    key: np.ndarray  # uint32: the data of a key


class ClusterPlay:
    """Plays as `play_games` does, but every part has its own key: other games, drawn from the same distribution.

    Workers make the players anew out of their names, which must be texts that `make_player` takes.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def __call__(self, match: Match, progress: OnProgress = no_progress) -> Finished:
        total = match.total
        rows = -(-total // (2 * self.pool.wanted))
        whole = jax.device_get((match.states, match.first_side)), match.before
        parts = []
        for number, begin in enumerate(range(0, total, rows)):
            # All parts have the same shape; games that fill up the last one are played and forgotten.
            places = np.minimum(np.arange(begin, begin + rows), total - 1)
            (some, sides), moves = jax.tree.map(lambda x, places=places: x[places], whole)
            key = jax.random.fold_in(match.key, number)
            parts.append(Part(some, sides, moves, np.asarray(jax.random.key_data(key))))
        function = functools.partial(play_part, match.game.spec, match.first.name, match.second.name, match.most)
        found: list[Finished] = []
        for done in self.pool.do(function, None, parts):
            found.append(done)
            progress(min(len(found) * rows, total), total)
        longest = max(one.moves.shape[1] for one in found)
        return Finished(
            jax.tree.map(lambda *x: jnp.concatenate(x)[:total], *[one.states for one in found]),
            np.concatenate([_pad(one.moves, longest) for one in found])[:total],
            np.concatenate([_pad(one.outcomes, longest) for one in found])[:total],
            np.concatenate([one.forfeits for one in found], axis=1)[:, :total],
        )


def _pad(moves: np.ndarray, length: int) -> np.ndarray:
    return np.pad(moves, ((0, 0), (0, length - moves.shape[1])), constant_values=-1)


def play_part(game: str, first: str, second: str, most: int, shared: None, part: Part) -> Finished:
    """Play a part. Returns plain arrays."""
    rules, one = _player(game, first)
    other = _player(game, second)[1]
    key = jax.random.wrap_key_data(jnp.asarray(part.key))
    states = jax.tree.map(jnp.asarray, part.states)
    match = Match(rules, one, other, states, jnp.asarray(part.first_side), part.before, key, most)
    return jax.device_get(play_games(match))


@functools.lru_cache(maxsize=16)
def _player(game: str, name: str) -> tuple[Game, Player]:
    rules = make_game(game)
    return rules, make_player(name, rules)
