"""The simulation of many workers: exact where the answer is known."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path

import pytest

_PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "cluster_plan.py"
_SPEC = importlib.util.spec_from_file_location("cluster_plan", _PATH)
assert _SPEC is not None and _SPEC.loader is not None
plan = sys.modules["cluster_plan"] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(plan)

PHASE = plan.Phase("play", pieces=4, seconds=1.0, sent=0.0, taken=0.0, weights=0.0)
FREE = plan.Measured((PHASE,), learner_seconds=0.0, learner_grows=False, call_seconds=0.0, bytes_a_second=1e9)


@pytest.mark.parametrize(("workers", "pieces", "seconds"), [(1, 5, 5), (2, 4, 2), (2, 5, 3), (8, 3, 1)])
def test_work_that_costs_nothing_to_hand_out_is_shared_evenly(workers, pieces, seconds):
    assert plan.round_seconds(FREE, PHASE, workers, pieces) == pytest.approx(seconds)


def test_calls_come_one_after_another_and_bound_the_scaling():
    calls = dataclasses.replace(FREE, call_seconds=0.01)
    rows = {row["workers"]: row for row in plan.scaling(calls)}
    assert rows[8]["crew"] == pytest.approx(8, rel=0.05)
    assert (
        rows[1000]["crew"] == pytest.approx(plan.saturation(calls)["by_results"], rel=0.05) == pytest.approx(101, 0.05)
    )
    assert all(a["crew"] <= b["crew"] for a, b in zip(rows.values(), list(rows.values())[1:]))


def test_bytes_of_results_and_of_weights_take_their_time():
    heavy = dataclasses.replace(PHASE, taken=5e8, weights=2e8)
    assert plan.round_seconds(FREE, heavy, 1, 1) == pytest.approx(0.2 + 1.0 + 0.5)
    machines = plan.plan(dataclasses.replace(FREE, phases=(heavy,)), 1000, price=0.01)
    assert machines["machines"] == 32 and machines["bytes_weights_to_machines"] == 32 * 2e8
    assert machines["bytes_results"] == 4 * 1000 * 5e8


def test_a_learner_whose_work_grows_is_soon_all_that_counts():
    learning = dataclasses.replace(FREE, learner_seconds=1.0, learner_grows=True)
    rows = {row["workers"]: row for row in plan.scaling(learning)}
    assert rows[1]["whole"] == 1 and rows[1000]["whole"] == pytest.approx(5, rel=0.01)
    assert rows[1000]["learner_10"] == pytest.approx(41, rel=0.05) and rows[1000]["crew"] == pytest.approx(1000)
    assert plan.saturation(learning)["by_fitting"] == 4
