"""Whole trainings as the work of a cluster: each a run of its own, in a folder that all machines see."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from beamzero.cluster.pool import Pool
from beamzero.core.compiler import keep_compiled_code
from beamzero.core.progress import OnPhase
from beamzero.experiments.workers import Job
from beamzero.training.report import QUIET


class ClusterJobs:
    """Does jobs as `do_jobs` does. One whose worker died goes on where its files say, with another."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def __call__(
        self, jobs: Sequence[Job], on_progress: OnPhase, warn: Callable[[str], None] = warnings.warn, workers: int = 1
    ) -> list[Any]:
        total, done = sum(job.iterations for job in jobs), 0
        on_progress(f"{len(jobs)} trainings", 0, total)
        found = []
        for job, result in zip(jobs, self.pool.do(do_job, None, list(jobs), alone=True), strict=True):
            found.append(result)
            done += job.iterations if result is not None else 0
            on_progress(job.name, done, total)
        return found


def do_job(shared: None, job: Job) -> Any:
    keep_compiled_code()
    return job.work(QUIET)
