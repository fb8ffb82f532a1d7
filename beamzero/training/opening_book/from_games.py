"""Opening books of the moves with the best results in games of an agent against itself.

Each game has a ply, one of those that the book covers, at which any legal move is tried. Before it moves are partly
random, and are not counted; after it both sides play as the agent does. So the mean result of a move is its value for
this agent, and each ply of the book has its share of the games.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase, no_progress
from beamzero.games import Game, State
from beamzero.players.book import as_numbers, fold, fold_action
from beamzero.players.player import Player, check_player
from beamzero.search.memory import check_memory
from beamzero.search.simple import random_moves
from beamzero.storage.bookfile import Book
from beamzero.training.opening_book.entries import BookEntry, Clock, check_plies, make_book

GAMES_AT_ONCE = 128

TRUST = 8
"""A move's mean result is taken as if so many more games had ended as the games from its position do on average."""


@dataclasses.dataclass(frozen=True)
class FromSelfPlay:
    """Says how games are played, and which of their positions are in the book."""

    games: int
    plies: int = 8
    """The number of plies of a game that the book covers."""
    least: int = 20
    """The number of times that a position must have come up to be in the book."""
    explore: float = 0.5
    """The probability that a move before the one to try is any legal one."""
    slip: float = 0.05
    """The probability of any legal move after the one to try, so that one game is not repeated."""

    def check(self, game: Game) -> None:
        """Raise BadInput where such a book cannot be made."""
        check_plies(game, self.plies)
        if self.games < 1:
            raise BadInput(f"self-play is {self.games} games, but must be 1 or more")
        if self.least < 1:
            raise BadInput(f"least is {self.least}, but must be 1 or more")
        # Of each move its position, itself and the result, as they came and sorted.
        check_memory({f"fewer games (now {self.games})": self.games * self.plies * 2 * 16}, "this book", on_host=True)


def self_play_book(
    game: Game,
    player: Player,
    plan: FromSelfPlay,
    minutes: float | None = None,
    seed: int = 0,
    on_progress: OnPhase = no_progress,
) -> Book:
    """Make a book of the best moves in games of `player` against itself; no new games begin after `minutes`."""
    plan.check(game)
    check_player(player, min(GAMES_AT_ONCE, plan.games))
    clock, key = Clock(minutes), jax.random.key(seed)
    tried, games = [], 0
    while games < plan.games and not (games and clock.is_over):
        on_progress("games", games, plan.games)
        batch = min(GAMES_AT_ONCE, plan.games)
        tried.append(_play(game, player, plan, batch, jax.random.fold_in(key, games)))
        games += batch
    entries = best_moves(Tried(*map(np.concatenate, zip(*tried))), plan.least)
    if not entries:
        raise BadInput(f"no position came up {plan.least} times in {games} games: play more, or set least lower")
    about = {"from": "self-play", "agent": player.name, "seed": seed, **dataclasses.asdict(plan), "games": games}
    return make_book(game, entries, about)


class Tried(NamedTuple):
    """M moves that were tried."""

    key: np.ndarray  # uint64 [M] of the position
    move: np.ndarray  # int32 [M] of the image that stands for all
    result: np.ndarray  # float32 [M] of the game, for the side that made the move


def best_moves(tried: Tried, least: int) -> dict[int, BookEntry]:
    """Find the move with the best mean result in each position that came up at least `least` times.

    A mean of few games is drawn towards that of all games from the position, so that one lucky game does not decide.
    """
    order = np.lexsort((tried.move, tried.key))
    key, move, result = (x[order] for x in tried)
    entries: dict[int, BookEntry] = {}
    for of_position in _runs(key):
        if of_position.stop - of_position.start < least:
            continue
        mean = float(result[of_position].mean())
        best = BookEntry(-1, -np.inf)
        for part in _runs(move[of_position]):
            results = result[of_position][part]
            value = float(results.sum() + TRUST * mean) / (results.size + TRUST)
            if value > best.value:
                best = BookEntry(int(move[of_position][part.start]), value)
        entries[int(key[of_position.start])] = best
    return entries


def _runs(numbers: np.ndarray) -> list[slice]:
    """Find the stretches of equal numbers."""
    starts = np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]]).tolist()
    return [slice(start, stop) for start, stop in zip(starts, [*starts[1:], numbers.size])]


# --- the games -------------------------------------------------------------------------------------------------------


class _Ply(NamedTuple):
    """Moves and marks of one ply of G games."""

    key: Array  # uint32 [G, 2]
    move: Array  # int32 [G] of the image that stands for all
    player: Array  # int32 [G]
    counts: Array  # bool [G] whether the game was running, and the move to try had come


def _play(game: Game, player: Player, plan: FromSelfPlay, games: int, key: Array) -> Tried:
    """Play to the end. Returns the moves of the first plies that count."""
    start_key, try_key, key = jax.random.split(key, 3)
    states = jax.vmap(game.init)(jax.random.split(start_key, games))
    try_at = jax.random.randint(try_key, (games,), 0, plan.plies, jnp.int32)
    plies: list[_Ply] = []
    for ply in range(game.max_plies):
        choose_key, chance_key = jax.random.split(jax.random.fold_in(key, ply))
        running, at_random = _prepare(game, plan, states, try_at, jnp.int32(ply), chance_key)
        if not bool(jnp.any(running)):
            break
        chosen = player.choose(states, running & ~at_random, choose_key)
        states, here = _move(game, states, chosen, at_random, running & (ply >= try_at), chance_key)
        if ply < plan.plies:
            plies.append(here)
    return _gather(jax.device_get(jax.tree.map(lambda *x: jnp.stack(x), *plies)), np.asarray(_scores(game, states)))


def _gather(plies: _Ply, score: np.ndarray) -> Tried:
    """Gather the moves that count; `plies` are [T, G] each, `score` [G] the results for side 0."""
    counts = np.asarray(plies.counts)
    result = np.where(np.asarray(plies.player) == 0, score[None], -score[None])
    return Tried(as_numbers(plies.key)[counts], np.asarray(plies.move)[counts], result[counts])


@functools.partial(jax.jit, static_argnums=(0, 1))
def _prepare(
    game: Game, plan: FromSelfPlay, states: State, try_at: Array, ply: Array, key: Array
) -> tuple[Array, Array]:
    """Find the games that go on, and draw those whose next move is any legal one: bool [G] each."""
    prob = jnp.where(ply < try_at, plan.explore, jnp.where(ply == try_at, 1.0, plan.slip))
    return ~jax.vmap(game.over)(states), jax.random.uniform(key, try_at.shape) < prob


@functools.partial(jax.jit, static_argnums=0)
def _move(game: Game, states: State, chosen: Array, at_random: Array, counts: Array, key: Array) -> tuple[State, _Ply]:
    """Make the chosen moves, or any legal ones where they are `at_random`. Returns also the ply as the book sees it."""
    action = jnp.where(at_random, random_moves(game, states, jax.random.fold_in(key, 0)), chosen)
    folded = jax.vmap(functools.partial(fold, game))(states)
    here = _Ply(folded.key, jax.vmap(fold_action)(folded, action), jax.vmap(game.player)(states), counts)
    return jax.vmap(game.step)(states, action), here


@functools.partial(jax.jit, static_argnums=0)
def _scores(game: Game, states: State) -> Array:
    return jax.vmap(game.score)(states)
