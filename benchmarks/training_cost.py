"""The time of an iteration of the paper's Connect Four run, against the number of games and against E.

    python benchmarks/training_cost.py [--recipe NAME] [--games 250 500 1000 2000] [--expand 10 30 100]

Prints a table of seconds an iteration, after compilation, and how evenly it grows: evaluations a second should stay the
same, so that cost is linear in games and in E. Run from the root of the checkout; nothing of it needs to be installed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax

from beamzero.algorithms.probs.iterate import Probs
from beamzero.core.compiler import keep_compiled_code
from beamzero.games import make_game
from beamzero.training.recipes import find_recipe, make_settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", default="connect_four_paper_large")
    parser.add_argument("--games", type=int, nargs="+", default=[250, 500, 1000, 2000])
    parser.add_argument("--expand", type=int, nargs="+", default=[10, 30, 100])
    parser.add_argument("--iterations", type=int, default=4, help="measured, after one to compile")
    arguments = parser.parse_args()
    keep_compiled_code()
    recipe = find_recipe(arguments.recipe)
    print(f"{arguments.recipe} on {jax.devices()[0].device_kind}; medians of {arguments.iterations} iterations")
    print(" games     E  s/iteration  searched states  M evaluations/s  first, compiling")
    for games in arguments.games:
        for expand in arguments.expand:
            settings = make_settings(recipe, {"games": games, "expand": expand}).resolved(make_game(recipe.game))
            measure(Probs(make_game(recipe.game), settings), arguments.iterations)


def measure(algorithm: Probs, iterations: int) -> None:
    """Print one row of the table."""
    state = algorithm.init(jax.random.key(0))
    seconds, rates, searched = [], [], 0
    for iteration in range(1 + iterations):
        start = time.perf_counter()
        state, record = algorithm.iterate(state, iteration, jax.random.key(0), lambda *_: None)
        seconds.append(time.perf_counter() - start)
        rates.append(record["evaluations"] / record["seconds"]["search"] / 1e6)
        searched = record["searched"]
    settings = algorithm.settings
    print(
        f"{settings.games:>6} {settings.expand:>5} {statistics.median(seconds[1:]):>12.3f} {searched:>16,}"
        f" {statistics.median(rates[1:]):>16.2f} {seconds[0]:>17.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
