"""What a Ray cluster costs, and what it would give: the work of iterations by workers, beside the same in this process.

    python benchmarks/cluster.py --workers 2 --rounds 3 --json

Both do the same iterations in turns, after one that compiles, with the same numbers, bit for bit. A simulation goes on
from what was measured: how long a piece takes, and how many bytes come back. In it workers take pieces as they come,
the process that learns takes in their bytes one after another, and nothing else gets in the way.
"""

from __future__ import annotations

import argparse
import heapq
import json
import pickle
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax
import numpy as np

from beamzero.cluster.connect import connected
from beamzero.cluster.crew import ClusterCrew
from beamzero.cluster.pool import Pool
from beamzero.games import make_game
from beamzero.training.algorithms import ALGORITHMS
from beamzero.training.config import find_recipe, make_settings, settle
from beamzero.training.crew import CORES, Batch, Crew, Told, Work

RECIPES = ("connect_four_quick", "connect_four_alphazero_quick")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--recipes", nargs="+", default=RECIPES)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with connected("local"), Pool(arguments.workers) as pool:
        found = [measure(recipe, pool, arguments.rounds) for recipe in arguments.recipes]
    if arguments.json:
        print(json.dumps({"workers": arguments.workers, "recipes": found}))


class Counting:
    """A crew, and what goes to it and comes back."""

    def __init__(self, crew: Any) -> None:
        self.crew, self.pieces, self.sent, self.taken = crew, 0, 0, 0

    def do(self, work: Work, batch: Batch, told: Told, ahead: Any = ()) -> Any:
        self.sent += _size(batch.weights) + sum(map(_size, batch.pieces))
        for result in self.crew.do(work, batch, told, ahead):
            self.pieces += 1
            self.taken += _size(result)
            yield result

    def facts(self) -> Any:
        return {}


def _size(tree: Any) -> int:
    return len(pickle.dumps(jax.device_get(tree), protocol=5))


def measure(name: str, pool: Pool, rounds: int) -> dict[str, Any]:
    recipe = find_recipe(name)
    game, kind = make_game(recipe.game), ALGORITHMS[recipe.algorithm]
    algorithm = kind.algorithm(game, settle(make_settings(recipe, {}), game, pool.wanted))
    crews: dict[str, Crew] = {"here": CORES, "cluster": ClusterCrew(pool)}
    state = algorithm.init(jax.random.key(0))
    for crew in crews.values():
        algorithm.iterate(state, 0, jax.random.key(1), _quiet, crew=crew)
    seconds: dict[str, list[float]] = {who: [] for who in crews}
    by_crew: dict[str, list[float]] = {who: [] for who in crews}
    busy = sum(worker["seconds"] for worker in pool.facts()["by_worker"].values())
    states = 0
    for iteration in range(rounds):
        after = {}
        for who, crew in crews.items():
            begun = time.perf_counter()
            after[who], record = algorithm.iterate(state, iteration, jax.random.key(1), _quiet, crew=crew)
            seconds[who].append(time.perf_counter() - begun)
            by_crew[who].append(sum(s for part, s in record["seconds"].items() if part in ("self_play", "search")))
        same = zip(jax.tree.leaves(after["here"]), jax.tree.leaves(after["cluster"]), strict=True)
        assert all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in same), "not the same numbers"
        state, states = after["here"], states + record["states"]
    busy = sum(worker["seconds"] for worker in pool.facts()["by_worker"].values()) - busy
    counting = Counting(CORES)
    algorithm.iterate(state, rounds, jax.random.key(1), _quiet, crew=counting)
    result = {
        "recipe": name, "states_a_second_here": states / sum(by_crew["here"]),
        "states_a_second_cluster": states / sum(by_crew["cluster"]),
        "ratio": statistics.median(a / b for a, b in zip(by_crew["here"], by_crew["cluster"])),
        "pieces": counting.pieces, "piece_seconds": busy / rounds / counting.pieces,
        "other_seconds": statistics.median(a - b for a, b in zip(seconds["cluster"], by_crew["cluster"])),
        "bytes_sent": counting.sent, "bytes_taken": counting.taken,
    }  # fmt: skip
    result["scaling"] = {str(workers): simulate(result, workers) for workers in (1, 2, 4, 8, 16, 32, 64, 256, 1000)}
    print(json.dumps(result, indent=1), file=sys.stderr)
    return result


BYTES_A_SECOND = 1e9
"""What the process that learns takes in; an object store on one machine does several times that."""


def simulate(measured: dict[str, Any], workers: int, pieces_each: int = 4) -> float:
    """How many times the work of one worker so many get done, each with as many pieces an iteration as one had.

    The games of an iteration grow with the workers; so does what the learner has to fit, which it does in the same time
    as long as the minibatches are the same number.
    """
    pieces = pieces_each * workers
    each, taken = measured["piece_seconds"], measured["bytes_taken"] / measured["pieces"] / BYTES_A_SECOND
    free, port, last = [0.0] * workers, 0.0, 0.0
    heapq.heapify(free)
    for _ in range(pieces):
        done = heapq.heappop(free) + each
        heapq.heappush(free, done)
        port = max(port, done) + taken
        last = port
    alone = pieces * (each + taken)
    return alone / last


def _quiet(name: str, done: int, total: int) -> None:
    pass


if __name__ == "__main__":
    main()
