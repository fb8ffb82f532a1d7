"""Agents that search in threads of their own: one for each agent of a game, shared by all sessions that it plays in.

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
"""The largest number of positions that are answered at once."""

_MANY_UNITS = 2000
"""Units of work of the longest search that answers in batches; a longer one is cut by the clock, one position after
the other."""

_ChooseMoves = Callable[[list[State]], Iterable[int]]
"""Chooses moves in positions. Returns them in the order of the positions, each as soon as it is found."""

_IN_REVIEW = Limit(seconds=0.2)
"""The time of an agent that goes by a clock, for each position of a game that it reviews."""

WAITING, COMPILING, READY, FAILED = "waiting", "compiling", "ready", "failed"


@dataclasses.dataclass
class _Job:
    """One request to an agent, and the future of its answer."""

    answer: Future[Any]
    work: Callable[[Player], Any] | None = None
    """Does the request; None to choose a move in `state`."""
    state: State | None = None


_COMPILERS = threading.Semaphore(2)
"""Held by agents that compile: two at once, at most."""


class Stopped(Exception):
    """Raised to end a review whose page is gone."""


class AgentWorker:
    """One agent of one game, with its thread. One that `plays` is compiled for that before anything else."""

    def __init__(self, game: Game, text: str, think_seconds: float, seed: int = 0, plays: bool = True) -> None:
        self.game, self.text, self.think_seconds, self.plays = game, text, think_seconds, plays
        self.status, self.problem = WAITING, ""
        self._busy = False
        self.used = time.monotonic()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._seed, self._asked = seed, 0
        self._thread = threading.Thread(target=self._run, name=f"agent {text}", daemon=True)
        self._thread.start()

    # --- called from other threads -----------------------------------------------------------------------------------

    def choose(self, state: State) -> Future[int]:
        """Choose a move in a position that is not over."""
        return self._ask(_Job(Future(), state=state))

    def analyse(self, state: State) -> Future[Analysis]:
        """Analyse a position, as ``beamzero analyse`` does."""
        return self._ask(_Job(Future(), lambda player: analyse(self.game, player, state, jax.random.key(0))))

    def review(self, followed: Followed, progress: Callable[[int, int], None]) -> Future[Review]:
        """Evaluate every position of a game; Stopped where `progress` raises that."""

        def work(player: Player) -> Review:
            return review(followed, player.hurried(_IN_REVIEW), jax.random.key(0), progress)

        return self._ask(_Job(Future(), work))

    def prepare(self) -> Future[None]:
        """Return a future that is done once the agent is compiled."""
        return self._ask(_Job(Future(), lambda player: None))

    def close(self) -> None:
        """End the thread when all requests are answered."""
        self._jobs.put(None)

    @property
    def idle(self) -> bool:
        return self._jobs.empty() and not self._busy and self.status in (READY, FAILED)

    def _ask(self, job: _Job) -> Future[Any]:
        self.used = time.monotonic()
        self._jobs.put(job)
        return job.answer

    # --- in its own thread -------------------------------------------------------------------------------------------

    def _run(self) -> None:
        self._key = jax.random.key(self._seed)  # here, since JAX may be slow and the event loop must not wait
        try:
            with _COMPILERS:
                self.status = COMPILING
                player = make_player(self.text, self.game)
                choose = self._warm_up(player) if self.plays else _refuse_to_play
                self.status = READY
        except Exception as error:  # any fault: every caller gets it as an answer
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
            # Moves go before analysis: a game waits for them.
            moves = [job for job in waiting if job.work is None]
            if moves:
                waiting = collections.deque(job for job in waiting if job.work is not None)
                self._answer_moves(choose, moves)
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

    def _answer_moves(self, choose: _ChooseMoves, jobs: list[_Job]) -> None:
        jobs = [job for job in jobs if job.answer.set_running_or_notify_cancel()]
        try:
            for job, move in zip(jobs, choose([job.state for job in jobs]), strict=True):
                job.answer.set_result(move)
        except Exception as error:
            for job in jobs:
                if not job.answer.done():
                    job.answer.set_exception(error)

    def _warm_up(self, player: Player) -> _ChooseMoves:
        """Compile, and find how this player answers within the limit of time: in batches or one by one."""
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

    def _together(self, player: Player) -> _ChooseMoves:
        def answer(states: list[State]) -> list[int]:
            if not states:
                return []
            padded = [states[min(row, len(states) - 1)] for row in range(BATCH)]
            batch = jax.tree.map(lambda *rows: jax.device_put(np.stack(rows)), *padded)
            mask = jax.device_put(np.arange(BATCH) < len(states))
            return np.asarray(player.choose(batch, mask, self._next_key()))[: len(states)].tolist()

        return answer

    def _one_by_one(self, player: Player) -> _ChooseMoves:
        limit = Limit(seconds=self.think_seconds).within(player.limit)

        def answer(states: list[State]) -> Iterator[int]:
            for state in states:
                yield player.consider(state, self._next_key(), limit, Timer()).action

        return answer

    def _next_key(self) -> jax.Array:
        self._asked += 1
        return jax.random.fold_in(self._key, self._asked)


class AgentPool:
    """The agents that have a thread; those asked longest ago make room for others."""

    def __init__(self, think_seconds: float, most: int = 24) -> None:
        self._think_seconds, self._most = think_seconds, most
        self._workers: dict[tuple[Game, str, bool], AgentWorker] = {}
        self._lock = threading.Lock()

    def get(self, game: Game, text: str, plays: bool = True) -> AgentWorker:
        """Return the worker of the agent `text` of a game, which begins to compile where it is new.

        One that `plays` is another than the one that analyses, so that no move waits for an analysis.
        """
        name = (game, text, plays)
        with self._lock:
            worker = self._workers.get(name)
            if worker is None or worker.status == FAILED:
                if worker is not None:
                    worker.close()
                worker = self._workers[name] = AgentWorker(game, text, self._think_seconds, len(self._workers), plays)
                self._make_room()
            worker.used = time.monotonic()
            return worker

    def status(self, game: Game, text: str) -> str:
        """Return the status of the agent that plays, without starting it."""
        worker = self._workers.get((game, text, True))
        return WAITING if worker is None else worker.status

    def _make_room(self) -> None:
        for name, worker in sorted(self._workers.items(), key=lambda item: item[1].used):
            if len(self._workers) <= self._most:
                return
            if worker.idle:
                worker.close()
                del self._workers[name]

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()


def _refuse_to_play(states: list[State]) -> list[int]:
    raise BadInput("this one analyses and does not play")


def _one_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
