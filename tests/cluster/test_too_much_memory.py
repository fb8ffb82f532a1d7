"""No run ends for want of memory."""

from __future__ import annotations

import psutil
import pytest

from beamzero.cluster.pool import Pool
from tests.cluster import jobs
from tests.cluster.conftest import one_busy_node
from tests.conftest import drop_programs

pytestmark = pytest.mark.slow

ROOM = 3 * 2**29
"""What may be taken before Ray's memory monitor kills who took it."""


def test_a_worker_that_takes_too_much_memory_is_killed_and_replaced(tmp_path):
    """The limit is one for the whole machine, so it is set when the test begins: other tests take memory too."""
    drop_programs()
    memory = psutil.virtual_memory()
    threshold = (memory.total - memory.available + ROOM) / memory.total
    said: list[str] = []
    with (
        one_busy_node(1, {"memory_usage_threshold": threshold, "memory_monitor_refresh_ms": 100}),
        Pool(1, warn=said.append) as pool,
    ):
        assert list(pool.do(jobs.devour_at_first, str(tmp_path), [0])) == [0]
        assert pool.facts()["deaths"] >= 1
    assert any("died for want of memory: another takes its place" in line for line in said), said
