"""Options and workers of commands that can use a cluster."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from beamzero.arena.playing import Play, play_games
from beamzero.cli.common import err
from beamzero.cluster.battles import ClusterPlay
from beamzero.cluster.connect import connected
from beamzero.cluster.executor import ClusterJobs
from beamzero.cluster.pool import Pool
from beamzero.cluster.worker import files_of
from beamzero.core.errors import BadInput
from beamzero.experiments.workers import DoJobs, do_jobs
from beamzero.games import Game
from beamzero.storage.interrupts import heeding_termination

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
    cluster: str | None,
    workers: int | None,
    gpus: float,
    warn: Callable[[str], None],
    named: Sequence[str] = (),
) -> Iterator[Pool | None]:
    """Start the workers that were asked for, with the Python files that `named` texts say; None without a cluster."""
    if cluster is None:
        if workers is not None or gpus:
            raise BadInput("--workers and --worker-gpus are for --cluster: say which one, such as --cluster local")
        with heeding_termination():
            yield None
        return
    if gpus and not (gpus.is_integer() or 1e-4 <= gpus < 1):
        raise BadInput(f"--worker-gpus is {gpus:g}, but must be a whole number, or a part of one GPU from 0.0001 on")
    with connected(cluster) as ray:
        room = _room([node["Resources"] for node in ray.nodes() if node["Alive"]], gpus)
        with Pool(workers or room, gpus, warn, files_of(*named)) as pool, heeding_termination():
            yield pool


def _room(machines: Sequence[Mapping[str, float]], gpus: float) -> int:
    """Count the workers that fit on `machines`, at least 1; BadInput where none has the GPUs that each is to have."""
    most = max((machine.get("GPU", 0.0) for machine in machines), default=0.0)
    if gpus > most:
        raise BadInput(f"--worker-gpus is {gpus:g}, but no machine of the cluster has more than {most:g}")
    cores = (machine.get("CPU", 0.0) for machine in machines)
    if gpus:
        cores = (min(machine.get("CPU", 0.0), machine.get("GPU", 0.0) // gpus) for machine in machines)
    return max(1, int(sum(cores)))


def warn_of_worker(text: str) -> None:
    """Print on stderr what happened to a worker."""
    err.print(text, soft_wrap=True)


@contextlib.contextmanager
def playing_on(
    cluster: str | None, workers: int | None, gpus: float, game: Game, agents: Sequence[str]
) -> Iterator[Play]:
    """Yield the function that plays battles of `agents`: on the workers that were asked for, or in this process."""
    with workers_of(cluster, workers, gpus, warn_of_worker, (game.spec, *agents)) as pool:
        yield play_games if pool is None else ClusterPlay(pool)


@contextlib.contextmanager
def training_on(cluster: str | None, workers: int | None, gpus: float) -> Iterator[tuple[DoJobs, int]]:
    """Yield the function that does trainings, and how many at once: workers on a cluster, or processes here."""
    if cluster is None and not gpus:
        yield do_jobs, workers or 1
        return
    with workers_of(cluster, workers, gpus, warn_of_worker) as pool:
        assert pool is not None
        yield ClusterJobs(pool), pool.wanted


def lasting(folder: Path) -> Path:
    """Return `folder`; BadInput where it is among the files that Ray copied for a job, and removes after it."""
    if "working_dir_files" in Path(os.path.realpath(folder)).parts:
        raise BadInput(f"{folder} is among the files that Ray copied for this job, and goes with them: name another")
    return folder
