"""What thinking about a move is: how long it may take, what comes of it, and who does it."""

from __future__ import annotations

import abc
import dataclasses
import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from jax import Array

from beamzero.games import Game, State


@dataclasses.dataclass
class Budget:
    """How long to think about one move: until the first limit is reached, or `stop` is set."""

    seconds: float | None = None
    """From when it was made; None: as long as the agent likes, or where `endless` holds, until it is stopped."""
    depth: int | None = None
    nodes: int | None = None
    endless: bool = False
    own_time: bool = False
    """Whether the agent's own time counts, whatever else is said; otherwise only where nothing else is."""
    stop: threading.Event = dataclasses.field(default_factory=threading.Event)
    began: float = dataclasses.field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.began

    def left(self) -> float:
        """Seconds that remain."""
        if self.stop.is_set():
            return 0.0
        return math.inf if self.seconds is None else self.seconds - self.elapsed

    def or_own(self, seconds: float | None) -> Budget:
        """The same; with the agent's own time where that counts."""
        said = self.endless or any(limit is not None for limit in (self.seconds, self.depth, self.nodes))
        return dataclasses.replace(self, seconds=seconds) if self.own_time or not said else self


class Thought(NamedTuple):
    """What is known of a position so far. ``line[0]`` is the best move."""

    line: list[int]
    """The best line, as actions; one at least."""
    value: float
    """For the side to move, in [-1, 1]."""
    plies: int | None
    """After how many plies the game is won or lost, where that is seen."""
    depth: int
    nodes: int
    seconds: float


Tell = Callable[[Thought], None]


class Setting(NamedTuple):
    """A whole number that the other side of the wire may change."""

    default: int
    low: int
    high: int


class Thinker(abc.ABC):
    """An agent for one position at a time."""

    game: Game

    @abc.abstractmethod
    def think(self, state: State, key: Array, budget: Budget, tell: Tell) -> Thought:
        """What it thinks of `state`, which is not over. `tell` hears of what it finds on the way, and of the last."""

    @abc.abstractmethod
    def rank(self, state: State, key: Array, budget: Budget) -> list[tuple[int, float]]:
        """Every legal move of `state` with its value for the side to move, best first."""

    def settings(self) -> Mapping[str, Setting]:
        """What can be set, by name."""
        return {}

    def change(self, name: str, value: int) -> Thinker:
        """The same with another value, inside the bounds, of one of the `settings`; it may have to compile again."""
        return self

    def warm_up(self, state: State, key: Array) -> None:
        """Compile all that thinking about states such as this one needs: afterwards a clock measures thinking."""
        self.think(state, key, Budget(seconds=0.0), lambda thought: None)
