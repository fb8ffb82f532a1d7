"""Agents that think in threads of their own: one for each agent of a game, shared by all tables that it plays at.

Positions that wait at the same time are answered together, always as a batch of the same size, so that after the first
answer nothing compiles again. Agents that go by a clock answer one position after the other.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any

import jax
import numpy as np

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.players import make_player
from beamzero.players.analysis import Analysis, analyse
from beamzero.players.player import Player
from beamzero.records.record import Followed
from beamzero.records.review import Review, review
from beamzero.search.drive import Timer
from beamzero.search.limit import Limit

BATCH = 32
"""Positions that are answered at once, at most."""

_MANY_UNITS = 2000
"""Of work: a search that does more is cut by the clock, and searches one position after the other."""

Answer = Callable[[list[State]], Iterable[int]]
"""The moves in positions, in their order, each as soon as it is found."""

_IN_REVIEW = Limit(seconds=0.2)
"""Of an agent that goes by a clock, for each position of a whole game."""

WAITING, COMPILING, READY, FAILED = "waiting", "compiling", "ready", "failed"


@dataclasses.dataclass
class _Job:
    """Something to do with the agent, and where the answer goes."""

    answer: Future[Any]
    work: Callable[[Player], Any] | None = None
    """None: choose a move in `state`."""
    state: State | None = None


_COMPILERS = threading.Semaphore(2)
"""Agents that compile at once, at most."""


class Stopped(Exception):
    """Nobody wants to know any more."""


class Brain:
    """One agent of one game, with its thread. One that `plays` is compiled for that before anything else."""

    def __init__(self, game: Game, text: str, think_seconds: float, seed: int = 0, plays: bool = True) -> None:
        self.game, self.text, self.think_seconds, self.plays = game, text, think_seconds, plays
        self.status, self.problem = WAITING, ""
        self._busy = False
        self.used = time.monotonic()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._key = jax.random.key(seed)
        self._asked = 0
        self._thread = threading.Thread(target=self._run, name=f"brain {text}", daemon=True)
        self._thread.start()

    # --- asked from other threads ----------------------------------------------------------------------------------

    def choose(self, state: State) -> Future[int]:
        """Its move in a position that is not over."""
        return self._ask(_Job(Future(), state=state))

    def analyse(self, state: State) -> Future[Analysis]:
        """What ``beamzero analyse`` says of a position."""
        return self._ask(_Job(Future(), lambda player: analyse(self.game, player, state, jax.random.key(0))))

    def review(self, followed: Followed, progress: Callable[[int, int], None]) -> Future[Review]:
        """What it thinks of every position of a game; Stopped where `progress` raises that."""

        def work(player: Player) -> Review:
            return review(followed, player.hurried(_IN_REVIEW), jax.random.key(0), progress)

        return self._ask(_Job(Future(), work))

    def prepare(self) -> Future[None]:
        """Done once it is compiled."""
        return self._ask(_Job(Future(), lambda player: None))

    def close(self) -> None:
        """End the thread when all that was asked is answered."""
        self._jobs.put(None)

    @property
    def idle(self) -> bool:
        return self._jobs.empty() and not self._busy and self.status in (READY, FAILED)

    def _ask(self, job: _Job) -> Future[Any]:
        self.used = time.monotonic()
        self._jobs.put(job)
        return job.answer

    # --- in its own thread -----------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            with _COMPILERS:
                self.status = COMPILING
                player = make_player(self.text, self.game)
                answer = self._warm_up(player) if self.plays else _nothing
                self.status = READY
        except Exception as error:  # whatever it was, those who ask must hear of it
            self.status, self.problem = FAILED, _one_line(error)
            self._refuse()
            return
        waiting: collections.deque[_Job] = collections.deque()
        while True:
            if not waiting:
                self._busy = False
                job = self._jobs.get()
                if job is None:
                    return
                self._busy = True
                waiting.append(job)
            with contextlib.suppress(queue.Empty):
                while len(waiting) < BATCH:
                    later = self._jobs.get_nowait()
                    if later is None:
                        self._jobs.put(None)
                        break
                    waiting.append(later)
            # Moves go before analysis: someone waits for their turn.
            moves = [job for job in waiting if job.work is None]
            if moves:
                waiting = collections.deque(job for job in waiting if job.work is not None)
                self._answer_moves(answer, moves)
            else:
                self._do(player, waiting.popleft())

    def _refuse(self) -> None:
        while (job := self._jobs.get()) is not None:
            if job.answer.set_running_or_notify_cancel():
                job.answer.set_exception(BadInput(self.problem))

    def _do(self, player: Player, job: _Job) -> None:
        assert job.work is not None
        if job.answer.set_running_or_notify_cancel():
            try:
                job.answer.set_result(job.work(player))
            except Exception as error:
                job.answer.set_exception(error)

    def _answer_moves(self, answer: Answer, jobs: list[_Job]) -> None:
        jobs = [job for job in jobs if job.answer.set_running_or_notify_cancel()]
        try:
            for job, move in zip(jobs, answer([job.state for job in jobs]), strict=True):
                job.answer.set_result(move)
        except Exception as error:
            for job in jobs:
                if not job.answer.done():
                    job.answer.set_exception(error)

    def _warm_up(self, player: Player) -> Answer:
        """Compile, and find out how this player is best asked within the limit of time."""
        first = jax.device_get(self.game.init(jax.random.key(0)))
        if player.in_batches and player.units <= _MANY_UNITS:
            together = self._together(player)
            list(together([first]))
            began = time.monotonic()
            list(together([first]))
            if (took := time.monotonic() - began) <= self.think_seconds:
                return together
            if player.units == 1:  # which cannot be cut
                raise BadInput(
                    f"{self.text} takes {took:.0f} s for a move, more than the {self.think_seconds:g} allowed"
                )
        player.warm_up(first, self._key)
        return self._one_by_one(player)

    def _together(self, player: Player) -> Answer:
        def answer(states: list[State]) -> list[int]:
            if not states:
                return []
            padded = [states[min(row, len(states) - 1)] for row in range(BATCH)]
            batch = jax.tree.map(lambda *rows: jax.device_put(np.stack(rows)), *padded)
            turn = jax.device_put(np.arange(BATCH) < len(states))
            return np.asarray(player.choose(batch, turn, self._next_key()))[: len(states)].tolist()

        return answer

    def _one_by_one(self, player: Player) -> Answer:
        limit = Limit(seconds=self.think_seconds).within(player.limit)

        def answer(states: list[State]) -> Iterator[int]:
            for state in states:
                yield player.consider(state, self._next_key(), limit, Timer()).action

        return answer

    def _next_key(self) -> jax.Array:
        self._asked += 1
        return jax.random.fold_in(self._key, self._asked)


class Brains:
    """The agents that are awake; those asked longest ago make room for others."""

    def __init__(self, think_seconds: float, most: int = 24) -> None:
        self._think_seconds, self._most = think_seconds, most
        self._brains: dict[tuple[Game, str, bool], Brain] = {}
        self._lock = threading.Lock()

    def get(self, game: Game, text: str, plays: bool = True) -> Brain:
        """The agent `text` of a game, which begins to compile where it was asleep.

        One that `plays` is another than the one that analyses, so that nobody's move waits for an analysis.
        """
        name = (game, text, plays)
        with self._lock:
            brain = self._brains.get(name)
            if brain is None or brain.status == FAILED:
                if brain is not None:
                    brain.close()
                brain = self._brains[name] = Brain(game, text, self._think_seconds, len(self._brains), plays)
                self._make_room()
            brain.used = time.monotonic()
            return brain

    def status(self, game: Game, text: str) -> str:
        """How far an agent is, without waking it."""
        brain = self._brains.get((game, text, True))
        return WAITING if brain is None else brain.status

    def _make_room(self) -> None:
        for name, brain in sorted(self._brains.items(), key=lambda item: item[1].used):
            if len(self._brains) <= self._most:
                return
            if brain.idle:
                brain.close()
                del self._brains[name]

    def close(self) -> None:
        for brain in self._brains.values():
            brain.close()


def _nothing(states: list[State]) -> list[int]:
    raise BadInput("this one analyses and does not play")


def _one_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
