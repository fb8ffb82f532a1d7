"""Wald's sequential test: play until the games decide between two strengths, and no longer.

The question is whether one agent is stronger than another by `elo1` rather than by `elo0`. After every few opening
pairs the logarithm of the likelihood ratio is compared with two bounds: above the upper one the larger difference is
accepted, below the lower one the smaller. Each answer is wrong with a chance of about 5% where its opposite is true.

The two games of an opening depend on each other, so the unit is the pair, which scores 0, 1/4, 1/2, 3/4 or 1. The
distribution of these is not known beforehand. Both hypotheses take the one that fits the games best among those with
the mean that they claim (a generalised test).
"""

import math
from typing import NamedTuple

import numpy as np

from beamzero.arena.intervals import pair_means
from beamzero.arena.rating import expected_score
from beamzero.core.errors import BadInput

WRONG = 0.05  # the chance of either error
_OUTCOMES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
_UNSEEN = 1e-3  # pairs that count for an outcome that did not happen yet, since it could have
_MOST_ELO = 1000.0


class Verdict(NamedTuple):
    """The state of a test."""

    ratio: float  # the logarithm of the likelihood ratio, of elo1 against elo0
    low: float  # at or below this elo0 is accepted
    high: float  # at or above this elo1 is

    @property
    def accepted(self) -> int | None:
        """Give 0 or 1 for the hypothesis that is accepted, None where the games do not decide yet."""
        if self.ratio >= self.high:
            return 1
        return 0 if self.ratio <= self.low else None


class SPRT(NamedTuple):
    """A test of the difference `elo1` against `elo0`, in Elo; elo0 < elo1."""

    elo0: float
    elo1: float

    def check(self) -> "SPRT":
        """Return the test itself; raise BadInput where it can decide nothing."""
        if not -_MOST_ELO <= self.elo0 < self.elo1 <= _MOST_ELO:
            raise BadInput(
                f"sprt is {self.elo0:g} {self.elo1:g}, but must be two differences in Elo, the smaller one first,"
                f" from {-_MOST_ELO:g} to {_MOST_ELO:g}"
            )
        return self

    def verdict(self, pair_scores: np.ndarray) -> Verdict:
        """Judge the games so far; `pair_scores` [P, 2] are those of the agent in question.

        Laws: the order of the pairs does not matter; seen from the other agent, with the differences negated and
        swapped, the ratio changes its sign; without games it is 0.
        """
        high = math.log((1 - WRONG) / WRONG)
        if not len(pair_scores):
            return Verdict(0.0, -high, high)
        means = pair_means(pair_scores)
        counts = (np.abs(means[:, None] - _OUTCOMES) < 1e-9).sum(axis=0)
        if counts.sum() < len(means):
            raise BadInput("a pair of games scores other than 0, 1/4, 1/2, 3/4 or 1")
        weights = np.maximum(counts, _UNSEEN)
        seen = weights / weights.sum()
        fits = [_with_mean(seen, expected_score(elo)) for elo in (self.elo0, self.elo1)]
        return Verdict(float(weights.sum() * (seen @ np.log(fits[1] / fits[0]))), -high, high)


def _with_mean(seen: np.ndarray, mean: float) -> np.ndarray:
    """Find the distribution [5] with this mean under which outcomes with the frequencies `seen` [5] are most likely.

    By Lagrange it is seen / (1 + x (outcome - mean)), where x makes the mean right.
    """
    off = _OUTCOMES - mean

    def excess(x: float) -> float:
        return float((seen * off / (1.0 + x * off)).sum())

    edge = 1e-9
    from scipy.optimize import brentq  # which takes long to load, and few commands need it

    return seen / (1.0 + brentq(excess, -1.0 / off[-1] + edge, -1.0 / off[0] - edge) * off)
