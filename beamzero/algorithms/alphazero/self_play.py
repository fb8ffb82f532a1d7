"""Games that a search plays against itself, many at once; what it found in every position is what the net learns.

On a GPU all games run in one batch, on several in one batch each. A CPU has several shards of games, each a program of
its own, one a core at a time.

Games end at different times, and on a GPU a place whose game is over costs nearly as much as one that plays. So a shard
may play on: for so many plies a new game begins wherever one has ended, and only then are those that run played out.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.core.devices import everywhere, on_each, stacked, unstacked
from beamzero.core.progress import OnProgress, no_progress
from beamzero.games import Game, State
from beamzero.games.chance import draw_chance
from beamzero.games.game import keep_if
from beamzero.search.evaluator import Evaluator, side_sign
from beamzero.search.features import feature_evaluator, hand_made_weights
from beamzero.search.simple import Likeliest, random_moves
from beamzero.search.targets import TargetSearch
from beamzero.training.executor import Shard


@dataclasses.dataclass(frozen=True)
class SearchPlay:
    """Says how the games of one shard are played."""

    games: int
    max_turns: int
    temperature: float
    sampled_moves: int
    greedy_games: float
    random_plies: int = 0
    handicap: float = 0.0
    """The share of places whose games begin with random moves of one side only; the other's are the net's."""
    play_on: int = 0
    """Plies during which a new game begins wherever one has ended."""
    adjudicate: float = 0.0
    """A cut game's result is this share of what the game's own evaluation says of its last position."""
    adjudicate_scale: float = 1.0
    """A factor of that evaluation, as logarithms of odds."""

    @property
    def plies(self) -> int:
        """Count the plies that a place has at most, over all of its games: T."""
        return self.play_on + self.max_turns

    @property
    def handicapped(self) -> int:
        """Count the places, the first of a shard, whose games begin with one side at a disadvantage: H."""
        return math.ceil(self.handicap * self.games - 1e-9)

    @property
    def openings(self) -> int:
        """Count the openings that are made for each place: R. A place with more games than that begins some anew."""
        return 1 + -(-self.play_on // _PLIES_OF_A_SHORT_GAME)


_PLIES_OF_A_SHORT_GAME = 4
"""There are openings for all games of a place, unless they are even shorter on average."""


@dataclasses.dataclass(frozen=True)
class Credit:
    """Says how the result of a game is credited to the states on the way; by default, all of it to each."""

    search_value: float = 0.0
    """The share of what the search said, the rest being the game's result."""
    discount: float = 1.0
    """A result d plies ahead counts discount^d of itself: discount^1 in the last state that was played in."""
    evaluation: float = 0.0
    """The share of what the game's own evaluation says of the state itself, taken from that of the result."""
    evaluation_scale: float = 1.0
    """A factor of that evaluation, as logarithms of odds."""


class SearchedGames(NamedTuple):
    """The games of G places over T plies, [T, G]. Before the end, what is not played yet holds anything."""

    now: State  # [G, ...] where the games stand
    greedy: Array  # bool [G] whether the best move is always played
    openings: State  # [R, G, ...] where the games of a place begin, one after another
    begun: Array  # int32 [G] the ply with which the game that is there began
    number: Array  # int32 [G] how many began there before it
    states: State  # [T, G, ...] the decision states, in order
    policy: Array  # float16 [T, G, K] what the search says to play
    value: Array  # float32 [T, G] what it says the state is worth to the side to move
    played: Array  # bool [T, G] whether a game was played there then
    ended: Array  # bool [T, G] whether that ply was the last of its game
    result: Array  # float32 [T, G] where it was: the result of the game for side 0
    ply: Array  # int32 [] plies played
    evaluations: Array  # int32 [] of the last ply, or before the first one of the openings

    def targets(self, game: Game, credit: Credit) -> Array:
        """Compute the value's target in each state that was played, for the side to move: float32 [T, G]."""

        def earlier(later: tuple[Array, Array], row: tuple[Array, Array]) -> tuple[tuple[Array, Array], Any]:
            ended, result = row
            now = jnp.where(ended, result, later[0]), jnp.where(ended, 1.0, later[1] + 1.0)
            return now, now

        nothing = jnp.zeros(self.played.shape[1], jnp.float32)
        _, (result, ahead) = lax.scan(earlier, (nothing, nothing), (self.ended, self.result), reverse=True)
        outcome = jax.vmap(functools.partial(side_sign, game))(self.states) * result * credit.discount**ahead
        target = (1 - credit.search_value - credit.evaluation) * outcome + credit.search_value * self.value
        if not credit.evaluation:
            return target
        return target + credit.evaluation * jax.vmap(_own_evaluation(game, credit.evaluation_scale))(self.states)


def _own_evaluation(game: Game, scale: float) -> Callable[[State], Array]:
    """Make a function of states [B] that gives the game's own evaluation, float32 [B], for the sides to move."""
    return feature_evaluator(game, scale * hand_made_weights(game)).value


