"""A pool of workers on a cluster, who do work items; the items of a worker that dies are done by another.

One thread hands out the items and takes in the results, so that no worker waits while the process that asked is busy.
Every item is a ticket, and its result is taken once: the second of two answers is thrown away.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import os
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax

from beamzero.cluster.connect import import_ray, versions
from beamzero.cluster.worker_files import Files, write_files
from beamzero.core.errors import BadInput, RunStopped

Function = Callable[[Any, Any], Any]
"""A function of what all workers share and of an item, which both sides can import."""

MOST_TRIES = 8
"""An item that so many workers died of is too large, or otherwise deadly."""
SLOW = 4.0
"""An item that takes so many times the usual is given to another worker too, if one has nothing to do."""
_FEWEST_SECONDS = 2.0
"""An item that was begun more recently is never called slow."""
_SHORT_SECONDS = 1.0
"""Items that take less are handed out ahead."""
_MOST_FAILED_STARTS = 3
_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_TO_MAKE_ROOM = 0.5
"""After a store was full, nothing is handed out for so long."""
_SECONDS_TO_WAIT_FOR_WORKERS = 30.0
"""Where no worker has begun by then, somebody should know."""
HANGING = 10.0
"""A worker is replaced that needs so many times as long for an item as makes it slow, and another has done that."""
HANGING_SECONDS = 600.0
"""But not before so long: it may be compiling, which others have done already."""


class Worker:
    """A process on a machine of the cluster, which does items."""

    def hello(self, folder: str, files: Files) -> dict[str, Any]:
        """Write the files that the worker needs. Returns where it is, and its versions."""
        others = write_files(folder, files)
        where = {"host": socket.gethostname(), "pid": os.getpid(), "device": jax.default_backend()}
        return {**where, "other_files": others, **versions()}

    def do(self, function: Function, shared: Any, item: Any) -> tuple[Any, float]:
        """Do an item. Returns its result, and the seconds it took."""
        begun = time.perf_counter()
        return function(shared, item), time.perf_counter() - begun


@dataclasses.dataclass(eq=False)
class Ticket:
    """A work item, until its result is taken."""

    function: Function
    shared: Any  # a reference to an object of the cluster's store
    item: Any
    alone: bool = False
    """Whether two at once would be in each other's way."""
    tries: int = 0
    begun: float = 0.0
    on: int = 0
    """Workers that have it."""
    done: bool = False
    result: Any = None
    forgotten: bool = False


@dataclasses.dataclass(eq=False)
class WorkerHandle:
    """A worker as the pool knows it."""

    number: int
    actor: Any
    place: str = ""
    pid: int = 0
    ready: bool = False
    holds: list[Ticket] = dataclasses.field(default_factory=list)
    """The items that it has: the one that it works on, and perhaps the next."""
    items: int = 0
    seconds: float = 0.0
    """How long it took for those, by its own clock."""
    begun: float = 0.0
    """When it began with what it works on, if it has anything."""
    since: float = 0.0
    """When it was ready."""

    @property
    def name(self) -> str:
        return f"worker {self.number}" + (f" on {self.place}" if self.place else "")


