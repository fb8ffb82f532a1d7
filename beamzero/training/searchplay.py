"""Games that a search plays against itself, many at once; what it found in every position is what the net learns.

On a GPU all games run in one batch, on several in one batch each. A CPU has several lanes of games, each a program of
its own, one a core at a time.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.games import Game, State
from beamzero.games.chance import settle_all
from beamzero.games.game import keep_if
from beamzero.search.devices import everywhere, on_each, stacked, unstacked
from beamzero.search.evaluator import Evaluator, side_sign
from beamzero.search.features import feature_evaluator, hand_made_weights
from beamzero.search.simple import random_moves
from beamzero.search.teaching import Teacher
from beamzero.training.crew import Lane


@dataclasses.dataclass(frozen=True)
class SearchPlay:
    """How the games of one lane are played."""

    games: int
    max_turns: int
    temperature: float
    sampled_moves: int
    greedy_games: float
    random_plies: int = 0


@dataclasses.dataclass(frozen=True)
class Credit:
    """How what came of a game is credited to the states on the way; as it stands, the result of the game to all."""

    search_value: float = 0.0
    """The share of what the search said, the rest being the game's result."""
    adjudicate: float = 0.0
    """A cut game's result is this share of what the game's own evaluation says of its last position."""
    adjudicate_scale: float = 1.0
    """What that evaluation is multiplied by, as logarithms of odds."""
    discount: float = 1.0
    """A result d turns ahead counts discount^d of itself: discount^1 in the last state that was played in."""
    evaluation: float = 0.0
    """The share of what the game's own evaluation says of the state itself, taken from that of the result."""


class SearchedGames(NamedTuple):
    """G games of at most T turns, in turns: [T, G]. Before the end, what is not played yet holds anything."""

    now: State  # [G, ...] where the games stand
    greedy: Array  # bool [G] whether the best move is always played
    states: State  # [T, G, ...] the decision states, in order
    policy: Array  # float16 [T, G, K] what the search says to play
    value: Array  # float32 [T, G] what it says the state is worth to the side to move
    played: Array  # bool [T, G] whether the game got that far
    turn: Array  # int32 []
    evaluations: Array  # int32 [] of the last turn

    def targets(self, game: Game, credit: Credit) -> Array:
        """float32 [T, G]: what the value is to learn of each state, for the side to move there."""
        result = jax.vmap(game.score)(self.now)
        evaluate = feature_evaluator(game, credit.adjudicate_scale * hand_made_weights(game)).value
        if credit.adjudicate:
            guess = credit.adjudicate * side_sign(game, self.now) * evaluate(self.now)
            result = jnp.where(jax.vmap(game.over)(self.now), result, guess)
        turns = jnp.arange(self.played.shape[0], dtype=jnp.float32)[:, None]
        ahead = jnp.sum(self.played, axis=0, dtype=jnp.float32)[None] - turns
        outcome = jax.vmap(functools.partial(side_sign, game))(self.states) * result[None] * credit.discount**ahead
        target = (1 - credit.search_value - credit.evaluation) * outcome + credit.search_value * self.value
        return target + credit.evaluation * jax.vmap(evaluate)(self.states) if credit.evaluation else target


def play_lanes(
    game: Game,
    search: Teacher,
    settings: SearchPlay,
    evaluator: Evaluator,
    lanes: Sequence[Lane],
    progress: Callable[[int], None] = lambda done: None,
) -> list[tuple[SearchedGames, int]]:
    """Play the games of lanes to their end, each on a device of its own; and how many evaluations each took.

    A single lane, or as many as there are devices. `progress` is told how many games are over.
    """
    began = stacked(lanes)
    at = on_each(_Begin(game, settings), None, began), began.key
    turn = _Turn(game, search, settings)
    evaluator = evaluator if len(lanes) == 1 else everywhere(evaluator)
    evaluations, over = np.zeros(len(lanes), np.int64), np.zeros(len(lanes), np.int32)
    for _ in range(settings.max_turns):
        playing = over < settings.games  # a lane that is finished waits for the others
        at, ended = on_each(turn, evaluator, at, used_up=True)
        over, asked = jax.device_get((ended, at[0].evaluations))
        evaluations += np.where(playing, asked, 0)
        progress(int(over.sum()))
        if int(over.min()) == settings.games:
            break
    return list(zip(unstacked(at[0]), evaluations.tolist(), strict=True))