def play_shards(
    game: Game,
    search: TargetSearch,
    settings: SearchPlay,
    evaluator: Evaluator,
    shards: Sequence[Shard],
    on_progress: OnProgress = no_progress,
) -> list[tuple[SearchedGames, int]]:
    """Play the games of shards to their end, each on a device of its own; and how many evaluations each took.

    A single shard, or as many as there are devices. `on_progress` is called with how many places are finished, of how
    many; where a shard plays on, the share of the plies that are done stands for that.
    """
    began = stacked(shards)
    evaluator = evaluator if len(shards) == 1 else everywhere(evaluator)
    at = on_each(_Begin(game, settings), evaluator, began), began.key
    one_ply = _Ply(game, search, settings)
    evaluations = np.array(jax.device_get(at[0].evaluations), np.int64)
    idle = np.zeros(len(shards), np.int32)
    for number in range(1, settings.plies + 1):
        playing = idle < settings.games  # a shard that is finished waits for the others
        at, finished = on_each(one_ply, evaluator, at, used_up=True)
        idle, asked = jax.device_get((finished, at[0].evaluations))
        evaluations += np.where(playing, asked, 0)
        share = len(shards) * settings.games * number // settings.plies if settings.play_on else 0
        on_progress(max(int(idle.sum()), share), len(shards) * settings.games)
        if int(idle.min()) == settings.games:
            break
    return list(zip(unstacked(at[0]), evaluations.tolist(), strict=True))


@dataclasses.dataclass(frozen=True)
class _Begin:
    """A program: the beginnings of the games of a shard."""

    game: Game
    settings: SearchPlay

    def __call__(self, evaluator: Evaluator, shard: Shard) -> SearchedGames:
        game, plies, count = self.game, self.settings.plies, self.settings.games
        init_key, opening_key = jax.random.split(jax.random.split(shard.random_key)[0])
        states = self._open(count, init_key, opening_key)
        openings = jax.tree.map(lambda x: x[None], states)
        if more := self.settings.openings - 1:
            others = self._open(more * count, jax.random.fold_in(init_key, 1), jax.random.fold_in(opening_key, 1))
            openings = jax.tree.map(lambda x, y: jnp.concatenate([x, y.reshape(more, *x.shape[1:])]), openings, others)
        evaluations = jnp.int32(0)
        if self.settings.handicapped:
            openings, evaluations = self._handicap(openings, evaluator, jax.random.fold_in(opening_key, 2))
        # The whole part of number * share grows by one at every greedy game, so that they are spread evenly over the
        # run.
        number = (shard.number + jnp.arange(count, dtype=jnp.int32)).astype(jnp.float32)
        share = self.settings.greedy_games
        nothing, never = jnp.zeros((plies, count), jnp.float32), jnp.zeros((plies, count), jnp.bool_)
        return SearchedGames(
            now=jax.tree.map(lambda x: x[0], openings),
            greedy=jnp.floor((number + 1) * share) > jnp.floor(number * share),
            openings=openings,
            begun=jnp.zeros(count, jnp.int32),
            number=jnp.zeros(count, jnp.int32),
            states=jax.tree.map(lambda x: jnp.zeros((plies, *x.shape), x.dtype), states),
            policy=jnp.zeros((plies, count, game.max_moves), jnp.float16),
            value=nothing,
            played=never,
            ended=never,
            result=nothing,
            ply=jnp.int32(0),
            evaluations=evaluations,
        )

    def _open(self, count: int, init_key: Array, opening_key: Array) -> State:
        states = jax.vmap(self.game.init)(jax.random.split(init_key, count))
        return open_at_random(self.game, self.settings.random_plies, states, opening_key)

    def _handicap(self, openings: State, evaluator: Evaluator, key: Array) -> tuple[State, Array]:
        """Let the net move for one side of the `openings` [R, G] at the first H places. Returns also its evaluations.

        One round after another, since a net that is asked about all at once may need more memory than the games.
        """
        game, places = self.game, self.settings.handicapped

        def one_round(key: Array) -> tuple[State, Array]:
            init_key, opening_key = jax.random.split(key)
            states = jax.vmap(game.init)(jax.random.split(init_key, places))
            return open_with_handicap(game, self.settings.random_plies, states, evaluator, opening_key)

        states, evaluations = lax.map(one_round, jax.random.split(key, self.settings.openings))
        openings = jax.tree.map(lambda all_places, first: all_places.at[:, :places].set(first), openings, states)
        return openings, jnp.sum(evaluations)


def open_at_random(game: Game, most: int, states: State, key: Array) -> State:
    """Make 0 to `most` random moves in states [B], all numbers alike; a move that ends a game is not made."""
    plies, move_key = _draw_lengths(most, states, key)

    def move(ply: Array, states: State) -> State:
        now = jax.random.fold_in(move_key, ply)
        moved = jax.vmap(game.step)(states, random_moves(game, states, now))
        return _go_on(game, states, moved, ply < plies, now)

    return lax.fori_loop(0, most, move, states)


