"""A pool of workers on a cluster, who do work items; the items of a worker that dies are done by another.

One thread hands out the items and takes in the results, so that no worker waits while the process that asked is busy.
Every item is a ticket, and its result is taken once: the second of two answers is thrown away.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from beamzero.cluster.connect import import_ray, versions
from beamzero.cluster.schedule import MOST_TRIES, Schedule, Ticket, WorkerHandle
from beamzero.cluster.worker import Files, Function, Worker, loaded_files
from beamzero.core.errors import BadInput, RunStopped

_MOST_FAILED_STARTS = 3
_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_TO_MAKE_ROOM = 0.5
"""After the store was full, nothing is handed out for so long."""
_SECONDS_TO_WAIT_FOR_WORKERS = 30.0
"""Where no worker has begun by then, a warning says so."""


class Pool:
    """Workers of a cluster, with `files` beside the package; a context manager. `warn` is called when one fails."""

    def __init__(
        self,
        workers: int,
        gpus: float = 0.0,
        warn: Callable[[str], None] = lambda text: None,
        files: Files | None = None,
    ) -> None:
        self.ray = import_ray()
        self.wanted, self.gpus, self.warn, self.files = workers, gpus, warn, files or {}
        self.workers: list[WorkerHandle] = []
        self.calls: dict[Any, tuple[WorkerHandle, Ticket | None]] = {}
        """By the reference to a result: the worker and the ticket; None in place of a ticket for a greeting."""
        self.schedule = Schedule()
        self.items = self.deaths = self.twice = self.failed_starts = 0
        self.full_until = self.alone_since = 0.0
        self.problem: BaseException | None = None
        self.changed = threading.Condition(threading.RLock())
        self.closed = False
        self._numbers = itertools.count(1)
        self._warnings: collections.deque[str] = collections.deque()
        self._kind = self.ray.remote(Worker)

    def __enter__(self) -> Pool:
        self.alone_since = time.monotonic()
        with self.changed:
            for _ in range(self.wanted):
                self._hire()
        self.thread = threading.Thread(target=self._work, name="beamzero-pool", daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        self.thread.join()
        for worker in self.workers:
            self.ray.kill(worker.actor)

    def do(self, function: Function, shared: Any, items: Sequence[Any], alone: bool = False) -> Iterator[Any]:
        """Yield the result of each item, in order. All are handed out at once, before the first result is asked for."""
        return self.results(self.begin(function, shared, items, alone))

    def begin(self, function: Function, shared: Any, items: Sequence[Any], alone: bool = False) -> list[Ticket]:
        """Hand out the items, behind those that were handed out before.

        One that takes long may be done by two workers at the same time, unless each must be `alone`.
        """
        where = self.ray.put(shared)  # once, from where each machine fetches it once
        tickets = [Ticket(function, where, item, alone) for item in items]
        with self.changed:
            self.schedule.waiting.extend(tickets)
            self._hand_out()
            self.changed.notify_all()
        return tickets

    def results(self, tickets: Sequence[Ticket]) -> Iterator[Any]:
        """Yield the results of the tickets, in order; each result is forgotten here once it is given."""
        for ticket in tickets:
            with self.changed:
                while not ticket.done and self.problem is None:
                    self.changed.wait(0.5)  # not for ever, so that Ctrl-C is heard
                    self._speak()
                if not ticket.done:
                    assert self.problem is not None
                    raise self.problem
                result, ticket.result = ticket.result, None
            self._speak()
            yield result

    def forget(self, tickets: Sequence[Ticket]) -> None:
        """Give up these tickets: no caller will ask for their results."""
        with self.changed:
            for ticket in tickets:
                ticket.done, ticket.result, ticket.forgotten = True, None, True

    def facts(self) -> Mapping[str, Any]:
        """Give facts about the workers since the pool was made: all of them, and by their numbers those that live.

        No two have had the same number. `under_way` are the seconds spent on an item that is not done yet, and `age`
        those since a worker was ready.
        """
        with self.changed:
            now = time.monotonic()
            by_worker = {
                worker.number: {
                    "host": worker.place, "pieces": worker.items, "seconds": worker.seconds,
                    "under_way": now - worker.begun if worker.holds else 0.0, "age": now - worker.since,
                }
                for worker in self.workers if worker.ready
            }  # fmt: skip
            return {
                "wanted": self.wanted, "alive": len(by_worker), "deaths": self.deaths, "twice": self.twice,
                "pieces": self.items, "by_worker": by_worker,
            }  # fmt: skip

    def _speak(self) -> None:
        """Pass on warnings, from the thread of the caller: displays want that."""
        while self._warnings:
            with contextlib.suppress(IndexError):
                self.warn(self._warnings.popleft())

    # --- in the pool's own thread, or holding its lock ---------------------------------------------------------------

    def _work(self) -> None:
        """Hand out items and take in results until the pool is closed: the body of the pool's thread."""
        try:
            while not self.closed:
                with self.changed:
                    self._hand_out()
                    self._look_after_workers()
                    references = list(self.calls)
                    if not references:
                        self.changed.wait(_SECONDS_BETWEEN_LOOKS)
                        continue
                some, _ = self.ray.wait(references, num_returns=1, timeout=_SECONDS_BETWEEN_LOOKS)
                # To ask for all of them takes longer the more there are: so take all results that have come by now.
                ready, _ = self.ray.wait(references, num_returns=len(references), timeout=0) if some else ([], [])
                with self.changed:
                    for reference in ready:
                        if reference in self.calls:  # those of a worker that was replaced just now are gone
                            self._take(reference)
                    self.changed.notify_all()
        except BaseException as error:  # it must reach the caller that waits
            with self.changed:
                self.problem = error
                self.changed.notify_all()

    def _look_after_workers(self) -> None:
        """Warn where no worker has begun for long, and end those that hang."""
        now = time.monotonic()
        if self.alone_since and any(worker.ready for worker in self.workers):
            self.alone_since = 0.0
        elif self.alone_since and now - self.alone_since > _SECONDS_TO_WAIT_FOR_WORKERS:
            self.alone_since = now
            self._warnings.append("no worker has begun yet: the cluster may have no room for any (ray status tells)")
        for worker in self.workers:
            if self.schedule.hangs(worker):
                self._warnings.append(f"{worker.name} hangs")
                worker.begun = now  # it is dead when Ray says so
                self.ray.kill(worker.actor)

    def _hire(self) -> None:
        """Start a worker."""
        # With threads of their own for every program, the workers of a machine would fight for its cores.
        alone = {"JAX_PLATFORMS": "cpu", "NPROC": "1", "PJRT_NPROC": "1"}
        environment = {} if self.gpus else alone
        options: dict[str, Any] = {"num_cpus": 1, "num_gpus": self.gpus, "runtime_env": {"env_vars": environment}}
        worker = WorkerHandle(next(self._numbers), self._kind.options(**options).remote())
        self.workers.append(worker)
        self.calls[worker.actor.hello.remote(os.getcwd(), self.files, loaded_files())] = worker, None

    def _hand_out(self) -> None:
        """Give tickets to the workers that have room for one."""
        while time.monotonic() >= self.full_until:
            able = [worker for worker in self.workers if worker.ready and len(worker.holds) < 2]
            if not able:
                return
            worker = min(able, key=lambda worker: len(worker.holds))
            held = (ticket for _, ticket in self.calls.values() if ticket is not None)
            ticket = self.schedule.next_for(worker, held)
            if ticket is None:
                return
            worker.take(ticket)
            self.calls[worker.actor.do.remote(ticket.function, ticket.shared, ticket.item)] = worker, ticket

    def _take(self, reference: Any) -> None:
        """Take in a greeting or a result, or the error that came instead of it."""
        worker, ticket = self.calls.pop(reference)
        errors = self.ray.exceptions
        try:
            found = self.ray.get(reference)
        except (errors.RayActorError, errors.WorkerCrashedError, errors.OutOfMemoryError) as error:
            self._replace(worker, error)
        except (errors.ObjectLostError, errors.ObjectStoreFullError, errors.OutOfDiskError):
            worker.give_back(ticket)
            what = f"{worker.name}: the cluster's store is full, or lost what it held"
            if time.monotonic() > self.full_until:
                self._warnings.append(what)
            self.full_until = time.monotonic() + _SECONDS_TO_MAKE_ROOM
            self.schedule.put_back(ticket, what)
        except errors.RayTaskError as error:
            worker.give_back(ticket)
            self._complain(worker, ticket, error)
        else:
            worker.give_back(ticket)
            self._use(worker, ticket, found)

    def _complain(self, worker: WorkerHandle, ticket: Ticket | None, error: Any) -> None:
        """Raise the exception of an item. Where it was for want of memory, another may have more."""
        cause = error.cause
        if isinstance(cause, MemoryError) or "RESOURCE_EXHAUSTED" in str(cause):
            what = f"{worker.name} ran out of memory"
            self._warnings.append(what)
            return self.schedule.put_back(ticket, what, MOST_TRIES)
        if isinstance(cause, BadInput | RunStopped):
            raise type(cause)(f"{worker.name}: {cause}") from None
        raise error.as_instanceof_cause() from None

    def _use(self, worker: WorkerHandle, ticket: Ticket | None, found: Any) -> None:
        """Take in a greeting, or a result, which counts once."""
        if ticket is None:
            return self._greet(worker, found)
        result, seconds = found
        self.items += 1
        worker.items += 1
        worker.seconds += seconds
        self.schedule.times.append(seconds)
        if ticket.done:
            self.twice += not ticket.forgotten
        else:
            ticket.done, ticket.result = True, result
        return None

    def _greet(self, worker: WorkerHandle, hello: Mapping[str, Any]) -> None:
        """Count a worker as ready; BadInput where its versions or files are not those of this process."""
        worker.ready, worker.place, worker.pid = True, hello["host"], hello["pid"]
        worker.since = time.monotonic()
        self.failed_starts = 0
        for name, version in versions().items():
            if hello[name] != version:
                raise BadInput(
                    f"{worker.name} has {name} {hello[name]}, but here it is {version}: they must be the same"
                )
        if hello["other_files"]:
            raise BadInput(f"{worker.name} has another {hello['other_files'][0]}: it must be the same on all machines")
        if self.gpus and hello["device"] == "cpu":
            raise BadInput(f"{worker.name} was given a GPU, but JAX finds none there")

    def _replace(self, worker: WorkerHandle, error: BaseException) -> None:
        """Replace a worker that is dead, and give its items to the next that is free."""
        memory = " for want of memory" if isinstance(error, self.ray.exceptions.OutOfMemoryError) else ""
        what = f"{worker.name} died{memory}: another takes its place"
        self.workers.remove(worker)
        self.calls = {reference: call for reference, call in self.calls.items() if call[0] is not worker}
        self.deaths += worker.ready
        self.failed_starts += not worker.ready
        if self.failed_starts > _MOST_FAILED_STARTS * self.wanted:
            raise RunStopped(f"workers die as they begin: {' '.join(str(error).split())[:300]}")
        self._warnings.append(what)
        self._hire()
        for ticket in reversed(worker.holds.copy()):
            working = ticket is worker.holds[0]
            worker.give_back(ticket)
            # Only the item that it was at work on can have killed it.
            self.schedule.put_back(ticket, what if working else None, MOST_TRIES)