@dataclasses.dataclass(frozen=True)
class _Begin:
    """Where the games of a lane begin."""

    game: Game
    settings: SearchPlay

    def __call__(self, shared: None, lane: Lane) -> SearchedGames:
        game, turns, count = self.game, self.settings.max_turns, self.settings.games
        init_key, opening_key = jax.random.split(jax.random.split(lane.random_key)[0])
        states = jax.vmap(game.init)(jax.random.split(init_key, count))
        states = open_at_random(game, self.settings.random_plies, states, opening_key)
        # The whole part of number * share grows by one at every greedy game, so that they are spread evenly over the
        # run.
        number = (lane.number + jnp.arange(count, dtype=jnp.int32)).astype(jnp.float32)
        share = self.settings.greedy_games
        return SearchedGames(
            now=states,
            greedy=jnp.floor((number + 1) * share) > jnp.floor(number * share),
            states=jax.tree.map(lambda x: jnp.zeros((turns, *x.shape), x.dtype), states),
            policy=jnp.zeros((turns, count, game.max_moves), jnp.float16),
            value=jnp.zeros((turns, count), jnp.float32),
            played=jnp.zeros((turns, count), jnp.bool_),
            turn=jnp.int32(0),
            evaluations=jnp.int32(0),
        )


def open_at_random(game: Game, most: int, states: State, key: Array) -> State:
    """The states [B] after 0 to `most` random moves each, all numbers alike; a move that ends a game is not made."""
    count_key, move_key = jax.random.split(key)
    plies = jax.random.randint(count_key, (jax.tree.leaves(states)[0].shape[0],), 0, most + 1, jnp.int32)

    def move(ply: Array, states: State) -> State:
        now = jax.random.fold_in(move_key, ply)
        moved = jax.vmap(game.step)(states, random_moves(game, states, now))
        moved = settle_all(game, moved, jax.random.fold_in(now, 1))
        stay = (ply >= plies) | jax.vmap(game.over)(moved)
        return jax.vmap(keep_if)(stay, states, moved)

    return lax.fori_loop(0, most, move, states)


@dataclasses.dataclass(frozen=True)
class _Turn:
    """One move of every running game of a lane; and how many games are over then."""

    game: Game
    search: Teacher
    settings: SearchPlay

    def __call__(
        self, evaluator: Evaluator, at: tuple[SearchedGames, Array]
    ) -> tuple[tuple[SearchedGames, Array], Array]:
        """`at` are the games and the data of their lane's key, which come back with them."""
        game, settings, (games, data) = self.game, self.settings, at
        turn, now = games.turn, games.now
        play_key = jax.random.split(jax.random.wrap_key_data(data))[1]
        search_key, draw_key = jax.random.split(jax.random.fold_in(play_key, turn))
        running = ~jax.vmap(game.over)(now)
        greedy = games.greedy | (turn >= (settings.sampled_moves or settings.max_turns))

        def pick(draw: Array, best: Array) -> Array:
            drawn = jax.random.categorical(draw_key, jnp.log(draw) / settings.temperature, axis=1).astype(jnp.int32)
            return jnp.where(greedy, best, drawn)

        found = self.search.teach(game, evaluator, now, search_key, pick)
        after = settle_all(game, found.after, jax.random.fold_in(draw_key, 1))
        games = games._replace(
            now=after,
            states=jax.tree.map(lambda h, s: h.at[turn].set(s), games.states, now),
            policy=games.policy.at[turn].set(found.policy.astype(jnp.float16)),
            value=games.value.at[turn].set(found.value),
            played=games.played.at[turn].set(running),
            turn=turn + 1,
            evaluations=found.evaluations,
        )
        return (games, data), jnp.sum(jax.vmap(game.over)(after), dtype=jnp.int32)
