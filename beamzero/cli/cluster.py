"""What commands that can use a cluster share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from beamzero.arena.playing import Play, play_games
from beamzero.cli.common import err
from beamzero.cluster.battles import ClusterPlay
from beamzero.cluster.connect import connected
from beamzero.cluster.jobs import ClusterJobs
from beamzero.cluster.pool import Pool
from beamzero.errors import BadInput
from beamzero.training.workers import DoJobs, do_jobs

Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let workers on a Ray cluster do the work: auto (the one of this machine), HOST:PORT, or local (begin one "
        "here).",
    ),
]
Workers = Annotated[int | None, typer.Option(min=1, help="With --cluster: workers, by default one for each core.")]
WorkerGpus = Annotated[
    float, typer.Option(min=0.0, help="With --cluster: GPUs of each worker, such as 1 or 0.25; 0 means the CPU.")
]


@contextlib.contextmanager
def workers_of(
    cluster: str | None, workers: int | None, gpus: float, warn: Callable[[str], None]
) -> Iterator[Pool | None]:
    """The workers that were asked for; None where the work is to be done here."""
    if cluster is None:
        if workers is not None or gpus:
            raise BadInput("--workers and --worker-gpus are for --cluster: say which one, such as --cluster local")
        yield None
        return
    with connected(cluster) as ray:
        there = ray.cluster_resources()
        if gpus > there.get("GPU", 0):
            raise BadInput(f"--worker-gpus is {gpus:g}, but the cluster has {there.get('GPU', 0):g} GPUs in all")
        with Pool(workers or max(1, int(there.get("CPU", 1))), gpus, warn) as pool:
            yield pool


def tell(text: str) -> None:
    """Say what happened to a worker."""
    err.print(text, markup=False, soft_wrap=True)


@contextlib.contextmanager
def playing_on(cluster: str | None, workers: int | None, gpus: float) -> Iterator[Play]:
    """Who plays the games of battles: the workers that were asked for, or this process."""
    with workers_of(cluster, workers, gpus, tell) as pool:
        yield play_games if pool is None else ClusterPlay(pool)


@contextlib.contextmanager
def training_on(cluster: str | None, workers: int | None, gpus: float) -> Iterator[tuple[DoJobs, int]]:
    """Who does trainings, and how many at once: workers on a cluster, or processes here."""
    if cluster is None and not gpus:
        yield do_jobs, workers or 1
        return
    with workers_of(cluster, workers, gpus, tell) as pool:
        assert pool is not None
        yield ClusterJobs(pool), pool.wanted
