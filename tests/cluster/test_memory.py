"""What lies in memory: one copy of the weights on a machine, and nothing that grows."""

from __future__ import annotations

import gc
import time

import numpy as np
import psutil
import pytest

from beamzero.cluster.pool import Pool
from tests.cluster import jobs
from tests.cluster.conftest import one_busy_node

pytestmark = pytest.mark.slow

WORKERS = 3
ITERATIONS = 80


@pytest.fixture(scope="module")
def node():
    with one_busy_node(WORKERS) as node:
        yield node


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
