"""An agent that costs nothing, and a conversation with an engine that has it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from jax import Array

from beamzero.engines.wire import ProtocolEngine, Send
from beamzero.games import Game, State
from beamzero.players import Player
from beamzero.search.drive import Snapshot, Timer, Watch, no_watch
from beamzero.search.evaluator import SearchResult
from beamzero.search.limit import Limit
from beamzero.search.protocol import Option, Outlook

STEP = 0.002
"""Seconds that it thinks about a depth."""


@dataclasses.dataclass(frozen=True)
class Patient(Player):
    """Plays the last legal move; a ply deeper every two milliseconds, until a limit or its own `depth` is reached."""

    game: Game
    depth: int = 3
    name: str = "patient"
    deterministic: bool = True

    def consider(
        self, state: State, key: Array, limit: Limit | None = None, timer: Timer | None = None, watch: Watch = no_watch
    ) -> Snapshot:
        timer, depth = timer or Timer(), 0
        deepest = self.depth if limit is None or limit == Limit(depth=limit.depth) != Limit() else 10**9
        limit = limit or Limit()
        while True:
            depth += 1
            time.sleep(STEP)
            result = self._result(state)._replace(nodes=np.array([10 * depth]))
            found = Snapshot(result, Outlook([int(result.action[0])], 0.25), depth, 0, timer.elapsed)
            watch(found)
            if depth >= min(deepest, limit.depth or deepest) or timer.left(limit.seconds) <= 0:
                return found

    def _result(self, state: State) -> SearchResult:
        actions = self.game.legal_actions(state)
        values = np.full((1, self.game.num_actions), -np.inf, np.float32)
        for rank, action in enumerate(reversed(actions)):
            values[0, action] = rank / 100 - 0.5
        policy = np.zeros_like(values)
        policy[0, actions[-1]] = 1
        nothing = np.zeros(values.shape, bool)
        return SearchResult(np.array([actions[-1]]), values, policy, np.array([0.25]), np.array([0]), nothing)  # type: ignore[arg-type]

    def think_batch(self, states: State, key: Array) -> SearchResult:
        raise NotImplementedError

    def choose(self, states: State, mask: Array, key: Array) -> Array:
        raise NotImplementedError

    @property
    def options(self) -> dict[str, Option]:
        return {"Depth": Option(self.depth, 1, 64)}

    def with_option(self, name: str, value: int) -> Player:
        return dataclasses.replace(self, depth=value)


@dataclasses.dataclass(frozen=True)
class Broken(Patient):
    """Fails where it should think."""

    def consider(self, *given: Any, **named: Any) -> Snapshot:
        raise RuntimeError("out of\nideas")


class Talk:
    """What an engine answers, as `lines`."""

    def __init__(self, make: Callable[[Player, str, Send], ProtocolEngine], player: Player, warm: bool = True) -> None:
        self.lines: list[str] = []
        self.engine = make(player, "stub", self.lines.append)
        if warm:
            self.engine.prepare()
            self.engine.wait()

    def say(self, *lines: str) -> list[str]:
        """The new answers to some lines, once nothing is being done any more."""
        before = len(self.lines)
        for line in lines:
            assert self.engine.handle(line)
        self.engine.wait()
        return self.lines[before:]

    def wait_for(self, start: str, seconds: float = 5.0) -> str:
        """The last line that begins so, as soon as there is one."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = [line for line in self.lines if line.startswith(start)]
            if found:
                return found[-1]
            time.sleep(0.001)
        raise AssertionError(f"no {start!r} within {seconds} s")