class Pool:
    """So many workers, who have `files` beside the package; a context manager. `warn` is told what happens to them."""

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
        """By the reference to what will come: who has what item; None where it is a greeting."""
        self.waiting: collections.deque[Ticket] = collections.deque()
        self.times: collections.deque[float] = collections.deque(maxlen=50)
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
            self.waiting.extend(tickets)
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
        """Say how the workers are doing since the pool was made: all of them, and by their numbers those that live.

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
        """Pass on what happened, from the thread of the one who asked: displays want that."""
        while self._warnings:
            with contextlib.suppress(IndexError):
                self.warn(self._warnings.popleft())

    # --- in the pool's own thread, or holding its lock ---------------------------------------------------------------

    def _work(self) -> None:
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
                # To look at all of them takes longer the more there are: so take what else has come by now.
                ready, _ = self.ray.wait(references, num_returns=len(references), timeout=0) if some else ([], [])
                with self.changed:
                    for reference in ready:
                        if reference in self.calls:  # those of a worker that was buried just now are gone
                            self._take(reference)
                    self.changed.notify_all()
        except BaseException as error:  # what is wrong must reach who waits
            with self.changed:
                self.problem = error
                self.changed.notify_all()

    def _look_after_workers(self) -> None:
        now = time.monotonic()
        if self.alone_since and any(worker.ready for worker in self.workers):
            self.alone_since = 0.0
        elif self.alone_since and now - self.alone_since > _SECONDS_TO_WAIT_FOR_WORKERS:
            self.alone_since = now
            self._warnings.append("no worker has begun yet: the cluster may have no room for any (ray status tells)")
        for worker in self.workers:
            patience = max(HANGING_SECONDS, HANGING * self._slow_seconds())
            if worker.holds and worker.holds[0].done and now - worker.begun > patience:
                self._warnings.append(f"{worker.name} hangs")
                worker.begun = now  # it is dead when Ray says so
                self.ray.kill(worker.actor)

    def _slow_seconds(self) -> float:
        return max(_FEWEST_SECONDS, SLOW * (statistics.median(self.times) if self.times else float("inf")))

    def _hire(self) -> None:
        # With threads of their own for every program, the workers of a machine would fight for its cores.
        alone = {"JAX_PLATFORMS": "cpu", "NPROC": "1", "PJRT_NPROC": "1"}
        environment = {} if self.gpus else alone
        options: dict[str, Any] = {"num_cpus": 1, "num_gpus": self.gpus, "runtime_env": {"env_vars": environment}}
        worker = WorkerHandle(next(self._numbers), self._kind.options(**options).remote())
        self.workers.append(worker)
        self.calls[worker.actor.hello.remote(os.getcwd(), self.files)] = worker, None

    def _hand_out(self) -> None:
        while time.monotonic() >= self.full_until:
            able = [worker for worker in self.workers if worker.ready and len(worker.holds) < 2]
            if not able:
                return
            worker = min(able, key=lambda worker: len(worker.holds))
            ticket = self._next(worker)
            if ticket is None:
                return
            ticket.on += 1
            ticket.begun = time.monotonic()
            if not worker.holds:
                worker.begun = ticket.begun
            worker.holds.append(ticket)
            self.calls[worker.actor.do.remote(ticket.function, ticket.shared, ticket.item)] = worker, ticket

    def _next(self, worker: WorkerHandle) -> Ticket | None:
        """Choose the ticket that a worker should have: the next, or one that another takes long for.

        Where items are short, a worker that is busy has its next one already, and need not wait for it.
        """
        while self.waiting and self.waiting[0].done:
            self.waiting.popleft()
        usual = statistics.median(self.times) if self.times else float("inf")
        if self.waiting:
            early = worker.holds and (self.waiting[0].alone or usual > _SHORT_SECONDS)
            return None if early else self.waiting.popleft()
        if worker.holds:
            return None
        late = time.monotonic() - self._slow_seconds()
        held = (ticket for _, ticket in self.calls.values() if ticket is not None)
        return next((t for t in held if t.begun < late and t.on == 1 and not t.done and not t.alone), None)

    def _take(self, reference: Any) -> None:
        """Take in a greeting or a result, or the error that came instead of it."""
        worker, ticket = self.calls.pop(reference)
        errors = self.ray.exceptions
        try:
            found = self.ray.get(reference)
        except (errors.RayActorError, errors.WorkerCrashedError, errors.OutOfMemoryError) as error:
            self._bury(worker, error)
        except (errors.ObjectLostError, errors.ObjectStoreFullError, errors.OutOfDiskError):
            self._give_back(worker, ticket)
            what = f"{worker.name}: the cluster's store is full, or lost what it held"
            if time.monotonic() > self.full_until:
                self._warnings.append(what)
            self.full_until = time.monotonic() + _SECONDS_TO_MAKE_ROOM
            self._again(ticket, what)
        except errors.RayTaskError as error:
            self._give_back(worker, ticket)
            self._complain(worker, ticket, error)
        else:
            self._give_back(worker, ticket)
            self._use(worker, ticket, found)

    @staticmethod
    def _give_back(worker: WorkerHandle, ticket: Ticket | None) -> None:
        """Take a ticket away from a worker."""
        if ticket is not None:
            ticket.on -= 1
            worker.holds.remove(ticket)
            worker.begun = time.monotonic()

    def _complain(self, worker: WorkerHandle, ticket: Ticket | None, error: Any) -> None:
        """Raise the exception of an item. Where it was for want of memory, another may have more."""
        cause = error.cause
        if isinstance(cause, MemoryError) or "RESOURCE_EXHAUSTED" in str(cause):
            what = f"{worker.name} ran out of memory"
            self._warnings.append(what)
            return self._again(ticket, what, MOST_TRIES)
        if isinstance(cause, BadInput | RunStopped):
            raise type(cause)(f"{worker.name}: {cause}") from None
        raise error.as_instanceof_cause() from None

    def _use(self, worker: WorkerHandle, ticket: Ticket | None, found: Any) -> None:
        if ticket is None:
            return self._greet(worker, found)
        result, seconds = found
        self.items += 1
        worker.items += 1
        worker.seconds += seconds
        self.times.append(seconds)
        if ticket.done:
            self.twice += not ticket.forgotten
        else:
            ticket.done, ticket.result = True, result
        return None

    def _greet(self, worker: WorkerHandle, hello: Mapping[str, Any]) -> None:
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

    def _bury(self, worker: WorkerHandle, error: BaseException) -> None:
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
            self._give_back(worker, ticket)
            # Only what it was at work on can have been its death.
            self._again(ticket, what if working else None, MOST_TRIES)

    def _again(self, ticket: Ticket | None, why: str | None, most: int = 25 * MOST_TRIES) -> None:
        """Put an item without a result back into the queue, unless another worker has it too."""
        if ticket is None or ticket.done or ticket.on:
            return
        ticket.tries += why is not None
        if ticket.tries >= most:
            raise RunStopped(
                f"a piece of work failed {ticket.tries} times, last by this: {why}; if workers run out of memory, give"
                " them smaller pieces (search_batch, lanes)"
            )
        if ticket.tries > 1:
            self.waiting.append(ticket)  # what may be deadly does not keep the others from being done
        else:
            self.waiting.appendleft(ticket)
