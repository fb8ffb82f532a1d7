"""Games of two players in lockstep, from given positions to their ends."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.cores import programs_at_once
from beamzero.core.progress import OnProgress, no_progress
from beamzero.games import Game, State
from beamzero.games.chance import NO_OUTCOME, draw_chance_outcomes
from beamzero.games.game import keep_if
from beamzero.players.player import FORFEIT, Player, choose_moves
from beamzero.search.evaluator import Evaluator
from beamzero.search.protocol import Search

_PLIES_AT_ONCE = 16
"""Plies that a program plays between two calls of the progress callback."""


class Finished(NamedTuple):
    """B games that were played."""

    states: State  # [B, ...] their ends, or where they were cut
    moves: np.ndarray  # int32 [B, T] of the players, -1 after a game's end
    outcomes: np.ndarray  # int32 [B, T] outcomes of chance after them, -1 where there was none
    forfeits: np.ndarray  # bool [2, B] whether either player gave the game up


@dataclasses.dataclass(frozen=True, eq=False)
class Match:
    """B games of two players that go on from given positions."""

    game: Game
    first: Player
    second: Player
    states: State  # [B, ...] where the games go on
    first_side: Array  # int32 [B] the side of the first player
    before: np.ndarray  # int32 [B, T] the moves that led there
    key: Array
    most: int  # plies at most: a game that is longer is cut

    @property
    def total(self) -> int:
        """Count the games, B."""
        return self.first_side.shape[0]


Play = Callable[[Match, OnProgress], Finished]
"""A way to play the games of a match: `play_games`, or another that draws moves from the same distribution."""


def play_games(match: Match, progress: OnProgress = no_progress) -> Finished:
    """Play on until all games are over or cut."""
    if can_play_as_one(match.first, match.second):
        return play_as_one(match, progress)
    return play_by_turns(match, progress)


def play_by_turns(match: Match, progress: OnProgress = no_progress) -> Finished:
    """Play on until all games are over or cut; each player, of any kind, is asked for its moves ply by ply."""
    game, states, first_side, before = match.game, match.states, match.first_side, match.before
    total = match.total
    made: list[Array] = []
    thrown: list[Array] = []
    forfeits = jax.device_put(np.zeros((2, total), bool))
    for ply in range(match.most):
        to_move, finished = _to_move(game, states, first_side, forfeits)
        progress(int(finished), total)
        if int(finished) == total:
            break
        now = jax.random.fold_in(match.key, ply)
        moves = [
            player.choose_after(states, mask, seat_key, np.concatenate([before, _moves_made(made, total)], axis=1))
            if player.follows_moves
            else player.choose(states, mask, seat_key)
            for player, mask, seat_key in zip(
                (match.first, match.second), to_move, (jax.random.fold_in(now, seat) for seat in (0, 1)), strict=True
            )
        ]
        states, action, outcome, forfeits = _step(game, states, to_move, moves, forfeits, jax.random.fold_in(now, 2))
        made.append(action)
        thrown.append(outcome)
    return Finished(states, _moves_made(made, total), _moves_made(thrown, total), np.asarray(forfeits))


def can_play_as_one(first: Player, second: Player) -> bool:
    """Tell whether two players can play whole games in one program."""
    return programs_at_once() == 1 and first.program is not None and second.program is not None


def play_as_one(match: Match, progress: OnProgress = no_progress) -> Finished:
    """Play on until all games are over or cut, by a program that plays many plies without the host.

    On a GPU the host takes longer than the nets.
    """
    one, other, most, total = match.first.program, match.second.program, match.most, match.total
    assert one is not None and other is not None
    searches, evaluators = (one.search, other.search), (one.evaluator, other.evaluator)
    nothing = jnp.full((most, total), NO_OUTCOME, jnp.int32)
    at = _InPlay(match.states, jnp.int32(0), nothing, nothing, jnp.zeros((2, total), jnp.bool_), jnp.int32(0))
    for ply in range(0, most, _PLIES_AT_ONCE):
        until = jnp.int32(min(ply + _PLIES_AT_ONCE, most))
        at = _some_plies(match.game, searches, evaluators, at, match.first_side, match.key, until)
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
    thrown: Array  # int32 [T, B] outcomes of chance after them; -1 where there is none
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
    """Play the games on until ply `until`, or until all of them are over."""

    def body(at: _InPlay) -> _InPlay:
        to_move, _ = _to_move(game, at.states, first_side, at.forfeits)
        now = jax.random.fold_in(key, at.ply)
        moves = [
            choose_moves(game, search, 1, evaluator, at.states, mask, jax.random.fold_in(now, seat), jnp.int32(0))
            for seat, (search, evaluator, mask) in enumerate(zip(searches, evaluators, to_move, strict=True))
        ]
        states, action, outcome, forfeits = _step(
            game, at.states, to_move, moves, at.forfeits, jax.random.fold_in(now, 2)
        )
        finished = _to_move(game, states, first_side, forfeits)[1]
        made, thrown = at.made.at[at.ply].set(action), at.thrown.at[at.ply].set(outcome)
        return _InPlay(states, at.ply + 1, made, thrown, forfeits, finished)

    return jax.lax.while_loop(lambda at: (at.ply < until) & (at.finished < first_side.shape[0]), body, at)


def _moves_made(made: Sequence[Array], total: int) -> np.ndarray:
    """Stack the moves of T plies, [B] each. Returns int32 [B, T]."""
    return np.array(jax.device_get(made), np.int32).reshape(-1, total).T


@functools.partial(jax.jit, static_argnums=0)
def _to_move(game: Game, states: State, first_side: Array, forfeits: Array) -> tuple[list[Array], Array]:
    """Tell for either player where it is to move, bool [B] each; and count the games that are over."""
    over = jax.vmap(game.over)(states) | jnp.any(forfeits, axis=0)
    mine = jax.vmap(game.player)(states) == first_side
    return [mine & ~over, ~mine & ~over], jnp.sum(over, dtype=jnp.int32)


@functools.partial(jax.jit, static_argnums=0)
def _step(
    game: Game, states: State, to_move: list[Array], moves: list[Array], forfeits: Array, key: Array
) -> tuple[State, Array, Array, Array]:
    """Make the moves and throw the dice.

    Returns the states after them, the moves [B] and the outcomes of the dice [B], both -1 where there was none, and
    bool [2, B]: the players that gave up, now or before.
    """
    action = jnp.where(to_move[0], moves[0], moves[1])
    given_up = jnp.stack(to_move) & (action == FORFEIT)[None]
    moved = (to_move[0] | to_move[1]) & (action != FORFEIT)
    after, outcome = draw_chance_outcomes(game, jax.vmap(game.step)(states, jnp.maximum(action, 0)), key)
    after = jax.vmap(keep_if)(~moved, states, after)
    return after, jnp.where(moved, action, -1), jnp.where(moved, outcome, NO_OUTCOME), forfeits | given_up
