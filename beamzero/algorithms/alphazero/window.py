"""The window that AlphaZero learns from: the last positions of its games; the oldest are overwritten."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.algorithms.alphazero.loss import AlphaZeroRows
from beamzero.algorithms.alphazero.self_play import Credit, SearchedGames
from beamzero.games import Game


class Window(NamedTuple):
    """Up to N positions. The first `size` rows are real."""

    rows: AlphaZeroRows  # [N, ...]
    size: Array  # int32 []
    next: Array  # int32 [] the row to be written next

    def as_tree(self) -> dict[str, Any]:
        """Give the window as plain dicts, as it is saved; its rows by the number of their arrays."""
        arrays = jax.tree.leaves(self.rows)
        return {"rows": {str(i): array for i, array in enumerate(arrays)}, "size": self.size, "next": self.next}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], game: Game) -> Window:
        leaves, structure = jax.tree.flatten(jax.eval_shape(functools.partial(empty_window, game, 1)).rows)
        rows = jax.tree.unflatten(structure, [tree["rows"][str(i)] for i in range(len(leaves))])
        return cls(rows, tree["size"], tree["next"])


@functools.partial(jax.jit, static_argnums=(0, 1))
def empty_window(game: Game, capacity: int) -> Window:
    """Make room for `capacity` positions."""
    state = jax.eval_shape(game.init, jax.random.key(0))
    rows = AlphaZeroRows(
        states=jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape), x.dtype), state),
        policy=jnp.zeros((capacity, game.max_moves), jnp.float16),
        outcome=jnp.zeros(capacity, jnp.float32),
    )
    return Window(rows, jnp.int32(0), jnp.int32(0))


@functools.partial(jax.jit, static_argnums=(0, 1))
def keep(game: Game, credit: Credit, window: Window, games: SearchedGames) -> Window:
    """Add the positions of `games` to the window, game by game; of more than it holds, the last ones."""
    outcome = games.targets(game, credit)
    capacity = window.rows.outcome.shape[0]

    def by_game(x: Array) -> Array:
        return jnp.swapaxes(x, 0, 1).reshape(x.shape[0] * x.shape[1], *x.shape[2:])

    new: AlphaZeroRows = jax.tree.map(by_game, AlphaZeroRows(games.states, games.policy, outcome))
    played = by_game(games.played)
    rank = jnp.cumsum(played.astype(jnp.int32)) - 1
    count = rank[-1] + 1
    fits = played & (rank >= count - capacity)
    place = jnp.where(fits, (window.next + rank) % capacity, capacity)
    return Window(
        rows=jax.tree.map(lambda old, x: old.at[place].set(x, mode="drop"), window.rows, new),
        size=jnp.minimum(window.size + count, capacity),
        next=(window.next + count) % capacity,
    )
