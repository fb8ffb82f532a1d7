"""A run on a cluster has the numbers of one in a single process, whatever happens to its workers."""

from __future__ import annotations

import pytest

from beamzero.cluster import schedule
from beamzero.cluster.executor import ClusterExecutor
from beamzero.storage.metrics import read_metrics
from tests.training.toy import assert_same_run, run_toy

pytestmark = pytest.mark.slow
SMALL = {"games": 16, "lanes": 4, "seed": 3}
ITERATIONS = 8


@pytest.mark.parametrize(
    ("algorithm", "changes"),
    [("probs", {}), ("probs", {"q_games_per_step": 8}), ("alphazero", {}), ("alphazero", {"lag": 1})],
)
def test_a_run_has_the_same_numbers_whoever_does_the_work(workers, algorithm, changes, tmp_path):
    plan = {**SMALL, "algorithm": algorithm, "iterations": 3, **changes}
    run_toy(tmp_path / "here", **plan)
    run_toy(tmp_path / "there", executor=ClusterExecutor(workers), **plan)
    assert_same_run(tmp_path / "here", tmp_path / "there")
    assert workers.facts()["deaths"] == 0


def test_the_log_says_what_each_worker_did_in_each_iteration(workers, tmp_path, monkeypatch):
    monkeypatch.setattr(schedule, "_FEWEST_SECONDS", 600.0)  # nothing is done twice, however long it takes
    before = workers.facts()
    run_toy(tmp_path / "run", executor=ClusterExecutor(workers), **SMALL, iterations=3, rate_every=0)
    facts = workers.facts()
    crews = [record["crew"] for record in read_metrics(tmp_path / "run")]
    assert len(crews) == 3 and sum(crew["pieces"] for crew in crews) == facts["pieces"] - before["pieces"]
    for crew in crews:
        named = [worker for there in crew["by_worker"].values() for worker in there.values()]
        assert sum(worker["pieces"] for worker in named) == crew["pieces"] >= SMALL["lanes"]
        assert len(named) == crew["alive"] and crew["wanted"] == 2 and crew["deaths"] == 0
        assert 0 < crew["busy"] <= 1 and all(0 <= worker["busy"] <= 1 for worker in named)
    # An item of an earlier test, given up there, may still be under way at first.
    worked, already = (
        sum(worker["seconds"] + worker["under_way"] for worker in f["by_worker"].values()) for f in (facts, before)
    )
    assert sum(crew["seconds"] for crew in crews) == pytest.approx(worked - already, rel=0.1)
