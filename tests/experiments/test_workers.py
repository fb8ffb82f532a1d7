"""Jobs in several processes: the same results in the same order, and one that fails or is interrupted stops all."""

from __future__ import annotations

import functools
import importlib
import os
from pathlib import Path

import pytest

from beamzero.core.errors import BadInput, RunStopped
from beamzero.experiments.workers import Job, do_jobs


@pytest.fixture
def work(monkeypatch):
    """The module with the work; other processes find it where this one does."""
    monkeypatch.syspath_prepend(Path(__file__).parent / "jobs")
    return importlib.import_module("some_jobs")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_jobs_give_their_results_in_order_and_tell_of_their_progress(workers, work):
    heard, said = [], []
    jobs = [Job(f"job {upto}", upto, functools.partial(work.count, upto)) for upto in (3, 1, 2)]
    found = do_jobs(jobs, lambda *told: heard.append(told), said.append, workers)
    assert [upto for upto, _ in found] == [3, 1, 2]
    assert (os.getpid() in {where for _, where in found}) == (workers == 1)
    assert sorted(said) == ["job 1: done", "job 2: done", "job 3: done"]
    assert {total for _, _, total in heard} == {6} and max(done for _, done, _ in heard) >= 3
    assert {name for name, _, _ in heard} == {"job 1: count", "job 2: count", "job 3: count"}


def long_job(work, marker):
    return Job("long", 0, functools.partial(work.wait_forever, marker))


@pytest.mark.slow
def test_a_job_that_fails_stops_the_others_once_they_have_saved(work, tmp_path):
    marker = tmp_path / "long"
    jobs = [long_job(work, marker), Job("bad", 0, functools.partial(work.fail_after, marker))]
    with pytest.raises(BadInput, match="this one fails"):
        do_jobs(jobs, lambda *told: None, workers=2)
    assert marker.with_suffix(".saved").exists()


@pytest.mark.slow
def test_ctrl_c_stops_the_workers_once_they_have_saved(work, tmp_path):
    markers = [tmp_path / "one", tmp_path / "two"]

    def interrupt(*told):
        if all(marker.with_suffix(".begun").exists() for marker in markers):
            raise KeyboardInterrupt

    late = [Job("late", 0, functools.partial(work.wait_forever, tmp_path / "late"))]
    with pytest.raises(KeyboardInterrupt):
        do_jobs([*(long_job(work, marker) for marker in markers), *late], interrupt, workers=2)
    assert all(marker.with_suffix(".saved").exists() for marker in markers)
    assert not (tmp_path / "late.begun").exists()


@pytest.mark.slow
def test_a_worker_that_is_killed_is_told_of_and_the_others_save(work, tmp_path):
    marker = tmp_path / "long"
    jobs = [long_job(work, marker), Job("gone", 0, functools.partial(work.die_after, marker))]
    with pytest.raises(RunStopped, match="a worker was killed"):
        do_jobs(jobs, lambda *told: None, workers=2)
    assert marker.with_suffix(".saved").exists()
