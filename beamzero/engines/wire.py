"""A protocol on a pair of streams: lines come in and go out, and searches run in another thread meanwhile."""

from __future__ import annotations

import abc
import collections
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TextIO

import jax
from jax import Array

from beamzero.players import Player
from beamzero.search.drive import Timer

Send = Callable[[str], None]
"""Sends one line to the other program."""

_PATIENCE = 1.0
"""Seconds in which a search ends once it is asked to stop; compiling takes longer."""

_MOST_ASKED = 64
"""The most jobs that wait; the next line is read when one of them is done."""


class ProtocolEngine(abc.ABC):
    """An engine that another program speaks to, line by line. Its answers go through `send`, a line each.

    Lines are handled in one thread, and all searches run in another, one job after the other. So a line is answered
    while a search runs.
    """

    def __init__(self, player: Player, send: Send, seed: int = 0) -> None:
        self.player, self.send = player, send
        self._key, self._drawn = jax.random.key(seed), 0
        self._jobs = ThreadPoolExecutor(max_workers=1)
        self._asked: collections.deque[Future[None]] = collections.deque()
        self._timer = Timer()
        self._timer.stop()
        self._warm: Future[None] | None = None

    @abc.abstractmethod
    def handle(self, line: str) -> bool:
        """Do what a line says, and never raise. Returns False where the engine is to leave."""

    @abc.abstractmethod
    def warm_up(self) -> None:
        """Compile all that is needed later."""

    @property
    def warm_up_key(self) -> Array:
        """A key for searches whose results are thrown away: drawing it changes no move."""
        return self._key

    def draw_key(self) -> Array:
        """Return another key each time."""
        self._drawn += 1
        return jax.random.fold_in(self._key, self._drawn)

    def later(self, job: Callable[[], None]) -> Future[None]:
        """Queue a job behind those before it; waits where too many are queued."""
        while len(self._asked) >= _MOST_ASKED:
            wait([self._asked.popleft()])
        self._asked.append(self._jobs.submit(job))
        return self._asked[-1]

    def prepare(self) -> None:
        """Begin to warm up, in the other thread."""
        self._warm = self.later(self.warm_up)

    def when_warm(self, callback: Callable[[], None]) -> None:
        """Call `callback` as soon as all is compiled, even while a search runs."""
        if self._warm is None:
            self.prepare()
        assert self._warm is not None
        self._warm.add_done_callback(lambda _: callback())

    def begin(self, timer: Timer, job: Callable[[], None]) -> None:
        """Stop the search that runs, and queue `job`, a search that ends when `timer` is stopped."""
        self.stop()
        self._timer = timer
        self.later(job)

    def stop(self) -> None:
        """Stop the search that runs, if any; it answers as if its time were up."""
        self._timer.stop()

    def wait(self, patience: float | None = None) -> bool:
        """Wait until all jobs are done, `patience` seconds at most. Returns True where they are."""
        return not wait([self._jobs.submit(lambda: None)], patience).not_done

    def close(self, patience: float | None = None) -> bool:
        """Stop the search that runs. Returns True where all jobs were done within `patience` seconds."""
        self.stop()
        done = self.wait(patience)
        self._jobs.shutdown(wait=False)
        return done


def serve(make_engine: Callable[[Send], ProtocolEngine], source: TextIO, sink: TextIO) -> bool:
    """Read lines and let the engine answer them, until it leaves or the input ends. Returns True where no job runs on.

    Where the input ends, all lines before are answered first; a command to quit does not wait for that.
    """
    writing = threading.Lock()

    def send(line: str) -> None:
        try:
            with writing:
                sink.write(line + "\n")
                sink.flush()
        except (BrokenPipeError, ValueError):
            pass  # the other program has gone; the input will end too

    engine = make_engine(send)
    engine.prepare()
    try:
        while True:
            try:
                line = source.readline()
            except UnicodeDecodeError:
                continue
            if not line:
                return engine.close()
            if not engine.handle(line.rstrip("\r\n")):
                return engine.close(_PATIENCE)
    finally:
        engine.stop()
