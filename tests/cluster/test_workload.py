"""What a log says of workers: sums that are right, whoever comes and goes, and lines that do not grow without end."""

from __future__ import annotations

import json
import re

import pytest

from beamzero.cluster.workload import MOST_NAMED, Workload
from beamzero.storage.metrics import Metrics
from tests.storage.test_metrics import events

TAG = re.compile(r"[\w./-]+", re.ASCII)


class Workers:
    """Stands in for a pool and a clock."""

    def __init__(self, *hosts: str) -> None:
        self.now = 100.0
        self.facts = {"wanted": len(hosts), "alive": len(hosts), "deaths": 0, "twice": 0, "pieces": 0, "by_worker": {}}
        for number, host in enumerate(hosts, 1):
            self.hire(number, host, age=1000.0)
        self.workload = Workload(lambda: json.loads(json.dumps(self.facts)), lambda: self.now)

    def hire(self, number: int, host: str, age: float = 0.0) -> None:
        about = {"host": host, "pieces": 0, "seconds": 0.0, "under_way": 0.0, "age": age}
        self.facts["by_worker"][str(number)] = about

    def work(self, number: int, pieces: int = 0, seconds: float = 0.0, under_way: float = 0.0) -> None:
        about = self.facts["by_worker"][str(number)]
        self.facts["pieces"] += pieces
        about.update(pieces=about["pieces"] + pieces, seconds=about["seconds"] + seconds, under_way=under_way)

    def after(self, seconds: float) -> dict:
        self.now += seconds
        for about in self.facts["by_worker"].values():
            about["age"] += seconds
        return self.workload.since_last()


def test_each_line_has_what_was_done_since_the_one_before():
    workers = Workers("a", "a", "b")
    for number in (1, 2, 3):
        workers.work(number, pieces=number, seconds=2.0 * number)
    first = workers.after(8.0)
    assert (first["pieces"], first["seconds"], first["busy"], first["pieces_per_second"]) == (6, 12.0, 0.5, 0.75)
    assert first["busy_by_worker"] == {"least": 0.25, "median": 0.5, "most": 0.75}
    three = {"pieces": 3, "seconds": 6.0, "busy": 0.75, "pieces_per_second": 0.375}
    assert first["by_host"] == {
        "a": {"workers": 2, "pieces": 3, "seconds": 6.0, "busy": 0.375, "pieces_per_second": 0.375},
        "b": {"workers": 1, **three},
    }
    assert {host: list(names) for host, names in first["by_worker"].items()} == {
        "a": ["worker_1", "worker_2"], "b": ["worker_3"],
    }  # fmt: skip
    assert first["by_worker"]["b"]["worker_3"] == three
    workers.work(2, pieces=1, seconds=1.0)
    second = workers.after(4.0)
    assert (second["pieces"], second["seconds"], second["since_start"]["pieces"]) == (1, 1.0, 7)
    assert second["by_worker"]["b"]["worker_3"]["busy"] == 0.0


def test_a_long_piece_is_work_in_every_iteration_that_it_takes():
    workers = Workers("a")
    shares = []
    for under_way in (3.0, 7.0, 11.0):
        workers.work(1, under_way=under_way)
        shares.append(workers.after(4.0)["busy"])
    workers.work(1, pieces=1, seconds=10.9)  # by its own clock a little less than it seemed from here
    last = workers.after(4.0)
    assert shares == [0.75, 1.0, 1.0] and (last["busy"], last["pieces"]) == (0.0, 1)


def test_a_worker_that_came_late_is_measured_from_then_on_and_the_dead_are_counted():
    workers = Workers("a", "b")
    workers.work(1, pieces=2, seconds=8.0)
    workers.work(2, pieces=1, seconds=3.0)
    workers.after(0.0)
    workers.work(1, pieces=2, seconds=8.0)
    workers.work(2, pieces=1, seconds=3.0)
    del workers.facts["by_worker"]["2"]
    workers.facts.update(deaths=1, twice=3)
    workers.hire(3, "b", age=-6.0)  # so that it has been there for two of the eight seconds
    workers.work(3, seconds=0.0, under_way=1.0)
    found = workers.after(8.0)
    assert (found["pieces"], found["deaths"], found["twice"], found["busy"]) == (3, 1, 3, 0.9)
    assert found["by_worker"] == {
        "a": {"worker_1": {"pieces": 2, "seconds": 8.0, "busy": 1.0, "pieces_per_second": 0.25}},
        "b": {"worker_3": {"pieces": 0, "seconds": 1.0, "busy": 0.5, "pieces_per_second": 0.0}},
    }
    after = workers.after(1.0)
    assert (after["deaths"], after["since_start"]) == (0, {"pieces": 6, "deaths": 1, "twice": 3})


def test_nobody_is_there_yet():
    workers = Workers()
    found = workers.after(1.0)
    assert (found["alive"], found["busy"], found["by_worker"]) == (0, 0.0, {})


@pytest.mark.parametrize(
    ("workers", "hosts", "named"),
    [(MOST_NAMED, 8, {"by_host", "by_worker"}), (1000, 8, {"by_host"}), (1000, 1000, set())],
)
def test_a_thousand_workers_do_not_make_a_line_too_long(workers, hosts, named):
    found = Workers(*(f"machine-{number % hosts}.example.com" for number in range(workers))).after(1.0)
    assert named == {"by_host", "by_worker"} & found.keys() and found["alive"] == workers
    assert len(json.dumps(found)) < 20_000


def test_tensorboard_gets_a_tag_for_each_figure_of_each_worker_that_it_need_not_change(tmp_path):
    workers = Workers("node 1/ä", "10.0.0.7")
    with Metrics(tmp_path) as metrics:
        metrics.append({"iteration": 1, "crew": workers.after(1.0)})
    tags = [tag for _, _, tag, _ in events(tmp_path)]
    assert "crew/by_worker/node_1__/worker_1/busy" in tags and "crew/by_host/10.0.0.7/pieces" in tags
    assert all(TAG.fullmatch(tag) for tag in tags) and len(set(tags)) == len(tags)
