"""A protocol on a pair of streams: lines come in, lines go out, and thinking happens beside it."""

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

_PATIENCE = 1.0
"""Seconds in which a search is at its end, once it is told to stop; what is being compiled takes longer."""


_MOST_ASKED = 64
"""Jobs that wait at most; the next line is read when one of them is done."""


class Engine(abc.ABC):
    """One side of a conversation. `handle` never raises, whatever the line; answers go through `send`, a line each.

    Lines are handled in one thread, and all thinking is done in another, one job after the other. So a line is
    answered while a search runs.
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
        """Do what a line says; whether the conversation goes on."""

    @abc.abstractmethod
    def warm_up(self) -> None:
        """Compile all that is needed later."""

    @property
    def warm_up_key(self) -> Array:
        """For what is thrown away: drawing it changes no move."""
        return self._key

    def draw_key(self) -> Array:
        """Another key each time."""
        self._drawn += 1
        return jax.random.fold_in(self._key, self._drawn)

    def later(self, job: Callable[[], None]) -> Future[None]:
        """Have a job done as soon as those before it are. Whoever asks for too much at a time waits here meanwhile."""
        while len(self._asked) >= _MOST_ASKED:
            wait([self._asked.popleft()])
        self._asked.append(self._jobs.submit(job))
        return self._asked[-1]

    def prepare(self) -> None:
        """Begin to warm up."""
        self._warm = self.later(self.warm_up)

    def when_warm(self, tell: Callable[[], None]) -> None:
        """Call `tell` as soon as all is compiled, whatever is being thought about; at once where it is."""
        if self._warm is None:
            self.prepare()
        assert self._warm is not None
        self._warm.add_done_callback(lambda _: tell())

    def begin(self, timer: Timer, job: Callable[[], None]) -> None:
        """Think, until the `timer` is stopped; what is thought about at the moment comes to its end first."""
        self.stop()
        self._timer = timer
        self.later(job)

    def stop(self) -> None:
        """Let the search that runs, if any, come to its end; it answers as if its time were up."""
        self._timer.stop()

    def wait(self, patience: float | None = None) -> bool:
        """Until all that was asked for is done, or for so many seconds; whether it is done."""
        return not wait([self._jobs.submit(lambda: None)], patience).not_done

    def close(self, patience: float | None = None) -> bool:
        """End what runs; whether it ended, and all that was asked for was answered, within `patience` seconds."""
        self.stop()
        done = self.wait(patience)
        self._jobs.shutdown(wait=False)
        return done


def serve(make_engine: Callable[[Send], Engine], source: TextIO, sink: TextIO) -> bool:
    """Hold a conversation until the engine leaves it or the other side is gone; whether nothing is left running.

    Where the input ends, all that was asked for before is answered; who says that the engine shall leave does not wait.
    """
    writing = threading.Lock()

    def send(line: str) -> None:
        try:
            with writing:
                sink.write(line + "\n")
                sink.flush()
        except (BrokenPipeError, ValueError):
            pass  # nobody listens any more; the end of the input will say so

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
