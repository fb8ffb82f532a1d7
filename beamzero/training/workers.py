"""Jobs that are done one after another, or by several processes at once that share the machine's device.

A small net keeps a large GPU busy for a part of the time only: between its programs the host compiles, saves and
counts. Several processes fill each other's gaps.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

from beamzero.compiler import keep_compiled_code
from beamzero.errors import RunStopped
from beamzero.training.report import Report

Told = Callable[[str, int, int], None]
"""Told what is being done, and how many iterations of all jobs are done, of how many."""

_MEMORY = "XLA_PYTHON_CLIENT_MEM_FRACTION"


class Job(NamedTuple):
    """Some work that reports as a training run does."""

    name: str
    iterations: int
    """How many it has to do, for the progress of all."""
    work: Callable[[Report], Any]
    """Can be sent to another process."""


def share_device(workers: int) -> None:
    """Let this process and so many more have a part of a GPU's memory each; before anything touches the GPU."""
    os.environ.setdefault(_MEMORY, f"{0.95 / (workers + 1):.3f}")


def do_jobs(
    jobs: Sequence[Job], told: Told, warn: Callable[[str], None] = warnings.warn, workers: int = 1
) -> list[Any]:
    """What comes of each job, in order; an exception of any stops all, those of others as Ctrl-C would."""
    board = _Board(jobs, told, warn)
    if workers > 1 and len(jobs) > 1:
        return _do_in_processes(jobs, min(workers, len(jobs)), board)
    found = []
    for number, job in enumerate(jobs):
        found.append(job.work(_Watch(number, board.hear)))
        board.close(number)
    return found


class _Board:
    """Puts together what is heard of all jobs."""

    def __init__(self, jobs: Sequence[Job], told: Told, warn: Callable[[str], None]) -> None:
        self.jobs, self.told, self.warn = jobs, told, warn
        self.done = [0] * len(jobs)

    def hear(self, number: int, kind: str, text: str, done: int) -> None:
        name = self.jobs[number].name
        if kind == "message":
            return self.warn(f"{name}: {text}")
        self.done[number] = done
        return self.told(f"{name}: {text}", sum(self.done), sum(job.iterations for job in self.jobs))

    def close(self, number: int) -> None:
        self.done[number] = self.jobs[number].iterations


class _Watch(Report):
    """Tells the board of one job."""

    def __init__(self, number: int, hear: Callable[[int, str, str, int], None]) -> None:
        self.number, self.hear, self.done = number, hear, 0

    def message(self, text: str) -> None:
        self.hear(self.number, "message", text, self.done)

    def begin(self, title: str, done: int, total: int) -> None:
        self.done = done

    def phase(self, name: str, done: int, total: int) -> None:
        self.hear(self.number, "phase", name, self.done)

    def iteration(self, record: Mapping[str, Any]) -> None:
        self.done = record["iteration"]


# --- several processes ---------------------------------------------------------------------------------------------

_SECONDS_BETWEEN_LOOKS = 0.2


def _do_in_processes(jobs: Sequence[Job], workers: int, board: _Board) -> list[Any]:
    context = multiprocessing.get_context("spawn")
    news, stop = context.SimpleQueue(), context.Event()
    with ProcessPoolExecutor(workers, context, _start, (news, stop, os.getpid())) as pool:
        futures = {pool.submit(_work, number, job): number for number, job in enumerate(jobs)}
        try:
            left = set(futures)
            while left:
                done, left = wait(left, _SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
                while not news.empty():
                    board.hear(*news.get())
                for future in done:
                    future.result()
                    board.close(futures[future])
            return [future.result() for future in futures]
        except BrokenProcessPool:
            raise RunStopped("a worker was killed, perhaps for want of memory: fewer workers need less") from None
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                with contextlib.suppress(OSError):
                    os.kill(child.pid or 0, signal.SIGINT)
            raise


class _Here:
    """What a worker was given when it started."""

    news: Any
    stop: Any


def _start(news: Any, stop: Any, parent: int) -> None:
    """Prepare a worker. Ctrl-C of a terminal is for the parent, which passes it on, once; without a parent it ends."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Here.news, _Here.stop = news, stop
    keep_compiled_code()

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _work(number: int, job: Job) -> Any:
    """Do a job in a worker."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if _Here.stop.is_set():
            raise KeyboardInterrupt
        return job.work(_Watch(number, lambda *heard: _Here.news.put(heard)))
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
