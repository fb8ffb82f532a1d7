"""Do the intervals of ratings hold what they promise? Tournaments of agents whose strengths are known.

    python benchmarks/interval_coverage.py [--tournaments 500] [--seed 0]

Eight agents, the first of them `random` at 1000. In a simulated game the opening favours one colour, so that the two
games of a pair depend on each other, and three in ten are drawn between equals. Everybody meets everybody in 100 games;
or as many games in all go to the pairings that narrow the intervals most, 100 at a time. Printed is the share of the
tournaments in which each agent's true strength lies in its 95% interval.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from beamzero.arena.rating import expected_score, fit, rate
from beamzero.arena.tournament import first_pairings, next_pairings

STRENGTHS = (1000.0, 1150.0, 1300.0, 1420.0, 1500.0, 1620.0, 1800.0, 1900.0)
NAMES = ("random", *(f"agent {number}" for number in range(1, len(STRENGTHS))))
PAIRS = 50
DRAWS = 0.3
Results = dict[tuple[str, str], np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tournaments", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(
        f"{arguments.tournaments} tournaments; share of them in which the interval holds the truth, and its mean width"
    )
    for title, play in (("everybody meets everybody", round_robin), ("the best pairings", best_pairings)):
        covered, widths = np.zeros(len(NAMES)), np.zeros(len(NAMES))
        for number in range(arguments.tournaments):
            rng = np.random.default_rng((arguments.seed, number))
            for place, rating in enumerate(rate(NAMES, play(rng), seed=number, resamples=400)):
                low = -math.inf if rating.low is None else rating.low
                high = math.inf if rating.high is None else rating.high
                covered[place] += low <= STRENGTHS[place] <= high
                widths[place] += high - low
        print(title)
        for place in range(1, len(NAMES)):
            share, width = covered[place] / arguments.tournaments, widths[place] / arguments.tournaments
            print(f"  {NAMES[place]} {STRENGTHS[place]:.0f}: {share:.3f}, {width:.0f} Elo wide")


def simulate(first: int, second: int, rng: np.random.Generator) -> np.ndarray:
    """Simulate scores of the first agent in pairs of games from the same openings, moving first and second. [P, 2]."""
    expected = expected_score(STRENGTHS[first] - STRENGTHS[second])
    favour = rng.uniform(-0.5, 0.5, PAIRS) * min(expected, 1 - expected)
    chance = expected + np.stack([favour, -favour], axis=1)
    drawn = DRAWS * 4 * chance * (1 - chance)  # never more than twice the chance of either side
    lot = rng.random((PAIRS, 2))
    return np.where(lot < chance - drawn / 2, 1.0, np.where(lot < chance + drawn / 2, 0.5, 0.0))


def round_robin(rng: np.random.Generator) -> Results:
    pairs = itertools.combinations(range(len(NAMES)), 2)
    return {(NAMES[first], NAMES[second]): simulate(first, second, rng) for first, second in pairs}


def best_pairings(rng: np.random.Generator) -> Results:
    count = len(NAMES)
    games, points = np.zeros((count, count)), np.zeros((count, count))
    results: Results = {}
    waiting = first_pairings(count)
    for _ in range(count * (count - 1) // 2):
        if waiting:
            first, second = waiting.pop(0)
        else:
            guess = fit(points + 0.05 * (games > 0), np.arange(count) > 0, np.zeros(count))
            first, second = next_pairings(guess, games, np.arange(count) == 0, 2 * PAIRS)[0]
        scores = simulate(first, second, rng)
        games[first, second] = games[second, first] = games[first, second] + scores.size
        points[first, second] += scores.sum()
        points[second, first] += scores.size - scores.sum()
        pair = NAMES[first], NAMES[second]
        results[pair] = np.concatenate([results[pair], scores]) if pair in results else scores
    return results


if __name__ == "__main__":
    main()
