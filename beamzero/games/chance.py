"""Chance events, such as dice, that are resolved between the moves of a game."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games.game import CHANCE, Game, State, keep_if

NO_OUTCOME = -1
"""Stands in place of an outcome where there was no chance event."""


def draw_outcome(game: Game, state: State, draw: Array) -> Array:
    """Return the outcome, int32 [], of the chance event that `draw`, a float32 of [0, 1), picks by probability."""
    return jnp.sum(jnp.cumsum(game.chance(state))[:-1] <= draw, dtype=jnp.int32)


def chance_is_next(game: Game, state: State) -> Array:
    """Tell, bool [], whether a chance event comes next; never where the game is over."""
    return (game.player(state) == CHANCE) & ~game.over(state)


def step_or_resolve(game: Game, state: State, choice: Array) -> State:
    """Return the state after the move `choice`; where a chance event comes next, after its outcome `choice`."""
    after = game.step(state, choice)
    if not game.num_chance:
        return after
    return keep_if(chance_is_next(game, state), game.resolve(state, choice), after)


def resolve_chance(game: Game, state: State, draw: Array) -> State:
    """Resolve the chance event that comes next by `draw`, a float32 of [0, 1); without one, return `state`."""
    if not game.num_chance:
        return state
    return keep_if(chance_is_next(game, state), game.resolve(state, draw_outcome(game, state, draw)), state)


def draw_chance(game: Game, states: State, key: Array) -> State:
    """Resolve the chance events that come next in states [B], each by a draw of its own."""
    return draw_chance_outcomes(game, states, key)[0]


def draw_chance_outcomes(game: Game, states: State, key: Array) -> tuple[State, Array]:
    """Resolve the chance events that come next in states [B], each by a draw of its own.

    Returns the states after them, and the outcomes, int32 [B]: NO_OUTCOME where there was no event.
    """
    batch = jax.tree.leaves(states)[0].shape[0]
    if not game.num_chance:
        return states, jnp.full(batch, NO_OUTCOME, jnp.int32)

    def one(state: State, draw: Array) -> tuple[State, Array]:
        outcome = jnp.where(chance_is_next(game, state), draw_outcome(game, state, draw), NO_OUTCOME)
        return resolve_chance(game, state, draw), outcome

    return jax.vmap(one)(states, jax.random.uniform(key, (batch,)))


def require_decision(game: Game, state: State) -> State:
    """Return `state`; BadInput where a chance event comes next in it."""
    if game.num_chance and bool(chance_is_next(game, state)):
        raise BadInput("chance decides next in this position: give one in which that is done, such as the dice rolled")
    return state


def parse_outcome(game: Game, state: State, text: str) -> int:
    """Return the outcome of the chance event in `state` that `text` names; BadInput with all that are possible."""
    probs = np.asarray(game.chance(state))
    names = {game.outcome_name(state, outcome): outcome for outcome in np.flatnonzero(probs > 0).tolist()}
    if text.strip() not in names:
        raise BadInput(f"{text.strip()!r} is nothing that chance can decide here (it can: {' '.join(names)})")
    return names[text.strip()]
