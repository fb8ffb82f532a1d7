"""A cluster of several nodes on this machine, by Ray's own utility."""

from __future__ import annotations

import logging
import os

import pytest

os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"  # before Ray is imported

import ray
from ray.cluster_utils import Cluster

from tests.cluster import jobs

STORE = 100 * 2**20

ray.cloudpickle.register_pickle_by_value(jobs)  # workers cannot import tests


@pytest.fixture(scope="module")
def nodes():
    """A head that does no work, and two nodes with a core each."""
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": STORE})
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
