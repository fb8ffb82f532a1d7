"""The weights of a game's evaluation, learned from the outcomes of self-play by logistic regression.

One round:

1. play games with the weights known so far, each from a random opening of its own length, some later moves random too;
2. from every position after the openings search one ply, and noisy moves beyond; take the features at the end of the
   best line, where the evaluation was asked, and the winner of the game;
3. find the weights for which ``1 / (1 + exp(-weights @ features))`` fits the outcomes best;
4. go from the weights known so far towards these, as far as battles against the former say is best.

Why random moves: a feature that goes with winning need not cause it. Where both sides strive for a thing, one has it
mostly because it paid for it, and a regression calls it harmful. A random move gives and takes things for nothing, so
that the result shows their value; and a search has to judge positions after poor moves most of the time. But games of
random moves are other games, in which other things count. So the first round has many and later rounds few, and battles
between sides that make none decide.

The weight of a feature changes as a game goes on: a lead of two seeds says little in the beginning and all at the end.
One regression over all positions would mix this up with the weights of features beside each other, where some are
larger early and others late. Another has every feature also multiplied by time, and its weights for the middle of a
game are taken. Which is better depends on the game, so both are tried.

A regression has a constant too, the value of the right to move, so that the features need not stand in for it. It is no
part of the evaluation: a search compares positions after equally many moves, where it cancels out.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax
import numpy as np

from beamzero.arena.battle import battle
from beamzero.arena.battle_size import check_games
from beamzero.arena.intervals import score_interval
from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase
from beamzero.core.spec import parse
from beamzero.games import Game
from beamzero.players import SearchPlayer, make_player
from beamzero.players.classic import make_alphabeta
from beamzero.search.features import feature_evaluator
from beamzero.search.memory import check_memory
from beamzero.training.feature_weights.positions import LONGEST_GAME, FeatureGames, Positions, QuietLines

STEPS = (0.5, 1.0)
"""How far to go towards the weights of a regression: the one of these with which battles go best."""

_MIDDLE = 0.5
"""The middle of a game, as a share of the mean length."""

_LESS_NOISE = 5
"""By how much each round divides the share of random moves of the one before."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """Says how to learn weights."""

    games: int = 1000
    """Games of self-play in each round."""
    rounds: int = 2
    """How many rounds: the first plays with the weights made by hand, each other with those of the round before."""
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
    plies = min(game.max_plies, LONGEST_GAME) // 3
    row = 4 * len(game.feature_names) + 20 + 4 * 2 * 8 * len(game.feature_names)
    check_memory({f"fewer games (now {plan.games})": plan.games * plies * row}, on_host=True)
    player = make_player(f"alphabeta:depth={plan.depth}", game)
    check_games(game, [player], plan.trial_games, "trial games")


class StepTrial(NamedTuple):
    """The score of weights on the way to those of a regression, against the weights before."""

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
    """The score of the best of the trials in other games. It is taken if the 95% interval is above 0.5."""
    taken: bool
    points: np.ndarray  # float64 [F] the weights after the round, in points


class Learned(NamedTuple):
    """Weights, and where they come from. Those in points are as of positions that are spread as far as by hand."""

    points: np.ndarray  # float64 [F]
    point: float
    """How much a point adds to the logarithm of the odds."""
    tempo: float
    """How much the right to move adds to the logarithm of the odds."""
    rounds: list[Round]
    played: Positions
    """Positions of games with these weights, without random moves after the opening, for `point` and `tempo` alone."""

    @property
    def is_new(self) -> bool:
        """Tell whether the weights are others than those made by hand."""
        return any(one.taken for one in self.rounds)


def learn_weights(game: Game, plan: Plan, seed: int, report: OnPhase) -> Learned:
    """Do the rounds, then measure the value of a point and of the right to move."""
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
    played = FeatureGames(game, player, plan.games, plan.random_plies, noise=0.0)
    positions = played.play(key, functools.partial(report, "what a point is worth"))
    point, tempo = fit_point(points, positions)
    # From few games it may seem that points do harm; then the scale made by hand is the better guess.
    return Learned(points, point if point > 0 else game.point, tempo, rounds, positions)


def _round(game: Game, plan: Plan, points: np.ndarray, number: int, seed: int, report: OnPhase) -> Round:
    """Play, fit, try steps towards the fits, and take the best step if other games show that it is better."""
    key, noise = jax.random.fold_in(jax.random.key(seed), number), plan.noise / _LESS_NOISE**number
    quiet = QuietLines(game, feature_evaluator(game, points * game.point))
    games = FeatureGames(game, _player(game, plan.depth, points), plan.games, plan.random_plies, noise, quiet)
    positions = games.play(key, functools.partial(report, "self-play"))
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
    """Derive a seed far from those that people use, so that no opening of a trial comes back in a fair battle."""
    return (seed + 1_000_003 * (1 + 3 * number + part)) % 2**31


def _player(game: Game, depth: int, points: np.ndarray) -> SearchPlayer:
    """Make an alpha-beta with these weights. All of one depth compile once."""
    name = f"alphabeta:depth={depth}"
    return dataclasses.replace(
        make_alphabeta(name, parse(name), game), evaluator=feature_evaluator(game, points * game.point)
    )


def _as_spread(weights: np.ndarray, like: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Scale `weights` [F], so that they set positions apart as far as `like` [F] does."""
    spread = np.std(features @ weights)
    return weights * (np.std(features @ like) / spread) if spread > 0 else weights


