"""Training on a cluster: the work items of one run, or whole runs, are done by the workers of a pool."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax

from beamzero.cluster.pool import Pool
from beamzero.cluster.schedule import Ticket
from beamzero.cluster.workload import Workload
from beamzero.core.compiler import keep_compiled_code
from beamzero.core.progress import OnPhase, OnProgress, no_progress
from beamzero.experiments.workers import Job
from beamzero.games import make_game
from beamzero.training.algorithm import ALGORITHMS, Algorithm
from beamzero.training.executor import Batch, Work, WorkInSteps
from beamzero.training.report import NO_REPORT


class _Begun(NamedTuple):
    """A batch that was handed out."""

    work: str
    weights: Any
    items: str  # a digest of them; "" where none is needed
    tickets: list[Ticket]


class ClusterExecutor:
    """Gives work items to the workers of a pool, weights once a batch."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.begun: list[_Begun] = []
        self.workload = Workload(pool.facts)

    def map(self, work: Work, batch: Batch, ahead: Sequence[Batch] = ()) -> Iterator[Any]:
        return self._results(work, do_item, batch, ahead)

    def map_in_steps(
        self, work: WorkInSteps, batch: Batch, on_progress: OnProgress, ahead: Sequence[Batch] = ()
    ) -> Iterator[Any]:
        return self._results(work, do_item_in_steps, batch, ahead)

    def _results(self, work: Any, do: _Do, batch: Batch, ahead: Sequence[Batch]) -> Iterator[Any]:
        """Hand out the batch and those `ahead`, as far as that is not done. Yields the results of the batch."""
        old, self.begun = self.begun, []
        again = bool(old or ahead)
        now, *later = [self._begin(work, do, one, old, again) for one in (batch, *ahead)]
        for lost in old:
            self.pool.forget(lost.tickets)
        self.begun = later
        return self.pool.results(now.tickets)

    def facts(self) -> Mapping[str, Any]:
        """Give facts for the log about the work since the last call."""
        return self.workload.since_last()

    def _begin(self, work: Any, do: _Do, batch: Batch, begun: list[_Begun], again: bool) -> _Begun:
        """Hand out a batch, unless that was done before."""
        items = jax.device_get(list(batch.items))
        data = hashlib.sha256(pickle.dumps(items)).hexdigest() if again else ""
        for number, one in enumerate(begun):
            if one.work == work.__name__ and one.weights is batch.weights and one.items == data:
                return begun.pop(number)
        owner: Algorithm = work.__self__
        settings = json.dumps(dataclasses.asdict(owner.settings), sort_keys=True)
        algorithm = ALGORITHMS.source(ALGORITHMS.name_of(type(owner)))
        function = functools.partial(do, owner.game.spec, algorithm, settings, work.__name__)
        tickets = self.pool.begin(function, jax.device_get(batch.weights), items)
        return _Begun(work.__name__, batch.weights, data, tickets)


def do_item(game: str, algorithm: str, settings: str, work: str, weights: Any, item: Any) -> Any:
    """Do an item by the `Work` of that name. Returns plain arrays."""
    return jax.device_get(getattr(_make(game, algorithm, settings), work)(weights, item))


def do_item_in_steps(game: str, algorithm: str, settings: str, work: str, weights: Any, item: Any) -> Any:
    """Do an item by the `WorkInSteps` of that name. Returns plain arrays."""
    return jax.device_get(getattr(_make(game, algorithm, settings), work)(weights, [item], no_progress)[0])


_Do = Callable[[str, str, str, str, Any, Any], Any]


@functools.lru_cache(maxsize=4)
def _make(game: str, algorithm: str, settings: str) -> Algorithm:
    kind = ALGORITHMS[ALGORITHMS.read(algorithm)]
    return kind(make_game(game), kind.settings_type(**json.loads(settings)))


class ClusterJobs:
    """Does jobs, each a whole run in a folder that all machines see, as `do_jobs` does.

    A job whose worker died goes on from its files, with another worker.
    """

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
    """Do a job in a worker."""
    keep_compiled_code()
    return job.work(NO_REPORT)
