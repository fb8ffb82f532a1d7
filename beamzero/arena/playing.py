"""Many games of two players in lockstep, from given positions to their ends."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import Game, State
from beamzero.games.chance import NOTHING, throw_all
from beamzero.games.game import keep_if
from beamzero.players.player import FORFEIT, Player, choose_moves
from beamzero.search.cores import searches_at_once
from beamzero.search.evaluator import Evaluator
from beamzero.search.protocol import Search

_PLIES_AT_ONCE = 16
"""Plies that a program plays before it says how far the games are."""

Progress = Callable[[int, int], None]
"""Told how many games are finished, and of how many."""


class Finished(NamedTuple):
    """B games that were played."""

    states: State  # [B, ...] their ends, or where they were cut
    moves: np.ndarray  # int32 [B, T] of the players, -1 after a game's end
    outcomes: np.ndarray  # int32 [B, T] what chance decided after them, -1 where it had no say
    forfeits: np.ndarray  # bool [2, B] whether either player gave the game up


class Play(Protocol):
    """A way to play the games of a battle: `play_games`, or another with the same law."""

    def __call__(
        self,
        game: Game,
        first: Player,
        second: Player,
        states: State,
        first_side: Array,
        before: np.ndarray,
        key: Array,
        most: int,
        progress: Progress | None,
    ) -> Finished: ...


def play_games(
    game: Game,
    first: Player,
    second: Player,
    states: State,
    first_side: Array,
    before: np.ndarray,
    key: Array,
    most: int,
    progress: Progress | None,
) -> Finished:
    """Play on from `states` [B, ...] until all games are over, or `most` plies longer.

    `first_side`, int32 [B], is the side of the `first` player; `before`, int32 [B, T], are the moves that led there.
    """
    if can_play_as_one(first, second):
        return play_as_one(game, first, second, states, first_side, key, most, progress)
    return play_by_turns(game, first, second, states, first_side, before, key, most, progress)


def play_by_turns(
    game: Game,
    first: Player,
    second: Player,
    states: State,
    first_side: Array,
    before: np.ndarray,
    key: Array,
    most: int,
    progress: Progress | None,
) -> Finished:
    """The same for any players: each is asked for its moves, ply after ply."""
    total = first_side.shape[0]
    made: list[Array] = []
    thrown: list[Array] = []
    forfeits = jax.device_put(np.zeros((2, total), bool))
    for ply in range(most):
        turns, finished = _whose_turn(game, states, first_side, forfeits)
        if progress is not None:
            progress(int(finished), total)
        if int(finished) == total:
            break
        now = jax.random.fold_in(key, ply)
        moves = [
            player.choose_after(states, turn, seat_key, np.concatenate([before, _moves_made(made, total)], axis=1))
            if player.follows_moves
            else player.choose(states, turn, seat_key)
            for player, turn, seat_key in zip(
                (first, second), turns, (jax.random.fold_in(now, seat) for seat in (0, 1)), strict=True
            )
        ]
        states, action, outcome, forfeits = _step(game, states, turns, moves, forfeits, jax.random.fold_in(now, 2))
        made.append(action)
        thrown.append(outcome)
    return Finished(states, _moves_made(made, total), _moves_made(thrown, total), np.asarray(forfeits))


def can_play_as_one(first: Player, second: Player) -> bool:
    """Whether two players can play whole games in one program."""
    return searches_at_once() == 1 and first.program is not None and second.program is not None


def play_as_one(
    game: Game,
    first: Player,
    second: Player,
    states: State,
    first_side: Array,
    key: Array,
    most: int,
    progress: Progress | None,
) -> Finished:
    """The same, by a program that needs no host for many plies: on a GPU that takes longer than the nets."""
    one, other = first.program, second.program
    assert one is not None and other is not None
    searches, evaluators = (one.search, other.search), (one.evaluator, other.evaluator)
    total = first_side.shape[0]
    nothing = jnp.full((most, total), NOTHING, jnp.int32)
    at = _InPlay(states, jnp.int32(0), nothing, nothing, jnp.zeros((2, total), jnp.bool_), jnp.int32(0))
    for ply in range(0, most, _PLIES_AT_ONCE):
        until = jnp.int32(min(ply + _PLIES_AT_ONCE, most))
        at = _some_plies(game, searches, evaluators, at, first_side, key, until)
        if progress is not None:
            progress(int(at.finished), total)
        if int(at.finished) == total:
            break
    moves, outcomes = (np.asarray(x)[: int(at.ply)].T for x in (at.made, at.thrown))
    return Finished(at.states, moves, outcomes, np.asarray(at.forfeits))


class _InPlay(NamedTuple):
    """B games that are being played, at most T plies long."""

    states: State  # [B, ...]
    ply: Array  # int32 [] how many were played
    made: Array  # int32 [T, B] moves, and
    thrown: Array  # int32 [T, B] what chance decided after them; -1 where there is nothing
    forfeits: Array  # bool [2, B] whether either player gave the game up
    finished: Array  # int32 [] how many games are over


@functools.partial(jax.jit, static_argnums=(0, 1))
def _some_plies(
    game: Game,
    searches: tuple[Search, Search],
    evaluators: tuple[Evaluator, Evaluator],
    at: _InPlay,
    first_side: Array,
    key: Array,
    until: Array,
) -> _InPlay:
    """The games after `until` plies, or when all of them are over."""

    def body(at: _InPlay) -> _InPlay:
        turns, _ = _whose_turn(game, at.states, first_side, at.forfeits)
        now = jax.random.fold_in(key, at.ply)
        moves = [
            choose_moves(game, search, 1, evaluator, at.states, turn, jax.random.fold_in(now, seat), jnp.int32(0))
            for seat, (search, evaluator, turn) in enumerate(zip(searches, evaluators, turns, strict=True))
        ]
        states, action, outcome, forfeits = _step(
            game, at.states, turns, moves, at.forfeits, jax.random.fold_in(now, 2)
        )
        finished = _whose_turn(game, states, first_side, forfeits)[1]
        made, thrown = at.made.at[at.ply].set(action), at.thrown.at[at.ply].set(outcome)
        return _InPlay(states, at.ply + 1, made, thrown, forfeits, finished)

    return jax.lax.while_loop(lambda at: (at.ply < until) & (at.finished < first_side.shape[0]), body, at)


def _moves_made(made: Sequence[Array], total: int) -> np.ndarray:
    """int32 [B, T] of T times [B]."""
    return np.array(jax.device_get(made), np.int32).reshape(-1, total).T


@functools.partial(jax.jit, static_argnums=0)
def _whose_turn(game: Game, states: State, first_side: Array, forfeits: Array) -> tuple[list[Array], Array]:
    """bool [B] for either player: whether it has the move; and how many games are over."""
    over = jax.vmap(game.over)(states) | jnp.any(forfeits, axis=0)
    mine = jax.vmap(game.player)(states) == first_side
    return [mine & ~over, ~mine & ~over], jnp.sum(over, dtype=jnp.int32)


@functools.partial(jax.jit, static_argnums=0)
def _step(
    game: Game, states: State, turns: list[Array], moves: list[Array], forfeits: Array, key: Array
) -> tuple[State, Array, Array, Array]:
    """The states after the moves and the dice; the moves, -1 where there was none, and how the dice came out, the same;
    and who gave up, now or before.
    """
    action = jnp.where(turns[0], moves[0], moves[1])
    given_up = jnp.stack(turns) & (action == FORFEIT)[None]
    moved = (turns[0] | turns[1]) & (action != FORFEIT)
    after, outcome = throw_all(game, jax.vmap(game.step)(states, jnp.maximum(action, 0)), key)
    after = jax.vmap(keep_if)(~moved, states, after)
    return after, jnp.where(moved, action, -1), jnp.where(moved, outcome, NOTHING), forfeits | given_up
