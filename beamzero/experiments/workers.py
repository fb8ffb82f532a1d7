"""Jobs that are done one after another, or by several processes at once that share the machine's device.

A small net keeps a large GPU busy for a part of the time only: between its programs the host compiles, saves and
counts. Several processes fill each other's gaps.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import connection
from typing import Any, NamedTuple, Protocol

from beamzero.core.compiler import keep_compiled_code
from beamzero.core.errors import BadInput, RunStopped
from beamzero.core.leaving import leave
from beamzero.core.progress import OnPhase
from beamzero.training.report import Report

_MEMORY = ("XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION")
"""The old and the new name of the share of the GPU's memory; JAX refuses both at once."""


class DoJobs(Protocol):
    """A way to do jobs: `do_jobs`, or another with the same results."""

    def __call__(
        self, jobs: Sequence[Job], on_progress: OnPhase, warn: Callable[[str], None] = ..., workers: int = ...
    ) -> list[Any]: ...


class Job(NamedTuple):
    """Work that reports as a training run does."""

    name: str
    iterations: int
    """The number of iterations it has, for the progress of all."""
    work: Callable[[Report], Any]
    """A function that can be sent to another process."""


def share_device(workers: int) -> None:
    """Give this process and `workers` more a part of a GPU's memory each; to be called before anything uses the GPU."""
    if not any(name in os.environ for name in _MEMORY):
        os.environ[_MEMORY[0]] = f"{0.95 / (workers + 1):.3f}"


def do_jobs(
    jobs: Sequence[Job], on_progress: OnPhase, warn: Callable[[str], None] = warnings.warn, workers: int = 1
) -> list[Any]:
    """Do jobs. Returns their results, in order.

    An exception of one is raised once the others have stopped, as after Ctrl-C.
    """
    progress = _JobsProgress(jobs, on_progress, warn)
    if workers > 1 and len(jobs) > 1:
        return _do_in_processes(jobs, min(workers, len(jobs)), progress)
    found = []
    for number, job in enumerate(jobs):
        found.append(job.work(_JobReport(number, progress.hear)))
        progress.close(number, found[-1])
    return found


class _JobsProgress:
    """Adds up the progress of all jobs."""

    def __init__(self, jobs: Sequence[Job], on_progress: OnPhase, warn: Callable[[str], None]) -> None:
        self.jobs, self.on_progress, self.warn = jobs, on_progress, warn
        self.done = [0] * len(jobs)

    def hear(self, number: int, kind: str, text: str, done: int) -> None:
        """Pass on a message or a phase of a job."""
        name = self.jobs[number].name
        if kind == "message":
            return self.warn(f"{name}: {text}")
        self.done[number] = done
        return self.on_progress(f"{name}: {text}", sum(self.done), sum(job.iterations for job in self.jobs))

    def close(self, number: int, result: Any) -> None:
        """Count a job as done; one with the result None is not, and goes on another time."""
        if result is not None:
            self.done[number] = self.jobs[number].iterations


class _JobReport(Report):
    """The report of one job, which calls `hear` with its number."""

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

_PROGRESS, _DONE, _FAILED = range(3)


class _Worker:
    """A process that does one job after another, and the pipe to it. No two share anything that one could block."""

    def __init__(self, stop: Any) -> None:
        self.pipe, its_end = _PROCESSES.Pipe()
        self.process = _PROCESSES.Process(target=_serve, args=(its_end, stop, os.getpid()), daemon=True)
        self.process.start()
        its_end.close()  # so that the pipe ends with the worker
        self.number = -1

    def give(self, number: int, job: Job) -> None:
        """Send a job to the process."""
        self.number = number
        self.pipe.send((number, job))


_PROCESSES = multiprocessing.get_context("spawn")


def _do_in_processes(jobs: Sequence[Job], number: int, progress: _JobsProgress) -> list[Any]:
    """Do jobs in `number` processes. Returns their results, in order."""
    stop = _PROCESSES.Event()
    results: list[Any] = [None] * len(jobs)
    workers: list[_Worker] = []
    todo = iter(enumerate(jobs))
    try:
        with _sparing_children():
            for _ in range(number):
                workers.append(_Worker(stop))
        for worker in workers:
            worker.give(*next(todo))
        busy = {worker.pipe: worker for worker in workers}
        while busy:
            for pipe in connection.wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                kind, *content = worker.pipe.recv()
                if kind == _PROGRESS:
                    progress.hear(*content)
                elif kind == _FAILED:
                    raise content[0]
                else:
                    results[worker.number] = content[0]
                    progress.close(worker.number, content[0])
                    following = next(todo, None)
                    if following is None:
                        del busy[worker.pipe]
                    else:
                        worker.give(*following)
        return results
    except (EOFError, BrokenPipeError):
        raise RunStopped("a worker was killed, perhaps for want of memory: fewer workers need less") from None
    finally:
        _end(workers, stop)


def _end(workers: Sequence[_Worker], stop: Any) -> None:
    """Let the workers save their work and end, and wait for that."""
    stop.set()
    for worker in workers:
        worker.pipe.close()  # one that waits for a job ends, and one that waits for room in the pipe goes on
        if worker.process.pid is not None and worker.process.is_alive():
            with contextlib.suppress(OSError):
                os.kill(worker.process.pid, signal.SIGINT)
    for worker in workers:
        worker.process.join()


@contextlib.contextmanager
def _sparing_children() -> Iterator[None]:
    """Hold back Ctrl-C from processes that are started in this block, until they are ready for it; see `_serve`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: connection.Connection, stop: Any, parent: int) -> None:
    """Do jobs until the pipe ends. Ctrl-C is for the parent, which passes it on; without a parent it ends."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    keep_compiled_code()

    def send(*message: Any) -> None:
        if not stop.is_set():
            with contextlib.suppress(OSError):  # the parent has gone, or is about to
                pipe.send(message)

    with contextlib.suppress(EOFError, OSError):
        while True:
            number, job = pipe.recv()
            send(*_do(job, _JobReport(number, functools.partial(send, _PROGRESS)), stop))
    leave(0)


def _do(job: Job, report: Report, stop: Any) -> tuple[int, Any]:
    """Do a job. Returns the message to the parent."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if stop.is_set():
            raise KeyboardInterrupt
        return _DONE, job.work(report)
    except BaseException as error:
        if not isinstance(error, (BadInput, RunStopped, KeyboardInterrupt)):
            error.add_note(traceback.format_exc())  # which does not come through a pipe by itself
        return _FAILED, error
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end_with(parent: int) -> None:
    """End this process soon after its parent was killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
