"""An agent that costs nothing, and a conversation with an engine that has it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from jax import Array

from beamzero.engines.wire import Engine, Send
from beamzero.games import Game, State
from beamzero.players.thought import Budget, Setting, Tell, Thinker, Thought

STEP = 0.002
"""Seconds that it thinks about a depth."""


@dataclasses.dataclass(frozen=True)
class Patient(Thinker):
    """Plays the last legal move; a ply deeper every two milliseconds, until its budget is spent or `depth` reached."""

    game: Game
    depth: int = 3

    def think(self, state: State, key: Array, budget: Budget, tell: Tell) -> Thought:
        action, depth = self.game.legal_actions(state)[-1], 0
        deepest = 10**9 if budget.seconds is not None or budget.endless else self.depth
        while True:
            depth += 1
            time.sleep(STEP)
            thought = Thought([action], 0.25, None, depth, 10 * depth, budget.elapsed)
            tell(thought)
            if depth >= min(deepest, budget.depth or deepest) or budget.left() <= 0:
                return thought

    def rank(self, state: State, key: Array, budget: Budget) -> list[tuple[int, float]]:
        actions = self.game.legal_actions(state)
        return [(action, rank / 100 - 0.5) for rank, action in enumerate(reversed(actions))]

    def settings(self) -> dict[str, Setting]:
        return {"Depth": Setting(self.depth, 1, 64)}

    def change(self, name: str, value: int) -> Thinker:
        return dataclasses.replace(self, depth=value)


@dataclasses.dataclass(frozen=True)
class Broken(Patient):
    """Fails where it should think."""

    def think(self, state: State, key: Array, budget: Budget, tell: Tell) -> Thought:
        raise RuntimeError("out of\nideas")


class Talk:
    """What an engine answers, as `lines`."""

    def __init__(self, make: Callable[[Thinker, str, Send], Engine], thinker: Thinker, warm: bool = True) -> None:
        self.lines: list[str] = []
        self.engine = make(thinker, "stub", self.lines.append)
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
