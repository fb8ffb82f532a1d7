"""Calibration of an evaluation: how often positions are won, by the points that it gives them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beamzero.arena.intervals import Interval

EDGES = (-4.0, -2.0, -0.5, 0.5, 2.0, 4.0)
"""Edges of bins, in points: between them lie positions about 3 points behind, 1 behind, even, 1 ahead and 3 ahead."""

_Z = 1.959964  # of a 95% interval


class Bin(NamedTuple):
    """Positions that are evaluated alike, and how often they were won."""

    low: float
    high: float
    positions: int
    games: int
    mean: float
    """The mean of the evaluations, in points."""
    chance: float
    """The share of games that were won, a draw half a win; a game counts once, however many of its positions are here.
    NaN where none is."""
    interval: Interval


def calibrate(points: np.ndarray, result: np.ndarray, game: np.ndarray, edges: Sequence[float] = EDGES) -> list[Bin]:
    """Put `points` [N] into bins, each with the mean `result` [N], 0 to 1; `game` [N] numbers the games.

    Positions of one game share its end, so they are averaged before games are.
    """
    place = np.searchsorted(np.asarray(edges), points, side="right")
    bounds = [-math.inf, *edges, math.inf]
    bins = []
    for number, (low, high) in enumerate(itertools.pairwise(bounds)):
        here = place == number
        by_game = _mean_by_game(result[here], game[here])
        chance = float(np.mean(by_game)) if by_game.size else math.nan
        mean = float(np.mean(points[here])) if by_game.size else math.nan
        interval = wilson(chance, by_game.size)
        bins.append(Bin(low, high, int(here.sum()), by_game.size, mean, chance, interval))
    return bins


def _mean_by_game(result: np.ndarray, game: np.ndarray) -> np.ndarray:
    """Average the results [N] of positions over each game. Returns float64 [games]."""
    _, number = np.unique(game, return_inverse=True)
    return np.bincount(number, result) / np.bincount(number)


def wilson(chance: float, games: int) -> Interval:
    """Give Wilson's 95% interval of a mean of results from 0 to 1, which vary at most as wins and losses do."""
    if not games:
        return Interval(0.0, 1.0)
    middle = (chance + _Z**2 / (2 * games)) / (1 + _Z**2 / games)
    half = _Z / (1 + _Z**2 / games) * math.sqrt(chance * (1 - chance) / games + (_Z / (2 * games)) ** 2)
    return Interval(max(0.0, min(middle - half, chance)), min(1.0, max(middle + half, chance)))


def bin_of(bins: Sequence[Bin], points: float) -> Bin:
    """Find the bin that holds positions with this evaluation."""
    return next(b for b in bins if b.low <= points < b.high)


def grows(bins: Sequence[Bin]) -> bool:
    """Tell whether every bin that has games was won more often than the one below it."""
    chances = [b.chance for b in bins if b.games]
    return len(chances) > 1 and all(low < high for low, high in itertools.pairwise(chances))
