"""CFR+: two strategies that learn from regret until neither can be beaten, for games of hidden cards.

In every information set each action has a regret: how much more it would have won so far than the moves that were
played, weighted by the probability that the other side and the deal lead there (the counterfactual value). Actions are
played in proportion to their regrets. The average over all iterations comes to an equilibrium: its exploitability falls
towards 0.

CFR+ (Tammelin, 2014) never lets a regret fall below 0, lets the sides learn in turn, and weighs late iterations more.
"""

from __future__ import annotations

import numpy as np

from beamzero.core.errors import BadInput
from beamzero.core.progress import OnProgress
from beamzero.solvers.deal_tree import DealTree


def solve(tree: DealTree, iterations: int, progress: OnProgress | None = None) -> np.ndarray:
    """Solve a game by so many iterations. Returns the average strategy, float [I, A]."""
    if iterations < 1:
        raise BadInput(f"iterations is {iterations}, but must be 1 or more")
    regrets, played = np.zeros(tree.legal.shape), np.zeros(tree.legal.shape)
    for iteration in range(1, iterations + 1):
        for side in (0, 1):
            update_regrets(tree, regrets, side)
        strategy = in_proportion(tree, regrets)
        played += iteration * tree.reach_of_sets(strategy)[:, None] * strategy
        if progress is not None:
            progress(iteration, iterations)
    return in_proportion(tree, played)


def update_regrets(tree: DealTree, regrets: np.ndarray, side: int) -> None:
    """Add to `regrets` [I, A], in place, what each action of `side` wins more than its strategy; none falls below 0."""
    strategy = in_proportion(tree, regrets)
    values = tree.action_values(strategy, side)
    better = np.where(tree.legal, values - np.sum(strategy * values, axis=1, keepdims=True), 0.0)
    np.maximum(regrets + better, 0.0, out=regrets)


def in_proportion(tree: DealTree, weights: np.ndarray) -> np.ndarray:
    """Make probabilities, float [I, A], in proportion to `weights` [I, A] of 0 or more; even ones where all are 0."""
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), tree.uniform())
