"""A run on a cluster has the numbers of one in a single process, whatever happens to its workers."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

from beamzero.cluster import pool as pool_module
from beamzero.cluster.crew import ClusterCrew
from beamzero.cluster.pool import Pool
from beamzero.runs.metrics import read_metrics
from beamzero.training.report import Report
from tests.training.test_loop import stop_when
from tests.training.toy import assert_same_run, command, numbers, run_toy, start

SMALL = {"games": 16, "lanes": 4, "seed": 3}
ITERATIONS = 8


class Killer(Report):
    """Kills a worker at every so many steps of a run, and keeps what was said."""

    def __init__(self, every: int) -> None:
        self.every, self.steps, self.said, self.kills = every, 0, [], 0
        self.pool: Pool | None = None

    def message(self, text: str) -> None:
        self.said.append(text)

    def phase(self, name: str, done: int, total: int) -> None:
        self.steps += 1
        if self.pool is not None and self.steps % self.every == 0:
            with self.pool.changed:
                alive = [hand for hand in self.pool.hands if hand.ready]
            if alive:
                with contextlib.suppress(ProcessLookupError):  # it is dead already, and nobody has noticed yet
                    os.kill(alive[self.kills % len(alive)].pid, signal.SIGKILL)
                self.kills += 1


@pytest.mark.parametrize(
    ("algorithm", "changes", "workers"),
    [("probs", {}, 1), ("probs", {"q_games_per_step": 8}, 2), ("alphazero", {}, 1), ("alphazero", {"lag": 1}, 2)],
)
def test_a_run_has_the_same_numbers_whoever_does_the_work(cluster, algorithm, changes, workers, tmp_path):
    plan = {**SMALL, "algorithm": algorithm, "iterations": 3, **changes}
    run_toy(tmp_path / "here", **plan)
    with Pool(workers) as pool:
        run_toy(tmp_path / "there", crew=ClusterCrew(pool), **plan)
        assert pool.facts()["deaths"] == 0
    assert_same_run(tmp_path / "here", tmp_path / "there")


def test_the_log_says_what_each_worker_did_in_each_iteration(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(pool_module, "_FEWEST_SECONDS", 600.0)  # nothing is done twice, however long it takes
    with Pool(2) as pool:
        run_toy(tmp_path / "run", crew=ClusterCrew(pool), **SMALL, iterations=3, rate_every=0)
        facts = pool.facts()
    crews = [record["crew"] for record in read_metrics(tmp_path / "run")]
    assert len(crews) == 3 and sum(crew["pieces"] for crew in crews) == facts["pieces"]
    for crew in crews:
        workers = [worker for there in crew["by_worker"].values() for worker in there.values()]
        assert sum(worker["pieces"] for worker in workers) == crew["pieces"] >= SMALL["lanes"]
        assert len(workers) == crew["alive"] and crew["wanted"] == 2 and crew["deaths"] == 0
        assert 0 < crew["busy"] <= 1 and all(0 <= worker["busy"] <= 1 for worker in workers)
    worked = sum(worker["seconds"] for worker in facts["by_worker"].values())
    assert sum(crew["seconds"] for crew in crews) == pytest.approx(worked, rel=0.1)


@pytest.mark.parametrize("algorithm", ["probs", "alphazero"])
def test_workers_that_are_killed_change_nothing_but_the_log(cluster, algorithm, tmp_path):
    plan = {**SMALL, "algorithm": algorithm}
    run_toy(tmp_path / "here", **plan)
    killer = Killer(every=7)
    with Pool(2, warn=killer.message) as pool:
        killer.pool = pool
        run_toy(tmp_path / "there", killer, ClusterCrew(pool), **plan)
        deaths = pool.facts()["deaths"]
    assert_same_run(tmp_path / "here", tmp_path / "there")
    assert killer.kills >= 5 and deaths >= 3 and any("died: another takes its place" in line for line in killer.said)
    assert sum(record["games"] for record in numbers(tmp_path / "there")) == SMALL["games"] * ITERATIONS


def test_a_learner_that_is_killed_goes_on_here_or_there(tmp_path):
    plan = {key: value for key, value in SMALL.items() if key != "seed"}
    folder = tmp_path / "there"
    process = start(command(folder, "--seed", "3", "--cluster", "local", "--workers", "2", **plan))
    stop_when(process, lambda: 2 <= len(numbers(folder)) < ITERATIONS - 1, begun=(folder / "metrics.jsonl").exists)
    process.kill()
    process.communicate()
    run_toy(folder, resume=True)
    run_toy(tmp_path / "here", **SMALL)
    assert_same_run(tmp_path / "here", folder)
