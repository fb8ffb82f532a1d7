"""A run on a cluster has the numbers of one in a single process, whatever happens to its workers."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

from beamzero.cli import main
from beamzero.cluster.crew import ClusterCrew
from beamzero.cluster.pool import Pool
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


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--cluster", "127.0.0.1:1"], "no Ray cluster at '127.0.0.1:1': [Errno 111] Connection refused"),
        (["--cluster", "nonsense"], "a cluster is auto, local or HOST:PORT, but 'nonsense' is none of these"),
        (["--cluster", "auto"], "no Ray cluster runs on this machine: begin one by ray start --head, or say --cluster"),
        (["--workers", "2"], "--workers and --worker-gpus are for --cluster"),
    ],
)
def test_a_cluster_that_is_not_there_gets_one_line(words, why, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("ray._private.utils.read_ray_address", lambda *a: None)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert main(["train", "tic_tac_toe", "--run", str(tmp_path / "run"), *words]) == 2
    said = capsys.readouterr().err
    assert why in said and len(said.strip().splitlines()) == 1 and not (tmp_path / "run").exists()
