"""The weights of a game's evaluation, learned from the outcomes of self-play by logistic regression.

One round:

1. play games with the weights known so far, each from a random opening of its own length, some later moves random too;
2. from every position after the openings search one ply, and noisy moves beyond; take the features at the end of the
   best line, which are what the evaluation was asked about, and who won the game in the end;
3. find the weights for which ``1 / (1 + exp(-weights @ features))`` fits the outcomes best;
4. go from the weights known so far towards these, as far as battles against the former say is best.

Why random moves: what goes with winning need not be worth striving for. Where both sides strive for a thing, one has it
mostly because it paid for it, and a regression calls it harmful. A random move gives and takes things for nothing, so
that its outcome tells what they are worth; and a search has to judge positions after poor moves most of the time. But
games of random moves are other games, in which other things count. So the first round has many and later rounds few,
and battles between sides that make none decide.

What a feature is worth changes as a game goes on: a lead of two seeds says little in the beginning and all at the end.
One regression over all positions would mix this up with what features are worth beside each other, where some are
larger early and others late. Another has every feature also multiplied by time, and what it says about the middle of a
game is taken. Which is better depends on the game, so both are tried.

A regression has a constant too, the worth of the right to move, so that the features need not stand in for it. It is no
part of the evaluation: a search compares positions after equally many moves, where it cancels out.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.arena.battle import battle
from beamzero.arena.battle_size import check_games
from beamzero.arena.intervals import score_interval
from beamzero.core.cores import side_by_side, to_host
from beamzero.core.errors import BadInput
from beamzero.core.packing import take_rows
from beamzero.core.progress import OnPhase
from beamzero.core.spec import parse
from beamzero.games import Game, State
from beamzero.players import SearchPlayer, make_player
from beamzero.players.classic import make_alphabeta
from beamzero.players.player import Player
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from beamzero.search.evaluator import Evaluator, side_sign
from beamzero.search.features import feature_evaluator
from beamzero.search.memory import check_memory
from beamzero.search.simple import random_moves

_MOST_PLIES = 400
"""A game that is longer counts as a draw here."""

STEPS = (0.5, 1.0)
"""How far to go towards the weights of a regression: the one of these with which battles go best."""

_LESS_NOISE = 5
"""By how much each round divides the share of random moves of the one before."""

_AT_ONCE = 512
"""Games in lockstep at most: enough to keep every core busy, few enough that not many wait for the last ones."""

_SETTLED_AT_ONCE = 32
"""Positions that one program settles."""

_MIDDLE = 0.5
"""The middle of a game, as a share of the mean length."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """How to learn weights."""

    games: int = 1000
    """Games of self-play in each round."""
    rounds: int = 2
    """The first plays with the weights made by hand, each other with those of the round before."""
    depth: int = 2
    """Plies that are searched in self-play, and noisy moves beyond; trial battles search so many and one more."""
    random_plies: int = 20
    """Most random moves that open a game; how many is drawn for each."""
    noise: float = 0.5
    """The share of random moves after the opening, in the first round; later rounds have fewer."""
    trial_games: int = 400
    """Games of the battles for each step, half of them at either depth; a multiple of four."""

    def __post_init__(self) -> None:
        for name, least, most in (("games", 20, 10**6), ("rounds", 1, 100), ("depth", 1, 16)):
            if not least <= getattr(self, name) <= most:
                raise BadInput(f"{name} is {getattr(self, name)}, but must be {least} to {most}")
        if self.trial_games < 4 or self.trial_games % 4:
            raise BadInput(f"trial games is {self.trial_games}, but must be a multiple of 4")


def check_plan(game: Game, plan: Plan) -> None:
    """Raise BadInput where the positions or the trial battles would take more memory than is free."""
    # Of each position its features and, to fit them, four times twice as many numbers of eight bytes. How long games
    # will be is not known: a third of the longest.
    plies = min(game.max_plies, _MOST_PLIES) // 3
    row = 4 * len(game.feature_names) + 20 + 4 * 2 * 8 * len(game.feature_names)
    check_memory({f"fewer games (now {plan.games})": plan.games * plies * row}, on_host=True)
    player = make_player(f"alphabeta:depth={plan.depth}", game)
    check_games(game, [player], plan.trial_games, "trial games")


class Positions(NamedTuple):
    """N positions, and what came of them."""

    features: np.ndarray  # float32 [N, F] for the side to move
    result: np.ndarray  # float64 [N] of the side to move: 1 for a win, 0.5 for a draw, 0 for a loss
    time: np.ndarray  # float64 [N] plies played, as a share of the mean length of a game
    game: np.ndarray  # int32 [N] the number of the game

    def where(self, wanted: np.ndarray) -> Positions:
        return Positions(*(x[wanted] for x in self))


class StepTrial(NamedTuple):
    """How weights on the way to those of a regression did against the weights before."""

    regression: str
    step: float
    score: float


class Round(NamedTuple):
    """The result of one round."""

    noise: float
    positions: int
    regressions: dict[str, np.ndarray]  # float64 [F] by name: the weights in points, as far apart as those before
    trials: list[StepTrial]
    again: float
    """How the best of the trials did in other games. It is taken if the 95% interval is above 0.5."""
    taken: bool
    points: np.ndarray  # float64 [F] the weights after the round, in points


class Learned(NamedTuple):
    """Weights, and where they come from. Those in points are as of positions that are spread as far as by hand."""

    points: np.ndarray  # float64 [F]
    point: float
    """The logarithm of the odds that a point adds."""
    tempo: float
    """The logarithm of the odds that the right to move adds."""
    rounds: list[Round]
    played: Positions
    """Of games with these weights, no random moves after the opening. Only `point` and `tempo` are fitted to them."""

    @property
    def is_new(self) -> bool:
        """Whether the weights are others than those made by hand."""
        return any(one.taken for one in self.rounds)


def learn_weights(game: Game, plan: Plan, seed: int, report: OnPhase) -> Learned:
    """Play, fit and try, round after round; then measure what a point is worth."""
    if not game.feature_names:
        raise BadInput(f"{game.name} has no features, so there are no weights to be learned")
    check_plan(game, plan)
    points, rounds = np.array(game.point_weights, np.float64), []
    for number in range(plan.rounds):
        title = f"round {number + 1} of {plan.rounds}"
        rounds.append(_round(game, plan, points, number, seed, lambda what, *x, t=title: report(f"{t}: {what}", *x)))
        points = rounds[-1].points
    key = jax.random.fold_in(jax.random.key(seed), plan.rounds)
    player = _player(game, plan.depth, points)
    positions = play_positions(game, player, plan, 0.0, key, functools.partial(report, "what a point is worth"))
    point, tempo = _fit_point(points, positions)
    # From few games it may seem that points do harm; then the scale made by hand is the better guess.
    return Learned(points, point if point > 0 else game.point, tempo, rounds, positions)


def _round(game: Game, plan: Plan, points: np.ndarray, number: int, seed: int, report: OnPhase) -> Round:
    key, noise = jax.random.fold_in(jax.random.key(seed), number), plan.noise / _LESS_NOISE**number
    settle = Settle(game, feature_evaluator(game, points * game.point))
    player = _player(game, plan.depth, points)
    positions = play_positions(game, player, plan, noise, key, functools.partial(report, "self-play"), settle)
    fits = {"middle": fit_weights(positions)[0], "whole": regress(positions.features, positions.result)[0]}
    fits = {name: _as_spread(weights, points, positions.features) for name, weights in fits.items()}
    there = [(name, step, points + step * (fits[name] - points)) for name in fits for step in STEPS]
    trials: list[StepTrial] = []
    for name, step, weights in there:
        report("trials", len(trials), len(there) + 2)
        scores = _trial(game, plan, weights, points, _trial_seed(seed, number, 0))
        trials.append(StepTrial(name, step, float(np.mean(scores))))
    # The best of several battles was lucky too, so other games decide.
    best = max(range(len(there)), key=lambda one: trials[one].score)
    parts = []
    for more in (1, 2):
        report("trials", len(trials) + more - 1, len(there) + 2)
        parts.append(_trial(game, plan, there[best][2], points, _trial_seed(seed, number, more)))
    again = np.concatenate(parts)
    taken = score_interval(again).low > 0.5
    after = there[best][2] if taken else points
    return Round(noise, len(positions.game), fits, trials, float(np.mean(again)), taken, after)


def _trial_seed(seed: int, number: int, part: int) -> int:
    """Far from the seeds that people use, so that no opening of a trial comes back in a battle that is to be fair."""
    return (seed + 1_000_003 * (1 + 3 * number + part)) % 2**31


def _player(game: Game, depth: int, points: np.ndarray) -> SearchPlayer:
    """Make an alpha-beta with these weights. All of one depth compile once."""
    name = f"alphabeta:depth={depth}"
    return dataclasses.replace(
        make_alphabeta(name, parse(name), game), evaluator=feature_evaluator(game, points * game.point)
    )


def _as_spread(weights: np.ndarray, like: np.ndarray, features: np.ndarray) -> np.ndarray:
    """`weights` [F], scaled so that they set positions apart as far as `like` [F] does."""
    spread = np.std(features @ weights)
    return weights * (np.std(features @ like) / spread) if spread > 0 else weights


def _trial(game: Game, plan: Plan, new: np.ndarray, old: np.ndarray, seed: int) -> np.ndarray:
    """float64 [P, 2]: scores of weights against others, by opening, at an even depth and at an odd one.

    At both, since weights can be good at one alone.
    """
    battles = [
        battle(game, _player(game, depth, new), _player(game, depth, old), plan.trial_games // 2, seed=seed)
        for depth in (plan.depth, plan.depth + 1)
    ]
    return np.concatenate([played.pair_scores for played in battles])


# --- self-play -------------------------------------------------------------------------------------------------------


class _Look(NamedTuple):
    """Features and marks of B games before a move."""

    features: Array  # float32 [B, F]
    sign: Array  # float32 [B] +1 where side 0 is to move
    running: Array  # bool [B]
    counts: Array  # bool [B] whether the position is one to learn from: the opening is over, the game is not


def play_positions(
    game: Game,
    player: Player,
    plan: Plan,
    noise: float,
    key: Array,
    report: Callable[[int, int], None],
    settle: Settle | None = None,
) -> Positions:
    """The positions of `plan.games` games, after their openings, where `noise` is the share of random moves.

    With `settle`, features are those of settled positions, and positions where the game is about to end are left out.
    """
    batches = -(-plan.games // _AT_ONCE)
    size = -(-plan.games // batches)
    parts, lengths = [], []
    for number in range(batches):
        before = number * size
        table = _Table(game, player, size, noise, settle)
        looks, score = table.play(
            plan.random_plies, jax.random.fold_in(key, number), lambda done: report(before + done, plan.games)
        )
        parts.append(_label(looks, score, before))
        lengths.append(looks.running.sum(axis=0))
    positions = Positions(*(np.concatenate(x) for x in zip(*parts)))
    positions = positions._replace(time=positions.time / np.mean(np.concatenate(lengths)))
    return positions.where(positions.game < plan.games)


@dataclasses.dataclass(frozen=True)
class _Table:
    """Where games are played in lockstep."""

    game: Game
    player: Player
    size: int
    noise: float
    settle: Settle | None

    def play(self, random_plies: int, key: Array, report: Callable[[int], None]) -> tuple[_Look, np.ndarray]:
        """Play the games. Returns the looks at them, [T, B, ...], and their scores [B]."""
        game, size = self.game, self.size
        start_key, opening_key, key = jax.random.split(key, 3)
        states = _begin(game, size, start_key)
        openings = jax.random.randint(opening_key, (size,), 0, min(random_plies, game.max_plies // 3) + 1)
        looks = []
        for ply in range(min(game.max_plies, _MOST_PLIES)):
            look = _look(game, states, openings, jnp.int32(ply))
            finished = size - int(np.sum(look.running))
            report(finished)
            if finished == size:
                break
            if self.settle is not None:
                look = self.settle(states, look)
            now = jax.random.fold_in(key, ply)
            at_random = _draw(now, jnp.float32(self.noise), openings, jnp.int32(ply))
            chosen = self.player.choose(states, look.running & ~at_random, now)
            states = _step(game, states, at_random, chosen, now)
            looks.append(jax.tree.map(np.asarray, look))
        return jax.tree.map(lambda *x: np.stack(x), *looks), np.asarray(_scores(game, states))


@dataclasses.dataclass(frozen=True)
class Settle:
    """Goes to the end of the best line of a search of one ply, and noisy moves beyond."""

    game: Game
    evaluator: Evaluator

    def __call__(self, states: State, look: _Look) -> _Look:
        """`look`, with the features there, for the side to move here; nothing counts where the game is over there."""
        rows = np.flatnonzero(look.counts)
        groups = [rows[start : start + _SETTLED_AT_ONCE] for start in range(0, len(rows), _SETTLED_AT_ONCE)]
        features, counts = np.zeros(look.features.shape, np.float32), np.zeros(look.counts.shape, bool)
        for group, found in zip(groups, side_by_side(functools.partial(self._some, states), groups, on_host=True)):
            features[group], counts[group] = (np.asarray(x)[: len(group)] for x in found)
        return look._replace(features=jax.device_put(features), counts=jax.device_put(counts))

    def _some(self, states: State, rows: np.ndarray) -> tuple[Array, Array]:
        some = take_rows(states, jnp.asarray(np.resize(rows, _SETTLED_AT_ONCE), jnp.int32))
        return _settled(self.game, *to_host((self.evaluator, some)))


@functools.partial(jax.jit, static_argnums=0)
def _settled(game: Game, evaluator: Evaluator, states: State) -> tuple[Array, Array]:
    """float32 [B, F], bool [B]: the features where the best lines end, and whether the games go on there."""
    name = "alphabeta:depth=1,hash=0"
    search = cast(AlphaBeta, make_alphabeta(name, parse(name), game).search)  # whose lines are asked for below

    def follow(state: State, action: Array) -> tuple[State, None]:
        after = game.step(state, jnp.maximum(action, 0))
        return jax.tree.map(lambda new, old: jnp.where(action >= 0, new, old), after, state), None

    def settle(state: State) -> tuple[Array, Array]:
        begun = search.start(game, evaluator, jax.tree.map(lambda x: x[None], state), jax.random.key(0))
        line = search.finish(game, evaluator, begun).found.line[0]
        end, _ = jax.lax.scan(follow, state, line)
        sign = jnp.where(game.player(end) == game.player(state), 1.0, -1.0).astype(jnp.float32)
        return game.features(end) * sign, ~game.over(end)

    return jax.lax.map(settle, states)


def _label(looks: _Look, score: np.ndarray, first_game: int) -> Positions:
    """The positions after the openings, with the results of their games; `time` in plies."""
    ply, number = np.nonzero(looks.counts)
    own = np.sign(score[number] * looks.sign[ply, number])
    return Positions(
        features=np.asarray(looks.features)[ply, number],
        result=(1.0 + own.astype(np.float64)) / 2,
        time=ply.astype(np.float64),
        game=(first_game + number).astype(np.int32),
    )


@functools.partial(jax.jit, static_argnums=(0, 1))
def _begin(game: Game, size: int, key: Array) -> State:
    return jax.vmap(game.init)(jax.random.split(key, size))


@functools.partial(jax.jit, static_argnums=0)
def _look(game: Game, states: State, openings: Array, ply: Array) -> _Look:
    running = ~jax.vmap(game.over)(states)
    return _Look(jax.vmap(game.features)(states), side_sign(game, states), running, running & (ply >= openings))


@jax.jit
def _draw(key: Array, noise: Array, openings: Array, ply: Array) -> Array:
    """bool [B]: which games have a random move next."""
    return (ply < openings) | (jax.random.uniform(jax.random.fold_in(key, 2**20), openings.shape) < noise)


@functools.partial(jax.jit, static_argnums=0)
def _step(game: Game, states: State, at_random: Array, chosen: Array, key: Array) -> State:
    action = jnp.where(at_random, random_moves(game, states, key), chosen)
    return jax.vmap(game.step)(states, action)


@functools.partial(jax.jit, static_argnums=0)
def _scores(game: Game, states: State) -> Array:
    return jax.vmap(game.score)(states)


# --- regression ------------------------------------------------------------------------------------------------------


def fit_weights(positions: Positions) -> tuple[np.ndarray, float]:
    """float64 [F], and the worth of the right to move: logarithms of odds, as they are in the middle of a game."""
    features, late = positions.features.astype(np.float64), positions.time[:, None] - _MIDDLE
    coefficients, constant = regress(np.concatenate([features, features * late, late], axis=1), positions.result)
    return coefficients[: features.shape[1]], constant


def _fit_point(points: np.ndarray, positions: Positions) -> tuple[float, float]:
    """Fit how much a point and the right to move add to the logarithm of the odds; weights [F] are in points."""
    (point,), tempo = fit_weights(positions._replace(features=positions.features @ points[:, None]))
    return float(point), tempo


def regress(columns: np.ndarray, result: np.ndarray, penalty: float = 1e-4) -> tuple[np.ndarray, float]:
    """float64 [C] and a constant, for which ``1 / (1 + exp(-columns @ coefficients - constant))`` fits `result` [N].

    Logistic regression by Newton's method. The least of ``cross entropy + penalty / 2 * sum(squares)`` is found, with
    coefficients as of columns that are scaled to a standard deviation of 1; the constant is not penalised. A column
    that is always the same has coefficient 0.
    """
    mean, spread = columns.mean(axis=0), columns.std(axis=0)
    spread = np.where(spread > 1e-9 * np.abs(mean), spread, np.inf)
    scaled = np.concatenate([(columns - mean) / spread, np.ones((len(columns), 1))], axis=1)
    found = _newton(scaled, result, np.array([penalty] * columns.shape[1] + [0.0]))
    coefficients = found[:-1] / spread
    return coefficients, float(found[-1] - mean @ coefficients)


def _newton(columns: np.ndarray, result: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """float64 [C]: where the penalised cross entropy is least. Steps that go too far are halved."""
    at = np.zeros(columns.shape[1])
    loss, gradient, curvature = _loss(columns, result, penalty, at)
    for _ in range(100):
        step = np.linalg.solve(curvature, gradient)
        if gradient @ step < 1e-18:
            break
        while _loss(columns, result, penalty, at - step)[0] > loss:
            step = step / 2
        at = at - step
        loss, gradient, curvature = _loss(columns, result, penalty, at)
    return at


def _loss(
    columns: np.ndarray, result: np.ndarray, penalty: np.ndarray, at: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """The penalised mean cross entropy, its gradient [C] and its second derivatives [C, C]."""
    log_odds = columns @ at
    chance = 0.5 + 0.5 * np.tanh(0.5 * log_odds)
    loss = np.mean(np.logaddexp(0.0, log_odds) - result * log_odds) + 0.5 * penalty @ at**2
    gradient = columns.T @ (chance - result) / len(result) + penalty * at
    curvature = (columns * (chance * (1 - chance))[:, None]).T @ columns / len(result) + np.diag(penalty)
    return float(loss), gradient, curvature
