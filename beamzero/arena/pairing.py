"""The next pairing of a tournament, so that the ratings of all become certain with the fewest games.

Where every agent's chance depends on the difference of two ratings (Bradley and Terry), a game between agents whose
chances are p and 1 - p has the Fisher information p (1 - p) about that difference: most between equals, next to
nothing where the winner is known. The inverse of all the information is the covariance of the ratings. The next pairing
is the one that takes most from the sum of the variances.
"""

import itertools

import numpy as np
from scipy.special import expit

_PRIOR = 0.1
"""Information about each rating before any game, so that agents who never met can be compared at all.

In log odds the standard deviation is about 3, 550 Elo.
"""


def covariance(ratings: np.ndarray, games: np.ndarray, anchored: np.ndarray) -> np.ndarray:
    """Give the covariance [N, N] of `ratings` [N] in log odds after `games` [N, N]; 0 for those `anchored` [N]."""
    of_pairs = games * _information(ratings)
    information = np.diag(of_pairs.sum(axis=1) + _PRIOR) - of_pairs
    free = ~anchored
    spread = np.zeros_like(information)
    spread[np.ix_(free, free)] = np.linalg.inv(information[np.ix_(free, free)])
    return spread


def gains(ratings: np.ndarray, games: np.ndarray, anchored: np.ndarray, more: int) -> np.ndarray:
    """Compute by how much the sum of all variances falls if two agents play `more` games: [N, N], symmetric, >= 0."""
    spread = covariance(ratings, games, anchored)
    information = more * _information(ratings)
    column = np.diag(spread)
    variance = column[:, None] + column[None] - 2 * spread  # of each difference
    squares = spread @ spread
    length = np.diag(squares)
    moved = length[:, None] + length[None] - 2 * squares  # |C (e_i - e_j)|^2
    gained = np.maximum(information * moved / (1 + information * variance), 0.0)
    return (gained + gained.T) / 2  # rounding aside it is symmetric as it is


def next_pairings(ratings: np.ndarray, games: np.ndarray, anchored: np.ndarray, more: int) -> list[tuple[int, int]]:
    """List all pairings, the one that narrows the intervals most first; of equal ones the first by number."""
    gained = gains(ratings, games, anchored, more)
    pairs = itertools.combinations(range(len(ratings)), 2)
    return sorted(pairs, key=lambda pair: (-round(float(gained[pair]), 12), pair))


def first_pairings(agents: int) -> list[tuple[int, int]]:
    """List pairings that connect every agent with the first: each meets it, and the one named before."""
    chain = [(number - 1, number) for number in range(1, agents)]
    return chain + [(0, number) for number in range(2, agents)]


def _information(ratings: np.ndarray) -> np.ndarray:
    """Compute the information of one game between each two agents: [N, N], 0 for a game against oneself."""
    score = expit(ratings[:, None] - ratings[None])
    return score * (1 - score) * (1 - np.eye(len(ratings)))