def open_with_handicap(game: Game, most: int, states: State, evaluator: Evaluator, key: Array) -> tuple[State, Array]:
    """Open games at random, with the evaluator's best moves for one side of each, drawn evenly.

    Returns the states [B] after 0 to `most` moves each, and how often the evaluator was asked.

    Where its move would end the game a random one is made, so that games go on in which one side is about to win.
    """
    side_key, key = jax.random.split(key)
    plies, move_key = _draw_lengths(most, states, key)
    ahead = jax.random.randint(side_key, plies.shape, 0, 2, jnp.int32)

    def move(ply: Array, at: tuple[State, Array]) -> tuple[State, Array]:
        states, asked = at
        now = jax.random.fold_in(move_key, ply)
        chooses = (jax.vmap(game.player)(states) == ahead) & (ply < plies)
        best = Likeliest()(game, evaluator, states, jax.random.fold_in(now, 2)).action
        chosen = jax.vmap(game.step)(states, best)
        moved = jax.vmap(game.step)(states, random_moves(game, states, now))
        moved = jax.vmap(keep_if)(chooses & ~jax.vmap(game.over)(chosen), chosen, moved)
        return _go_on(game, states, moved, ply < plies, now), asked + jnp.sum(chooses, dtype=jnp.int32)

    return lax.fori_loop(0, most, move, (states, jnp.int32(0)))


def _draw_lengths(most: int, states: State, key: Array) -> tuple[Array, Array]:
    """Draw how many moves each opening has, 0 to `most`: int32 [B]. Returns also a key for the moves."""
    count_key, move_key = jax.random.split(key)
    return jax.random.randint(count_key, jax.tree.leaves(states)[0].shape[:1], 0, most + 1, jnp.int32), move_key


def _go_on(game: Game, states: State, moved: State, where: Array, key: Array) -> State:
    """Take the states [B] after the moves, dice rolled, `where` [B] holds and no game has ended; else `states`."""
    moved = draw_chance(game, moved, jax.random.fold_in(key, 1))
    return jax.vmap(keep_if)(where & ~jax.vmap(game.over)(moved), moved, states)


@dataclasses.dataclass(frozen=True)
class _Ply:
    """A program: one move of every running game of a shard; and how many places are finished then."""

    game: Game
    search: TargetSearch
    settings: SearchPlay

    def __call__(
        self, evaluator: Evaluator, at: tuple[SearchedGames, Array]
    ) -> tuple[tuple[SearchedGames, Array], Array]:
        """Make the moves. `at` has the games and the data of their shard's key, which come back with them."""
        game, settings, (games, data) = self.game, self.settings, at
        ply, now = games.ply, games.now
        play_key = jax.random.split(jax.random.wrap_key_data(data))[1]
        search_key, draw_key = jax.random.split(jax.random.fold_in(play_key, ply))
        own_ply = ply - games.begun
        running = ~jax.vmap(game.over)(now) & (own_ply < settings.max_turns)
        greedy = games.greedy | (own_ply >= (settings.sampled_moves or settings.max_turns))

        def pick(draw: Array, best: Array) -> Array:
            drawn = jax.random.categorical(draw_key, jnp.log(draw) / settings.temperature, axis=1).astype(jnp.int32)
            return jnp.where(greedy, best, drawn)

        found = self.search.search_targets(game, evaluator, now, search_key, pick)
        after = draw_chance(game, found.after, jax.random.fold_in(draw_key, 1))
        ended = running & (jax.vmap(game.over)(after) | (own_ply + 1 >= settings.max_turns))
        result = self._result(after)
        games = games._replace(
            now=after,
            states=jax.tree.map(lambda h, s: h.at[ply].set(s), games.states, now),
            policy=games.policy.at[ply].set(found.policy.astype(jnp.float16)),
            value=games.value.at[ply].set(found.value),
            played=games.played.at[ply].set(running),
            ended=games.ended.at[ply].set(ended),
            result=games.result.at[ply].set(result),
            ply=ply + 1,
            evaluations=jnp.sum(jnp.where(running, found.evaluations, 0)),
        )
        if settings.play_on:
            games = games._replace(now=jax.vmap(keep_if)(running, after, now))  # a cut game stays where it was cut
            games = self._begin_anew(games, ended & (ply < settings.play_on))
        cut = games.ply - games.begun >= settings.max_turns
        return (games, data), jnp.sum(jax.vmap(game.over)(games.now) | cut, dtype=jnp.int32)

    def _result(self, after: State) -> Array:
        """Compute the results for side 0 of games that end here, by the rules or because they are cut: float32 [G]."""
        result = jax.vmap(self.game.score)(after)
        if not self.settings.adjudicate:
            return result
        says = _own_evaluation(self.game, self.settings.adjudicate_scale)(after)
        guess = self.settings.adjudicate * side_sign(self.game, after) * says
        return jnp.where(jax.vmap(self.game.over)(after), result, guess)

    def _begin_anew(self, games: SearchedGames, where: Array) -> SearchedGames:
        """Begin the next game of each place where `where` [G] holds."""
        number = games.number + where.astype(jnp.int32)
        places = jnp.arange(where.shape[0], dtype=jnp.int32)
        following = jax.tree.map(lambda x: x[number % self.settings.openings, places], games.openings)
        return games._replace(
            now=jax.vmap(keep_if)(where, following, games.now),
            begun=jnp.where(where, games.ply, games.begun),
            number=number,
        )
