"""Games that a Q net plays against itself, thousands at once, on the device.

The paper mixes softmax(Q) with noise from a Dirichlet distribution, drawn anew for each move. All that is done with
such noise is to draw one move from it, and that makes every legal move equally likely, by symmetry, whatever alpha is.
So games have the same law where the noise gives each of n moves 1/n, and Gamma numbers, which would take longer than
the nets (in chess 0.5 s a ply for 1000 games on one core), need not be drawn.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from beamzero.core.packing import apply_packed
from beamzero.games import Game, State
from beamzero.games.chance import chance_is_next, draw_chance
from beamzero.search.children import listed_moves
from beamzero.search.evaluator import Evaluator, choose_best, scores_of_moves, side_sign


@dataclasses.dataclass(frozen=True)
class SelfPlay:
    """Says how games are played: softmax(Q / temperature), mixed with noise; greedy after `sampled_moves`, if not 0."""

    games: int
    max_turns: int
    temperature: float
    noise: float
    sampled_moves: int


class Games(NamedTuple):
    """G finished games of at most T plies."""

    states: State  # [G, T, ...] the decision states, in order
    played: Array  # bool [G, T] whether the game got that far
    outcome: Array  # float32 [G, T] the game's result for the side to move in that state; 0 for a draw or a cut game
    length: Array  # int32 [G] plies played
    rolls: Rolls | None = None  # None in a game without chance events


class Rolls(NamedTuple):
    """Positions after G moves in each of T plies, before the dice were thrown."""

    states: State  # [G, T, ...]
    played: Array  # bool [G, T] whether dice were to be thrown there
    outcome: Array  # float32 [G, T] the game's result for the side that chooses after the roll


class _Seen(NamedTuple):
    """States as they are met, ply by ply."""

    states: State  # [T, G, ...]
    played: Array  # bool [T, G]

    def add(self, ply: Array, states: State, played: Array) -> _Seen:
        return jax.tree.map(lambda seen, now: seen.at[ply].set(now), self, _Seen(states, played))


@functools.partial(jax.jit, static_argnums=(0, 1))
def self_play(game: Game, settings: SelfPlay, evaluator: Evaluator, key: Array) -> Games:
    """Play the games in lockstep; finished ones cost nothing more."""
    start_key, play_key = jax.random.split(key)
    states = jax.vmap(game.init)(jax.random.split(start_key, settings.games))
    chance_key = jax.random.fold_in(play_key, settings.max_turns)
    states = draw_chance(game, states, jax.random.fold_in(chance_key, settings.max_turns))
    nothing = _Seen(
        jax.tree.map(lambda x: jnp.zeros((settings.max_turns, *x.shape), x.dtype), states),
        jnp.zeros((settings.max_turns, settings.games), jnp.bool_),
    )

    def go_on(carry: tuple[Array, State, _Seen, _Seen | None]) -> Array:
        ply, states, _, _ = carry
        return (ply < settings.max_turns) & ~jnp.all(jax.vmap(game.over)(states))

    def body(carry: tuple[Array, State, _Seen, _Seen | None]) -> tuple[Array, State, _Seen, _Seen | None]:
        ply, states, seen, rolls = carry
        running = ~jax.vmap(game.over)(states)
        action = choose_action(game, settings, evaluator, states, running, ply, jax.random.fold_in(play_key, ply))
        moved = jax.vmap(game.step)(states, action)
        if rolls is not None:
            rolls = rolls.add(ply, moved, running & jax.vmap(functools.partial(chance_is_next, game))(moved))
        after = draw_chance(game, moved, jax.random.fold_in(chance_key, ply))
        return ply + 1, after, seen.add(ply, states, running), rolls

    start = jnp.int32(0), states, nothing, nothing if game.num_chance else None
    _, final, seen, rolls = lax.while_loop(go_on, body, start)
    score = jax.vmap(game.score)(final)
    length = jnp.sum(seen.played, axis=0, dtype=jnp.int32)
    return Games(*_by_game(game, seen, score), length, None if rolls is None else Rolls(*_by_game(game, rolls, score)))


def _by_game(game: Game, seen: _Seen, score: Array) -> tuple[State, Array, Array]:
    """Give states and played as [G, T], and the games' `score` [G] for the side that chooses next, float32 [G, T]."""
    signs = jax.vmap(functools.partial(side_sign, game))(seen.states)
    states, played = jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), seen)
    return states, played, (signs * score[None]).T


def choose_action(
    game: Game, settings: SelfPlay, evaluator: Evaluator, states: State, running: Array, ply: Array, key: Array
) -> Array:
    """Choose a move for each running game, int32 [G]."""
    draw_key, tie_key = jax.random.split(key)
    moves, _, listed = listed_moves(game, states)
    scores, _ = apply_packed(
        lambda rows, _: scores_of_moves(evaluator, *rows), (states, moves), running, eighths=(2, 8)
    )
    scores = jnp.where(listed, scores, -jnp.inf)
    slot = jax.random.categorical(draw_key, jnp.log(move_probabilities(scores, settings)), axis=1)
    if settings.sampled_moves:
        slot = jnp.where(ply < settings.sampled_moves, slot, choose_best(scores, tie_key)[0])
    return jnp.take_along_axis(moves, slot[:, None], axis=1)[:, 0]


def move_probabilities(scores: Array, settings: SelfPlay) -> Array:
    """Mix noise into softmax, float32 [G, K]: (1 - noise) softmax(scores / temperature) + noise / n.

    n is the number of slots that are not -inf; the others have 0.
    """
    listed = scores > -jnp.inf
    policy = jax.nn.softmax(scores / settings.temperature, axis=1)
    even = jnp.where(listed, 1 / jnp.sum(listed, axis=1, keepdims=True, dtype=jnp.float32), 0.0)
    return (1 - settings.noise) * policy + settings.noise * even
