"""What a search finds, as a net learns from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from jax import Array

from beamzero.games import Game, State
from beamzero.search.evaluator import Evaluator


class TrainingTargets(NamedTuple):
    """What a search found in B positions, in the K slots of `Game.moves`. Anything where the game is over."""

    policy: Array  # float32 [B, K] what the net should say; 0 in empty slots
    draw: Array  # float32 [B, K] the shares in which self-play draws moves, before its temperature
    best: Array  # int32 [B] the slot to play where nothing is drawn
    after: State  # [B, ...] where the move leads that was picked
    value: Array  # float32 [B] for the side to move
    evaluations: Array  # int32 [B] how many positions the evaluator was asked about


Pick = Callable[[Array, Array], Array]
"""`TrainingTargets.draw` and `TrainingTargets.best` to int32 [B]: the slots to play, none of which has a share of 0."""


class TargetSearch(Protocol):
    """A search to learn from. They are frozen dataclasses: equal settings compile once.

    It makes the picked moves itself, since a tree that holds the positions after them needs no rules for that: those of
    chess take longer to compile than all the rest.
    """

    def search_targets(
        self, game: Game, evaluator: Evaluator, states: State, key: Array, pick: Pick
    ) -> TrainingTargets: ...

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes that a search of so many positions at once takes, about."""
        ...
