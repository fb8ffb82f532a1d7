"""Logistic regression of the results of games on the features of their positions."""

from __future__ import annotations

import numpy as np

from beamzero.training.feature_weights.positions import Positions

_MIDDLE = 0.5
"""The middle of a game, as a share of the mean length."""


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
