"""Who did the work of a run, as a page shows it; a line of metrics that says little is no mistake."""

from __future__ import annotations

import json

import pytest

from beamzero.storage.metrics import Metrics
from beamzero.storage.run import Run
from beamzero.web.offers import Offers
from beamzero.web.runs import list_workers, run_rows, workers_row

ONE = {"pieces": 4, "seconds": 3.0, "busy": 0.75, "pieces_per_second": 1.0}
CREW = {
    "alive": 2, "wanted": 3, "deaths": 1, "twice": 0, **ONE, "busy_by_worker": {"least": 0.5, "median": 0.7, "most": 1},
    "since_start": {"pieces": 9, "deaths": 5, "twice": 2}, "by_host": {"a": {"workers": 2, **ONE}},
    "by_worker": {"a": {"worker_1": ONE, "worker_12": {**ONE, "busy": 0.5}}},
}  # fmt: skip


def test_the_newest_iteration_lists_its_workers(tmp_path):
    run = Run.create(tmp_path / "run", {"game": "tic_tac_toe", "algorithm": "probs", "settings": {}})
    with Metrics(run.folder) as metrics:
        metrics.append({"iteration": 1, "crew": {**CREW, "alive": 1, "by_worker": {}}})
        metrics.append({"iteration": 2, "crew": CREW})
    found = run_rows(Offers(["tic_tac_toe"], runs=tmp_path), "run", 1)
    (row,) = found["rows"]
    assert (row["crew"]["alive"], row["crew"]["deaths"], row["crew"]["busy"]) == (2, 1, 0.75)
    assert (row["crew"]["least"], row["crew"]["most"], row["crew"]["pieces_per_second"]) == (0.5, 1, 1.0)
    workers = found["workers"]
    assert [workers[key] for key in ("iteration", "alive", "wanted", "deaths", "twice")] == [2, 2, 3, 5, 2]
    assert [(one["worker"], one["machine"], one["busy"]) for one in workers["rows"]] == [
        ("1", "a", 0.75), ("12", "a", 0.5),
    ]  # fmt: skip


def test_machines_are_listed_where_workers_are_too_many():
    crew = {key: value for key, value in CREW.items() if key != "by_worker"}
    (row,) = list_workers({"iteration": 1, "crew": crew})["rows"]
    assert row == {"machine": "a", "worker": None, "workers": 2, "pieces": 4, "pieces_per_second": 1.0, "busy": 0.75}


@pytest.mark.parametrize(
    "crew",
    [
        {"alive": 1},
        {"alive": float("nan"), "busy": "much", "by_worker": 3, "by_host": [1], "since_start": None},
        {"by_worker": {"worker 1 on a": {"pieces": 3}, "b": 7}, "busy_by_worker": 0.5, "by_host": {"a": 1}},
    ],
)
def test_what_a_line_does_not_have_is_left_open(crew):
    record = {"iteration": 1, "crew": crew}
    found = json.dumps([workers_row(record), list_workers(record)], allow_nan=False)
    assert json.loads(found)[1]["deaths"] is None


@pytest.mark.parametrize("record", [{"iteration": 1}, {"iteration": 1, "crew": 7}, {"iteration": 1, "crew": {}}])
def test_without_workers_there_is_nothing_to_show(record):
    assert workers_row(record) is None and list_workers(record) is None
