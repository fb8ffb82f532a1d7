"""95% intervals of a measured score, which keep the two games of an opening together.

A battle's `pair_scores` is a float array [P, 2]: for opening pair p the first agent's score (1 win, 0.5 draw, 0 loss)
in the game where it moved first, [:, 0], and in the one where it moved second, [:, 1]. The two games share an
opening, so they are not independent; the opening pairs are.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from beamzero.core.errors import BadInput

TAIL = 0.025  # the probability that a 95% interval leaves out on each side


class Interval(NamedTuple):
    """0 <= low <= the measured score <= high <= 1."""

    low: float
    high: float


def score_interval(pair_scores: np.ndarray, seed: int = 0, resamples: int = 10_000) -> Interval:
    """Give the 95% interval of the mean score, by a bootstrap over opening pairs.

    Laws: it holds the mean; the order of the pairs does not matter; seen from the other agent it is
    `(1 - high, 1 - low)`; the same seed gives the same interval; where every game was won, `low` is Clopper and
    Pearson's exact bound for that many games (200 of 200: 0.982).
    """
    means = pair_means(pair_scores)
    low = _low_end(means, seed, resamples)
    high = 1.0 - _low_end(1.0 - means, seed, resamples)
    return Interval(low, high)


def points_interval(pair_points: np.ndarray, stake: float, seed: int = 0) -> Interval:
    """Give the 95% interval of the mean of points, [P, 2] from -stake to stake, as `score_interval` does."""
    low, high = score_interval((np.asarray(pair_points) / stake + 1) / 2, seed)
    return Interval(stake * (2 * low - 1), stake * (2 * high - 1))


def pair_means(pair_scores: np.ndarray) -> np.ndarray:
    """Average the two games of each opening pair, [P]; BadInput unless `pair_scores` is [P, 2] and all are 0 to 1."""
    scores = np.asarray(pair_scores, dtype=float)
    if scores.ndim != 2 or scores.shape[1] != 2 or not len(scores):
        raise BadInput(f"pair scores have shape {list(scores.shape)}; allowed is [P, 2] with at least one opening pair")
    if not np.all((scores >= 0.0) & (scores <= 1.0)):
        raise BadInput("a score lies outside 0 to 1; allowed are 1 for a win, 0.5 for a draw, 0 for a loss")
    return scores.mean(axis=1)


def resample(
    means: np.ndarray, towards: float, rng: np.random.Generator, resamples: int, surprised: np.ndarray | bool = True
) -> np.ndarray:
    """Draw the mean scores, [resamples], that a battle of pairs with `means` [P] could have had with other openings.

    Rubin's Bayesian bootstrap: each pair gets a random exponential weight, so that no resample loses the only defeat.
    Where `surprised` ([resamples], or one for all) there is one more pair, which the battle did not happen to meet:
    it scores about one game more (`towards=1`) or less (`towards=-1`) than the mean. It keeps the interval open
    where all pairs score alike, and close to Clopper and Pearson's exact one where few games were lost.
    """
    values, counts = np.unique(means, return_counts=True)
    seen = rng.standard_gamma(counts, (resamples, len(counts)))  # equal pairs share the sum of their weights
    unseen = rng.standard_exponential(resamples) * surprised
    # One game is half a pair; in short battles slightly more, which makes P pairs of wins exact for 2P games.
    one_game = 1.0 / (1.0 + TAIL ** (0.5 / len(means)))
    surprise = np.clip(means.mean() + towards * one_game, 0.0, 1.0)
    return (seen @ values + unseen * surprise) / (seen.sum(axis=1) + unseen)


def _low_end(means: np.ndarray, seed: int, resamples: int) -> float:
    """Find the low end of the interval of the mean of `means` [P]."""
    resampled = resample(means, -1.0, np.random.default_rng(seed), resamples)
    return float(min(np.quantile(resampled, TAIL), means.mean()))


def mean_spread(numbers: np.ndarray) -> np.ndarray:
    """Give half the width of the 95% interval of the mean over the first axis, by Student's t; 0 for a single one."""
    number = len(numbers)
    if number < 2:
        return np.zeros(numbers.shape[1:])
    return stdtrit(number - 1, 1 - TAIL) * numbers.std(axis=0, ddof=1) / np.sqrt(number)
