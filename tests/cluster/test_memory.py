"""What lies in memory: one copy of the weights on a machine, nothing that grows; and no run ends for want of it."""

from __future__ import annotations

import gc
import logging
import time

import numpy as np
import psutil
import pytest
import ray
from ray.cluster_utils import Cluster

from beamzero.cluster.pool import Pool
from tests.cluster import jobs
from tests.cluster.conftest import HEAD, STORE

pytestmark = pytest.mark.slow

ROOM = 3 * 2**30
"""What may be taken before Ray's memory monitor kills who took it."""
WORKERS = 3
ITERATIONS = 80


@pytest.fixture(scope="module")
def node():
    """The process that asks is connected with one machine, and all workers are on another."""
    memory = psutil.virtual_memory()
    threshold = (memory.total - memory.available + ROOM) / memory.total
    limits = {"memory_usage_threshold": threshold, "memory_monitor_refresh_ms": 100}
    nodes = Cluster(initialize_head=True, head_node_args={**HEAD, "_system_config": limits})
    node = nodes.add_node(num_cpus=WORKERS, object_store_memory=STORE)
    ray.init(address=nodes.address, log_to_driver=False, logging_level=logging.ERROR)
    yield node
    ray.shutdown()
    nodes.shutdown()


def test_all_workers_of_a_machine_look_at_the_same_copy_of_the_weights(node):
    weights = {"weights": np.ones(2**20, np.float32)}
    deadline = time.monotonic() + 120
    with Pool(WORKERS) as pool:
        processes: set[int] = set()
        while len(processes) < WORKERS:  # some may begin late
            assert time.monotonic() < deadline
            seen = list(pool.do(jobs.look_at, weights, list(range(6 * WORKERS))))
            assert {where for where, _, _ in seen} == {node.node_id}
            assert len({place for _, _, place in seen}) == 1
            processes = {process for _, process, _ in seen}


def test_the_memory_of_who_asks_does_not_grow(node):
    """Each iteration sends 2 MiB and takes as much: kept, that would be 320 MiB, 240 of them after the first look."""
    shared = np.ones(2**19, np.float32)
    process, used = psutil.Process(), []
    with Pool(2) as pool:
        for iteration in range(ITERATIONS):
            for result in pool.do(jobs.weigh, shared, [2**18, 2**18]):
                assert result.nbytes == 2**20
            del result
            if iteration >= ITERATIONS // 4 and iteration % 10 == 9:
                gc.collect()
                memory = process.memory_info()
                used.append(memory.rss - memory.shared)  # its own: what it sees of the store is not
    assert max(used) - used[0] < 40 * 2**20


def test_a_worker_that_takes_too_much_memory_is_killed_and_replaced(node, tmp_path):
    said: list[str] = []
    with Pool(1, warn=said.append) as pool:
        assert list(pool.do(jobs.devour_at_first, str(tmp_path), [0])) == [0]
        assert pool.facts()["deaths"] >= 1
    assert any("died for want of memory: another takes its place" in line for line in said), said
