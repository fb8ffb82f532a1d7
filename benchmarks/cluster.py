"""The speed of a Ray cluster: iterations by its workers, beside the same iterations in this process.

    python benchmarks/cluster.py --workers 2 --rounds 3 --json

All do the same iterations in turns, after one that compiles, with the same numbers, bit for bit. A simulation
(cluster_plan.py) goes on from what was measured; what it says of one and two workers stands beside what these did.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pickle
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cluster_plan
import jax
import numpy as np
from cluster_plan import Measured, Phase

from beamzero.cluster.connect import connected
from beamzero.cluster.executor import ClusterExecutor
from beamzero.cluster.pool import Pool
from beamzero.core.progress import OnProgress
from beamzero.games import make_game
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.executor import LOCAL_EXECUTOR, Batch, Executor, Work, WorkInSteps
from beamzero.training.recipes import find_recipe, make_settings

RECIPES = ("connect_four_quick", "connect_four_alphazero_quick")
LARGE = 8 * 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--recipes", nargs="+", default=RECIPES)
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="change settings of the recipes")
    parser.add_argument("--plan", type=int, default=1000, help="workers to plan for")
    parser.add_argument("--price", type=float, default=0.02, help="dollars for an hour of one core")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    changes = dict(text.split("=", 1) for text in arguments.set)
    found = []
    with connected("local"):
        with Pool(arguments.workers) as pool:
            store = measure_store(pool)
            trials = {
                name: measure(name, changes, pool, arguments.workers, arguments.rounds) for name in arguments.recipes
            }
        with Pool(1) as pool:
            alone = {
                name: measure(name, changes, pool, arguments.workers, arguments.rounds) for name in arguments.recipes
            }
    print(json.dumps(store, indent=1), file=sys.stderr)
    for name, trial in trials.items():
        measured = model(trial, arguments.workers, store)
        found.append(
            {
                **trial.figures, "one_worker": alone[name].figures,
                "simulated_seconds": [simulate(measured, arguments.workers, count) for count in (1, arguments.workers)],
                "phases": [dataclasses.asdict(phase) for phase in measured.phases],
                "scaling": list(cluster_plan.scaling(measured)), "saturation": cluster_plan.saturation(measured),
                "plan": cluster_plan.plan(measured, arguments.plan, arguments.price),
            }
        )  # fmt: skip
        show(found[-1])
    if arguments.json:
        print(json.dumps({"workers": arguments.workers, "store": store, "recipes": found}))


# --- measuring -------------------------------------------------------------------------------------------------------


def nothing(shared: None, piece: int) -> int:
    return piece


def something_large(shared: None, piece: int) -> np.ndarray:
    return np.full(LARGE, piece, np.uint8)


def measure_store(pool: Pool) -> dict[str, float]:
    """Measure the seconds that a call takes in the process that asks, and the bytes a second of results."""
    list(pool.do(nothing, None, list(range(50))))
    begun = time.perf_counter()
    list(pool.do(nothing, None, list(range(1000))))
    call = (time.perf_counter() - begun) / 1000
    taken = 0.0
    begun = time.perf_counter()
    for result in pool.do(something_large, None, list(range(40))):
        taken += int(result[::4096].sum() >= 0) * result.nbytes
    return {"call_seconds": call, "bytes_a_second": taken / (time.perf_counter() - begun)}


class Watched:
    """An executor that counts the bytes sent and taken, and the seconds, by the name of the work."""

    def __init__(self, executor: Executor, pool: Pool | None = None, weigh: bool = False) -> None:
        self.executor, self.pool, self.weigh = executor, pool, weigh
        self.phases: dict[str, dict[str, float]] = {}

    def map(self, work: Work, batch: Batch, ahead: Any = ()) -> Iterator[Any]:
        return self._watch(work, batch, self.executor.map(work, batch, ahead))

    def map_in_steps(self, work: WorkInSteps, batch: Batch, on_progress: OnProgress, ahead: Any = ()) -> Iterator[Any]:
        return self._watch(work, batch, self.executor.map_in_steps(work, batch, on_progress, ahead))

    def _watch(self, work: Any, batch: Batch, results: Iterator[Any]) -> Iterator[Any]:
        names = ("rounds", "pieces", "wall", "busy", "sent", "taken", "weights")
        phase = self.phases.setdefault(work.__name__, dict.fromkeys(names, 0.0))
        begun, busy = time.perf_counter(), self._busy()
        for result in results:
            phase["taken"] += _size(result) if self.weigh else 0
            yield result
        phase["wall"] += time.perf_counter() - begun
        phase["busy"] += self._busy() - busy
        phase["pieces"] += len(batch.items)
        phase["rounds"] += 1
        if self.weigh:
            phase["sent"] += sum(map(_size, batch.items))
            phase["weights"] += _size(batch.weights)

    def facts(self) -> Mapping[str, Any]:
        return {}

    def _busy(self) -> float:
        return 0.0 if self.pool is None else sum(w["seconds"] for w in self.pool.facts()["by_worker"].values())

    @property
    def wall(self) -> float:
        return sum(phase["wall"] for phase in self.phases.values())


def _size(tree: Any) -> int:
    return len(pickle.dumps(jax.device_get(tree), protocol=5))


@dataclasses.dataclass(frozen=True)
class Trial:
    """Iterations that were done in turns, here and by workers."""

    figures: dict[str, Any]
    watched: Watched
    weighed: Watched
    grows: bool


def measure(name: str, changes: Mapping[str, str], pool: Pool, cut_for: int, rounds: int) -> Trial:
    """Run iterations here and by workers, in work items for `cut_for` workers each time."""
    recipe = find_recipe(name)
    game, kind = make_game(recipe.game), ALGORITHMS[recipe.algorithm]
    algorithm = kind(game, make_settings(recipe, changes).resolved(game, cut_for))
    here, there = Watched(LOCAL_EXECUTOR), Watched(ClusterExecutor(pool), pool)
    state = algorithm.init(jax.random.key(0))
    for executor in (here.executor, there.executor):
        algorithm.iterate(state, 0, jax.random.key(1), _quiet, executor=executor)
    states, seconds = 0, []
    for number in range(rounds):
        before = here.wall, there.wall
        after, _ = algorithm.iterate(state, number, jax.random.key(1), _quiet, executor=here)
        begun = time.perf_counter()
        again, record = algorithm.iterate(state, number, jax.random.key(1), _quiet, executor=there)
        whole = time.perf_counter() - begun
        seconds.append((here.wall - before[0], there.wall - before[1], whole - there.wall + before[1]))
        same = zip(jax.tree.leaves(after), jax.tree.leaves(again), strict=True)
        assert all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in same), "not the same numbers"
        state, states = after, states + record["states"]
    weighed = Watched(LOCAL_EXECUTOR, weigh=True)
    algorithm.iterate(state, rounds, jax.random.key(1), _quiet, executor=weighed)
    figures = {
        "recipe": name, "changes": dict(changes), "states_a_second_here": states / here.wall,
        "states_a_second_there": states / there.wall, "ratio": statistics.median(a / b for a, b, _ in seconds),
        "crew_seconds": statistics.median(b for _, b, _ in seconds),
        "learner_seconds": statistics.median(c for _, _, c in seconds),
    }  # fmt: skip
    return Trial(figures, there, weighed, recipe.algorithm == "probs")


def model(trial: Trial, workers: int, store: Mapping[str, float]) -> Measured:
    """Return the input of the simulation: a worker's share of the work items and of the fitting, for an iteration."""
    phases = []
    for name, phase in trial.watched.phases.items():
        weighed = trial.weighed.phases[name]
        phases.append(
            Phase(
                name,
                pieces=weighed["pieces"] / workers,
                seconds=phase["busy"] / phase["pieces"],
                sent=weighed["sent"] / weighed["pieces"],
                taken=weighed["taken"] / weighed["pieces"],
                weights=weighed["weights"] / weighed["rounds"],
            )
        )
    learner = trial.figures["learner_seconds"] / (workers if trial.grows else 1)
    return Measured(tuple(phases), learner, trial.grows, store["call_seconds"], store["bytes_a_second"])


