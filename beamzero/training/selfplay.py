"""Games that a Q net plays against itself, thousands at once, on the device."""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from beamzero.games import Game, State
from beamzero.search.evaluator import Evaluator, choose_best, legal_moves, side_sign
from beamzero.search.packing import apply_packed


@dataclasses.dataclass(frozen=True)
class SelfPlay:
    """How games are played: softmax(Q / temperature), mixed with Dirichlet noise; greedy after `sampled_moves`."""

    games: int
    max_turns: int
    temperature: float
    noise: float
    alpha: float
    sampled_moves: int


class Games(NamedTuple):
    """G finished games of at most T turns."""

    states: State  # [G, T, ...] the decision states, in order
    played: Array  # bool [G, T] whether the game got that far
    outcome: Array  # float32 [G, T] the game's result for the side to move in that state; 0 for a draw or a cut game
    length: Array  # int32 [G] turns played


@functools.partial(jax.jit, static_argnums=(0, 1))
def self_play(game: Game, settings: SelfPlay, evaluator: Evaluator, key: Array) -> Games:
    """Play the games in lockstep; finished ones cost nothing more."""
    start_key, play_key = jax.random.split(key)
    states = jax.vmap(game.init)(jax.random.split(start_key, settings.games))
    history = jax.tree.map(lambda x: jnp.zeros((settings.max_turns, *x.shape), x.dtype), states)
    played = jnp.zeros((settings.max_turns, settings.games), jnp.bool_)

    def go_on(carry: tuple[Array, State, State, Array]) -> Array:
        turn, states, _, _ = carry
        return (turn < settings.max_turns) & ~jnp.all(jax.vmap(game.over)(states))

    def body(carry: tuple[Array, State, State, Array]) -> tuple[Array, State, State, Array]:
        turn, states, history, played = carry
        running = ~jax.vmap(game.over)(states)
        history = jax.tree.map(lambda h, s: h.at[turn].set(s), history, states)
        action = choose_action(game, settings, evaluator, states, running, turn, jax.random.fold_in(play_key, turn))
        return turn + 1, jax.vmap(game.step)(states, action), history, played.at[turn].set(running)

    _, final, history, played = lax.while_loop(go_on, body, (jnp.int32(0), states, history, played))
    signs = jax.vmap(functools.partial(side_sign, game))(history)
    by_game = functools.partial(jax.tree.map, lambda x: jnp.swapaxes(x, 0, 1))
    return Games(
        states=by_game(history),
        played=played.T,
        outcome=(signs * jax.vmap(game.score)(final)[None]).T,
        length=jnp.sum(played, axis=0, dtype=jnp.int32),
    )


def choose_action(
    game: Game, settings: SelfPlay, evaluator: Evaluator, states: State, running: Array, turn: Array, key: Array
) -> Array:
    """int32 [G]: a move for each running game."""
    noise_key, draw_key, tie_key = jax.random.split(key, 3)
    legal = legal_moves(game, states)
    scores = apply_packed(lambda rows, _: evaluator.scores(rows), states, running, eighths=(2, 8))
    chances = move_probabilities(scores, legal, settings, noise_key)
    sampled = jax.random.categorical(draw_key, jnp.log(chances), axis=1).astype(jnp.int32)
    if settings.sampled_moves == 0:
        return sampled
    greedy, _ = choose_best(jnp.where(legal, scores, -jnp.inf), tie_key)
    return jnp.where(turn < settings.sampled_moves, sampled, greedy)


def move_probabilities(scores: Array, legal: Array, settings: SelfPlay, key: Array) -> Array:
    """float32 [G, A]: (1 - noise) softmax(scores / temperature) + noise Dirichlet(alpha), over the legal moves."""
    policy = jax.nn.softmax(jnp.where(legal, scores / settings.temperature, -jnp.inf), axis=1)
    if settings.noise == 0:
        return policy
    # Gamma numbers over their sum are Dirichlet; in logarithms, where even a tiny alpha leaves something to divide by.
    noise = jax.nn.softmax(jnp.where(legal, _log_gammas(key, settings.alpha, legal.shape), -jnp.inf), axis=1)
    return (1 - settings.noise) * policy + settings.noise * noise


def _log_gammas(key: Array, alpha: float, shape: tuple[int, ...]) -> Array:
    if alpha == 0.5:  # half the square of a normal number is Gamma(1/2): many times faster than the general way
        return jnp.log(jnp.square(jax.random.normal(key, shape)) / 2)
    return jax.random.loggamma(key, jnp.float32(alpha), shape)
