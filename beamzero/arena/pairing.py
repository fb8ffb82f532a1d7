"""Who should play whom next, so that the ratings of all become certain with the fewest games.

Where every agent's chance depends on the difference of two ratings (Bradley and Terry), a game between agents whose
chances are p and 1 - p tells p (1 - p) about that difference: most between equals, next to nothing where the winner is
known. The inverse of all that was told is the covariance of the ratings. The next pairing is the one that takes most
from the sum of the variances.
"""

import itertools

import numpy as np
from scipy.special import expit

_DOUBT = 0.1
"""What is known of a rating before any game, told as games: so that agents who never met can be compared at all.

In log odds the standard deviation is about 3, 550 Elo.
"""


def covariance(ratings: np.ndarray, games: np.ndarray, anchored: np.ndarray) -> np.ndarray:
    """[N, N] of the `ratings` [N] in log odds, after `games` [N, N] between each two; 0 for those `anchored` [N]."""
    told = games * _told(ratings)
    information = np.diag(told.sum(axis=1) + _DOUBT) - told
    free = ~anchored
    spread = np.zeros_like(information)
    spread[np.ix_(free, free)] = np.linalg.inv(information[np.ix_(free, free)])
    return spread


def gains(ratings: np.ndarray, games: np.ndarray, anchored: np.ndarray, more: int) -> np.ndarray:
    """[N, N]: by how much the sum of all variances falls if two agents play `more` games; symmetric, never negative."""
    spread = covariance(ratings, games, anchored)
    told = more * _told(ratings)
    column = np.diag(spread)
    doubt = column[:, None] + column[None] - 2 * spread  # the variance of each difference
    squares = spread @ spread
    length = np.diag(squares)
    moved = length[:, None] + length[None] - 2 * squares  # |C (e_i - e_j)|^2
    gained = np.maximum(told * moved / (1 + told * doubt), 0.0)
    return (gained + gained.T) / 2  # rounding aside it is symmetric as it is


def next_pairings(ratings: np.ndarray, games: np.ndarray, anchored: np.ndarray, more: int) -> list[tuple[int, int]]:
    """All pairings, the one that narrows the intervals most first; of equal ones the first by number."""
    gained = gains(ratings, games, anchored, more)
    pairs = itertools.combinations(range(len(ratings)), 2)
    return sorted(pairs, key=lambda pair: (-round(float(gained[pair]), 12), pair))


def first_pairings(agents: int) -> list[tuple[int, int]]:
    """Enough pairings that every agent is connected with the first: each meets it, and the one named before."""
    chain = [(number - 1, number) for number in range(1, agents)]
    return chain + [(0, number) for number in range(2, agents)]


def _told(ratings: np.ndarray) -> np.ndarray:
    """[N, N]: what one game tells, 0 for a game against oneself."""
    chance = expit(ratings[:, None] - ratings[None])
    return chance * (1 - chance) * (1 - np.eye(len(ratings)))
