"""Positions of self-play, with the results of their games, for a regression to fit weights to."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.cores import side_by_side, to_host
from beamzero.core.packing import take_rows
from beamzero.core.progress import OnProgress
from beamzero.core.spec import parse
from beamzero.games import Game, State
from beamzero.players.classic import make_alphabeta
from beamzero.players.player import Player
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from beamzero.search.evaluator import Evaluator, side_sign
from beamzero.search.simple import random_moves

LONGEST_GAME = 400
"""In plies: a game that is longer counts as a draw here."""

_AT_ONCE = 512
"""Games in lockstep at most: enough to keep every core busy, few enough that not many wait for the last ones."""

_LINES_AT_ONCE = 32
"""Positions whose best lines one program follows."""


class Positions(NamedTuple):
    """N positions, with the results of their games."""

    features: np.ndarray  # float32 [N, F] for the side to move
    result: np.ndarray  # float64 [N] of the side to move: 1 for a win, 0.5 for a draw, 0 for a loss
    time: np.ndarray  # float64 [N] plies played, as a share of the mean length of a game
    game: np.ndarray  # int32 [N] the number of the game

    def where(self, wanted: np.ndarray) -> Positions:
        """Keep the positions where `wanted`, bool [N]."""
        return Positions(*(x[wanted] for x in self))


class _Ply(NamedTuple):
    """B games before a move."""

    features: Array  # float32 [B, F]
    sign: Array  # float32 [B] +1 where side 0 is to move
    running: Array  # bool [B]
    counts: Array  # bool [B] whether the position is one to learn from: the opening is over, the game is not


@dataclasses.dataclass(frozen=True)
class FeatureGames:
    """Games of a player against itself, for the features of their positions."""

    game: Game
    player: Player
    games: int
    random_plies: int
    """Most random moves that open a game; how many is drawn for each."""
    noise: float
    """The share of random moves after the opening."""
    quiet: QuietLines | None = None
    """With it, features are those at the quiet ends of best lines, and positions of games that end there are left out.
    """

    def play(self, key: Array, progress: OnProgress) -> Positions:
        """Play the games. Returns their positions after the openings."""
        batches = -(-self.games // _AT_ONCE)
        size = -(-self.games // batches)
        parts, lengths = [], []
        for number in range(batches):
            before = number * size
            plies, score = self._play_batch(
                size, jax.random.fold_in(key, number), lambda done: progress(before + done, self.games)
            )
            parts.append(_label(plies, score, before))
            lengths.append(plies.running.sum(axis=0))
        positions = Positions(*(np.concatenate(x) for x in zip(*parts)))
        positions = positions._replace(time=positions.time / np.mean(np.concatenate(lengths)))
        return positions.where(positions.game < self.games)

    def _play_batch(self, size: int, key: Array, on_finished: Callable[[int], None]) -> tuple[_Ply, np.ndarray]:
        """Play `size` games in lockstep. Returns their plies, [T, B, ...], and their scores, [B]."""
        game = self.game
        start_key, opening_key, key = jax.random.split(key, 3)
        states = _begin(game, size, start_key)
        openings = jax.random.randint(opening_key, (size,), 0, min(self.random_plies, game.max_plies // 3) + 1)
        plies = []
        for number in range(min(game.max_plies, LONGEST_GAME)):
            ply = _observe(game, states, openings, jnp.int32(number))
            finished = size - int(np.sum(ply.running))
            on_finished(finished)
            if finished == size:
                break
            if self.quiet is not None:
                ply = self.quiet(states, ply)
            now = jax.random.fold_in(key, number)
            at_random = _draw(now, jnp.float32(self.noise), openings, jnp.int32(number))
            chosen = self.player.choose(states, ply.running & ~at_random, now)
            states = _step(game, states, at_random, chosen, now)
            plies.append(jax.tree.map(np.asarray, ply))
        return jax.tree.map(lambda *x: np.stack(x), *plies), np.asarray(_scores(game, states))


@dataclasses.dataclass(frozen=True)
class QuietLines:
    """Follows the best line of a search of one ply, and of noisy moves beyond, to its quiet end."""

    game: Game
    evaluator: Evaluator

    def __call__(self, states: State, ply: _Ply) -> _Ply:
        """Replace the features by those at the ends of the lines, for the side to move here.

        Positions whose game is over there do not count.
        """
        rows = np.flatnonzero(ply.counts)
        groups = [rows[start : start + _LINES_AT_ONCE] for start in range(0, len(rows), _LINES_AT_ONCE)]
        features, counts = np.zeros(ply.features.shape, np.float32), np.zeros(ply.counts.shape, bool)
        for group, found in zip(groups, side_by_side(functools.partial(self._some, states), groups, on_host=True)):
            features[group], counts[group] = (np.asarray(x)[: len(group)] for x in found)
        return ply._replace(features=jax.device_put(features), counts=jax.device_put(counts))

    def _some(self, states: State, rows: np.ndarray) -> tuple[Array, Array]:
        some = take_rows(states, jnp.asarray(np.resize(rows, _LINES_AT_ONCE), jnp.int32))
        return _line_ends(self.game, *to_host((self.evaluator, some)))


@functools.partial(jax.jit, static_argnums=0)
def _line_ends(game: Game, evaluator: Evaluator, states: State) -> tuple[Array, Array]:
    """Find the features where the best lines end, float32 [B, F], and whether the games go on there, bool [B]."""
    name = "alphabeta:depth=1,hash=0"
    search = cast(AlphaBeta, make_alphabeta(name, parse(name), game).search)  # whose lines are asked for below

    def follow(state: State, action: Array) -> tuple[State, None]:
        after = game.step(state, jnp.maximum(action, 0))
        return jax.tree.map(lambda new, old: jnp.where(action >= 0, new, old), after, state), None

    def line_end(state: State) -> tuple[Array, Array]:
        begun = search.start(game, evaluator, jax.tree.map(lambda x: x[None], state), jax.random.key(0))
        line = search.finish(game, evaluator, begun).found.line[0]
        end, _ = jax.lax.scan(follow, state, line)
        sign = jnp.where(game.player(end) == game.player(state), 1.0, -1.0).astype(jnp.float32)
        return game.features(end) * sign, ~game.over(end)

    return jax.lax.map(line_end, states)


def _label(plies: _Ply, score: np.ndarray, first_game: int) -> Positions:
    """Take the positions after the openings, with the results of their games; `time` in plies."""
    ply, number = np.nonzero(plies.counts)
    own = np.sign(score[number] * plies.sign[ply, number])
    return Positions(
        features=np.asarray(plies.features)[ply, number],
        result=(1.0 + own.astype(np.float64)) / 2,
        time=ply.astype(np.float64),
        game=(first_game + number).astype(np.int32),
    )


@functools.partial(jax.jit, static_argnums=(0, 1))
def _begin(game: Game, size: int, key: Array) -> State:
    return jax.vmap(game.init)(jax.random.split(key, size))


@functools.partial(jax.jit, static_argnums=0)
def _observe(game: Game, states: State, openings: Array, ply: Array) -> _Ply:
    running = ~jax.vmap(game.over)(states)
    return _Ply(jax.vmap(game.features)(states), side_sign(game, states), running, running & (ply >= openings))


@jax.jit
def _draw(key: Array, noise: Array, openings: Array, ply: Array) -> Array:
    """Draw which games have a random move next, bool [B]."""
    return (ply < openings) | (jax.random.uniform(jax.random.fold_in(key, 2**20), openings.shape) < noise)


@functools.partial(jax.jit, static_argnums=0)
def _step(game: Game, states: State, at_random: Array, chosen: Array, key: Array) -> State:
    action = jnp.where(at_random, random_moves(game, states, key), chosen)
    return jax.vmap(game.step)(states, action)


@functools.partial(jax.jit, static_argnums=0)
def _scores(game: Game, states: State) -> Array:
    return jax.vmap(game.score)(states)
