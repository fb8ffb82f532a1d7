"""Pieces of work that two workers do: results in order, whatever was asked, and however little room there is."""

from __future__ import annotations

import os

import pytest

from beamzero.cluster import pool as module
from beamzero.cluster.pool import Pool
from tests.cluster import jobs
from tests.cluster.conftest import STORE, wait_until

pytestmark = pytest.mark.slow
ITEMS = list(range(12))


@pytest.fixture
def warnings(workers, monkeypatch) -> list[str]:
    """What the workers' pool says during a test."""
    said: list[str] = []
    monkeypatch.setattr(workers, "warn", said.append)
    return said


def test_results_come_in_order_whatever_was_asked_before(workers):
    first = workers.begin(jobs.add, 100, ITEMS)
    second = workers.begin(jobs.add, 200, ITEMS)
    assert list(workers.results(second)) == [200 + item for item in ITEMS]
    assert list(workers.results(first)) == [100 + item for item in ITEMS]
    facts = workers.facts()
    assert 1 <= facts["alive"] <= 2 and facts["deaths"] == facts["twice"] == 0
    assert sum(worker["pieces"] for worker in facts["by_worker"].values()) == facts["pieces"] == 2 * len(ITEMS)


def test_work_goes_on_while_nobody_asks_for_results(workers):
    list(workers.do(jobs.add, 0, ITEMS))
    tickets = workers.begin(jobs.add_slowly, 0.01, ITEMS)
    wait_until(lambda: all(ticket.done for ticket in tickets))


def test_a_full_store_is_waited_for(workers, warnings, tmp_path):
    assert list(workers.do(jobs.full_at_first, str(tmp_path), ITEMS)) == ITEMS
    assert 1 <= len(warnings) <= len(ITEMS) and all("store is full" in line for line in warnings)
    assert workers.facts()["deaths"] == 0


def test_more_goes_through_the_store_than_it_holds(workers):
    size = STORE // 10
    shared = os.urandom(size)
    results = workers.do(jobs.weigh, shared, [size] * 25)
    assert all(result == shared for result in results)


def test_a_cluster_without_room_is_spoken_of(cluster, monkeypatch):
    monkeypatch.setattr(module, "_SECONDS_TO_WAIT_FOR_WORKERS", 0.5)
    said: list[str] = []
    with Pool(1, gpus=1.0, warn=said.append) as pool:
        results = pool.begin(jobs.add, 0, ITEMS)
        wait_until(lambda: pool._warnings)
        pool._speak()
        assert not any(ticket.done for ticket in results)
    assert said[0].startswith("no worker has begun yet: the cluster may have no room for any")


def test_want_of_memory_that_is_raised_is_tried_again_elsewhere(workers, warnings, tmp_path):
    assert list(workers.do(jobs.starve_at_first, str(tmp_path), ITEMS[:3])) == ITEMS[:3]
    assert len(warnings) == 3 and all(line.endswith("ran out of memory") for line in warnings)
    assert workers.facts()["deaths"] == 0
