"""Training targets: the results of searches, as a net learns from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from jax import Array

from beamzero.games import Game, State
from beamzero.search.evaluator import Evaluator


class TrainingTargets(NamedTuple):
    """The training targets of B positions, in the K slots of `Game.moves`. Anything where the game is over."""

    policy: Array  # float32 [B, K] the policy that the net learns; 0 in empty slots
    draw: Array  # float32 [B, K] the shares in which self-play draws moves, before its temperature
    best: Array  # int32 [B] the slot to play where no move is drawn
    after: State  # [B, ...] the position after the move that was picked
    value: Array  # float32 [B] for the side to move
    evaluations: Array  # int32 [B] positions put to the evaluator


Pick = Callable[[Array, Array], Array]
"""A function of `draw` [B, K] and `best` [B] to the slots to play, int32 [B], none of which has a share of 0."""


class TargetSearch(Protocol):
    """A search that gives training targets. Subclasses are frozen dataclasses: equal settings compile once.

    The search makes the picked moves itself: its tree holds the positions after them, so that the rules need not be
    compiled once more. For chess that takes longer than all the rest.
    """

    def search_targets(
        self, game: Game, evaluator: Evaluator, states: State, key: Array, pick: Pick
    ) -> TrainingTargets:
        """Search `states` [B], pick a move in each and play it."""
        ...

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes that a search of `roots` positions at once takes, about."""
        ...