def _trial(game: Game, plan: Plan, new: np.ndarray, old: np.ndarray, seed: int) -> np.ndarray:
    """Play new weights against old ones at an even depth and at an odd one, since they can be good at one alone.

    Returns the scores of the new ones, float64 [P, 2], by opening.
    """
    battles = [
        battle(game, _player(game, depth, new), _player(game, depth, old), plan.trial_games // 2, seed=seed)
        for depth in (plan.depth, plan.depth + 1)
    ]
    return np.concatenate([played.pair_scores for played in battles])


# --- logistic regression of the results of games on the features of their positions -----------------------------------


def fit_weights(positions: Positions) -> tuple[np.ndarray, float]:
    """Fit weights, float64 [F], and the value of the right to move, as logarithms of odds in the middle of a game."""
    features, late = positions.features.astype(np.float64), positions.time[:, None] - _MIDDLE
    coefficients, constant = regress(np.concatenate([features, features * late, late], axis=1), positions.result)
    return coefficients[: features.shape[1]], constant


def fit_point(points: np.ndarray, positions: Positions) -> tuple[float, float]:
    """Fit how much a point and the right to move add to the logarithm of the odds; weights [F] are in points."""
    (point,), tempo = fit_weights(positions._replace(features=positions.features @ points[:, None]))
    return float(point), tempo


def regress(columns: np.ndarray, result: np.ndarray, penalty: float = 1e-4) -> tuple[np.ndarray, float]:
    """Fit ``1 / (1 + exp(-columns @ coefficients - constant))`` to `result` [N]; `columns` are [N, C].

    Returns the coefficients, float64 [C], and the constant. Logistic regression by Newton's method: the least of
    ``cross entropy + penalty / 2 * sum(squares)`` is found, with coefficients as of columns that are scaled to a
    standard deviation of 1; the constant is not penalised. A column that is always the same has coefficient 0.
    """
    mean, spread = columns.mean(axis=0), columns.std(axis=0)
    spread = np.where(spread > 1e-9 * np.abs(mean), spread, np.inf)
    scaled = np.concatenate([(columns - mean) / spread, np.ones((len(columns), 1))], axis=1)
    found = _newton(scaled, result, np.array([penalty] * columns.shape[1] + [0.0]))
    coefficients = found[:-1] / spread
    return coefficients, float(found[-1] - mean @ coefficients)


def _newton(columns: np.ndarray, result: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Find where the penalised cross entropy is least, float64 [C]. Steps that go too far are halved."""
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
    """Compute the penalised mean cross entropy, its gradient [C] and its second derivatives [C, C]."""
    log_odds = columns @ at
    prob = 0.5 + 0.5 * np.tanh(0.5 * log_odds)
    loss = np.mean(np.logaddexp(0.0, log_odds) - result * log_odds) + 0.5 * penalty @ at**2
    gradient = columns.T @ (prob - result) / len(result) + penalty * at
    curvature = (columns * (prob * (1 - prob))[:, None]).T @ columns / len(result) + np.diag(penalty)
    return float(loss), gradient, curvature
