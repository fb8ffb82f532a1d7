"""What a search finds, as a net learns from it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from jax import Array

from beamzero.games import Game, State
from beamzero.search.evaluator import Evaluator


class Lesson(NamedTuple):
    """What a search found in B positions, in the K slots of `Game.moves`. Anything where the game is over."""

    policy: Array  # float32 [B, K] what the net should say; 0 in empty slots
    draw: Array  # float32 [B, K] the shares in which self-play draws moves, before its temperature
    best: Array  # int32 [B] the slot to play where nothing is drawn
    value: Array  # float32 [B] for the side to move
    evaluations: Array  # int32 [] positions that the evaluator was asked about


class Teacher(Protocol):
    """A search to learn from. They are frozen dataclasses: equal settings compile once."""

    def teach(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> Lesson: ...