def simulate(measured: Measured, cut_for: int, workers: int) -> float:
    """Simulate the seconds that `workers` take for the work items of `cut_for` workers."""
    return sum(
        cluster_plan.round_seconds(measured, phase, workers, round(phase.pieces * cut_for)) for phase in measured.phases
    )


# --- showing ---------------------------------------------------------------------------------------------------------


def show(found: Mapping[str, Any]) -> None:
    print(f"\n{found['recipe']}: {found['ratio']:.2f} of the states a second of one process", file=sys.stderr)
    seconds = (found["one_worker"]["crew_seconds"], found["crew_seconds"])
    for what, real, simulated in zip(("one worker", "all workers"), seconds, found["simulated_seconds"], strict=True):
        print(f"  an iteration by {what}: {real:.3f} s, simulated {simulated:.3f} s", file=sys.stderr)
    print("  workers     alone     whole  overlapped  learner x 10", file=sys.stderr)
    for row in found["scaling"]:
        print(
            f"  {row['workers']:7d} {row['crew']:9.2f} {row['whole']:9.2f} {row['overlapped']:11.2f}"
            f" {row['learner_10']:13.2f}",
            file=sys.stderr,
        )
    print(json.dumps({key: found[key] for key in ("phases", "saturation", "plan")}, indent=1), file=sys.stderr)


def _quiet(name: str, done: int, total: int) -> None:
    pass


if __name__ == "__main__":
    main()
