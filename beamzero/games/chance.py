"""Dice and the like, thrown: what goes on between the moves of games with chance events."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games.game import CHANCE, Game, State, keep_if

NOTHING = -1
"""In place of an outcome, where chance had no say."""


def draw_outcome(game: Game, state: State, draw: Array) -> Array:
    """int32 []: the outcome of a chance event that `draw`, a float32 of [0, 1), picks by the odds."""
    return jnp.sum(jnp.cumsum(game.chance(state))[:-1] <= draw, dtype=jnp.int32)


def chance_is_next(game: Game, state: State) -> Array:
    """bool []: whether chance decides next; never where the game is over."""
    return (game.player(state) == CHANCE) & ~game.over(state)


def follow(game: Game, state: State, choice: Array) -> State:
    """The state after a move; where chance decides next, after the event came out as `choice`."""
    after = game.step(state, choice)
    if not game.num_chance:
        return after
    return keep_if(chance_is_next(game, state), game.resolve(state, choice), after)


def settle(game: Game, state: State, draw: Array) -> State:
    """The state after the chance event that comes next, as `draw` picks it; the state itself where none does."""
    if not game.num_chance:
        return state
    return keep_if(chance_is_next(game, state), game.resolve(state, draw_outcome(game, state, draw)), state)


def settle_all(game: Game, states: State, key: Array) -> State:
    """`settle` for [B] states, each with a draw of its own."""
    return throw_all(game, states, key)[0]


def throw_all(game: Game, states: State, key: Array) -> tuple[State, Array]:
    """The same, and int32 [B] how the events came out, NOTHING where there was none."""
    batch = jax.tree.leaves(states)[0].shape[0]
    if not game.num_chance:
        return states, jnp.full(batch, NOTHING, jnp.int32)

    def one(state: State, draw: Array) -> tuple[State, Array]:
        outcome = jnp.where(chance_is_next(game, state), draw_outcome(game, state, draw), NOTHING)
        return settle(game, state, draw), outcome

    return jax.vmap(one)(states, jax.random.uniform(key, (batch,)))


def must_be_decided(game: Game, state: State) -> State:
    """`state`, in which someone has to choose or the game is over; BadInput where chance decides next."""
    if game.num_chance and bool(chance_is_next(game, state)):
        raise BadInput("chance decides next in this position: give one in which that is done, such as the dice rolled")
    return state


def parse_outcome(game: Game, state: State, text: str) -> int:
    """The outcome that `text` names of a chance event in `state`; BadInput with those that there are."""
    odds = np.asarray(game.chance(state))
    names = {game.outcome_name(state, outcome): outcome for outcome in np.flatnonzero(odds > 0).tolist()}
    if text.strip() not in names:
        raise BadInput(f"{text.strip()!r} is nothing that chance can decide here (it can: {' '.join(names)})")
    return names[text.strip()]
