"""Dice and the like, thrown: what goes on between the moves of games with chance events."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.games.game import CHANCE, Game, State, keep_if


def draw_outcome(game: Game, state: State, draw: Array) -> Array:
    """int32 []: the outcome of a chance event that `draw`, a float32 of [0, 1), picks by the odds."""
    return jnp.sum(jnp.cumsum(game.chance(state))[:-1] <= draw, dtype=jnp.int32)


def settle(game: Game, state: State, draw: Array) -> State:
    """The state after the chance event that comes next, as `draw` picks it; the state itself where none does."""
    if not game.num_chance:
        return state
    decides = (game.player(state) == CHANCE) & ~game.over(state)
    return keep_if(decides, game.resolve(state, draw_outcome(game, state, draw)), state)


def settle_all(game: Game, states: State, key: Array) -> State:
    """`settle` for [B] states, each with a draw of its own."""
    if not game.num_chance:
        return states
    batch = jax.tree.leaves(states)[0].shape[0]
    return jax.vmap(lambda state, draw: settle(game, state, draw))(states, jax.random.uniform(key, (batch,)))
