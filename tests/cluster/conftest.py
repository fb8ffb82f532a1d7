"""A cluster of several nodes on this machine, by Ray's own utility, and workers on it that tests can share.

To start Ray takes seconds, and so does every worker that imports JAX and compiles: one cluster serves all tests of a
process, and what a test does not harm serves the next one.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"  # before Ray is imported

import ray
from ray.cluster_utils import Cluster

from beamzero.cluster.pool import Pool
from tests.cluster import jobs
from tests.conftest import drop_programs

STORE = 100 * 2**20
HEAD = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False, "include_log_monitor": False}

ray.cloudpickle.register_pickle_by_value(jobs)  # workers cannot import tests


@pytest.fixture(scope="session")
def nodes():
    """A head that does no work, and two nodes with a core each. They take several GB, so others make room first."""
    drop_programs()
    nodes = Cluster(initialize_head=True, head_node_args=HEAD)
    for _ in range(2):
        nodes.add_node(num_cpus=1, object_store_memory=STORE)
    yield nodes
    nodes.shutdown()


@pytest.fixture(scope="module")
def cluster(nodes):
    """The same, and this process is connected with it."""
    ray.init(address=nodes.address, log_to_driver=False, logging_level=logging.ERROR)
    nodes.wait_for_nodes()
    yield nodes
    ray.shutdown()


@pytest.fixture(scope="module")
def workers(cluster):
    """Two workers that live as long as the tests of a file, for those that neither kill nor stop one."""
    with Pool(2) as pool:
        yield pool


@contextlib.contextmanager
def one_busy_node(cpus: int, limits: dict[str, float] | None = None) -> Iterator[Any]:
    """The process that asks is connected with one machine, and all workers are on another."""
    nodes = Cluster(initialize_head=True, head_node_args={**HEAD, "_system_config": limits or {}})
    node = nodes.add_node(num_cpus=cpus, object_store_memory=STORE)
    ray.init(address=nodes.address, log_to_driver=False, logging_level=logging.ERROR)
    yield node
    ray.shutdown()
    nodes.shutdown()


def wait_until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
