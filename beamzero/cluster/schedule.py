"""The schedule of a pool: which work item goes to which worker next, and when one is slow, hangs or fails too often.

It knows nothing of Ray or of threads.
"""

from __future__ import annotations

import collections
import dataclasses
import statistics
import time
from collections.abc import Iterable
from typing import Any

from beamzero.cluster.worker import Function
from beamzero.core.errors import RunStopped

MOST_TRIES = 8
"""An item that so many workers died of is too large, or otherwise deadly."""
_SLOW = 4.0
"""An item that takes so many times the usual is given to another worker too, if one has nothing to do."""
_FEWEST_SECONDS = 2.0
"""An item that was begun more recently is never called slow."""
_SHORT_SECONDS = 1.0
"""Items that take less are handed out ahead."""
_HANGING = 10.0
"""A worker is replaced that needs so many times as long for an item as makes it slow, and another has done that."""
_HANGING_SECONDS = 600.0
"""A worker is not replaced before so long: it may be compiling, which others have done already."""


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
    """The number of workers that have it."""
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
    """The number of items that it has done."""
    seconds: float = 0.0
    """The seconds that these items took, by its own clock."""
    begun: float = 0.0
    """When it began with the item that it works on, if it has any."""
    since: float = 0.0
    """When it was ready."""

    @property
    def name(self) -> str:
        """Name the worker for people."""
        return f"worker {self.number}" + (f" on {self.place}" if self.place else "")

    def take(self, ticket: Ticket) -> None:
        """Take a ticket to work on, now or next."""
        ticket.on += 1
        ticket.begun = time.monotonic()
        if not self.holds:
            self.begun = ticket.begun
        self.holds.append(ticket)

    def give_back(self, ticket: Ticket | None) -> None:
        """Give a ticket back, if it is one, with or without its result."""
        if ticket is not None:
            ticket.on -= 1
            self.holds.remove(ticket)
            self.begun = time.monotonic()


class Schedule:
    """The queue of tickets."""

    def __init__(self) -> None:
        self.waiting: collections.deque[Ticket] = collections.deque()
        self.times: collections.deque[float] = collections.deque(maxlen=50)
        """Seconds that the last items took."""

    def next_for(self, worker: WorkerHandle, held: Iterable[Ticket]) -> Ticket | None:
        """Choose the ticket that a worker should have: the next, or one of those `held` that another takes long for.

        Where items are short, a worker that is busy has its next one already, and need not wait for it.
        """
        while self.waiting and self.waiting[0].done:
            self.waiting.popleft()
        if self.waiting:
            early = worker.holds and (self.waiting[0].alone or self._usual_seconds() > _SHORT_SECONDS)
            return None if early else self.waiting.popleft()
        if worker.holds:
            return None
        late = time.monotonic() - self._slow_seconds()
        return next((t for t in held if t.begun < late and t.on == 1 and not t.done and not t.alone), None)

    def hangs(self, worker: WorkerHandle) -> bool:
        """Tell whether a worker takes far too long for an item that another has done by now."""
        patience = max(_HANGING_SECONDS, _HANGING * self._slow_seconds())
        return bool(worker.holds) and worker.holds[0].done and time.monotonic() - worker.begun > patience

    def put_back(self, ticket: Ticket | None, why: str | None, most: int = 25 * MOST_TRIES) -> None:
        """Put an item without a result back into the queue, unless another worker has it too.

        `why` says what failed, None where that was no fault of the item; after `most` faults RunStopped is raised.
        """
        if ticket is None or ticket.done or ticket.on:
            return
        ticket.tries += why is not None
        if ticket.tries >= most:
            raise RunStopped(
                f"a piece of work failed {ticket.tries} times, last by this: {why}; if workers run out of memory, give"
                " them smaller pieces (search_batch, lanes)"
            )
        if ticket.tries > 1:
            self.waiting.append(ticket)  # an item that may be deadly does not keep the others from being done
        else:
            self.waiting.appendleft(ticket)

    def _usual_seconds(self) -> float:
        return statistics.median(self.times) if self.times else float("inf")

    def _slow_seconds(self) -> float:
        return max(_FEWEST_SECONDS, _SLOW * self._usual_seconds())
