"""What a training run asks of its algorithm, and the algorithms that there are."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol

from jax import Array

from beamzero.games import Game
from beamzero.players import Player
from beamzero.search.evaluator import Evaluator
from beamzero.search.memory import Needs
from beamzero.training.alphazero import AlphaZero
from beamzero.training.crew import CORES, Crew
from beamzero.training.probs import Probs
from beamzero.training.report import Phase
from beamzero.training.settings import AlphaZeroSettings, ProbsSettings, RunSettings, TdSettings
from beamzero.training.td import TD


class TrainingState(Protocol):
    """All that an iteration hands to the next: a pytree."""

    def as_tree(self) -> dict[str, Any]:
        """As plain dicts, which is how it lies on disk."""


class Algorithm(Protocol):
    """A way to train, with its settings, for one game. Its states, each a `TrainingState`, are of its own kind."""

    title: ClassVar[str]
    """What people call it."""
    pieces: ClassVar[bool]
    """Whether a crew has anything to do in its iterations."""

    def __init__(self, game: Game, settings: Any) -> None: ...

    @property
    def game(self) -> Game: ...

    @property
    def settings(self) -> RunSettings: ...

    def init(self, key: Array) -> Any:
        """The state before the first iteration, with random weights."""

    def from_tree(self, tree: dict[str, Any]) -> Any:
        """The state that was saved as `tree`: ``from_tree(state.as_tree())`` is `state`, bit for bit."""

    def evaluator(self, state: Any) -> Evaluator:
        """What the nets of a state think of positions."""

    def player(self, state: Any) -> Player:
        """The agent of a state, as it is rated."""

    def bytes_needed(self, elsewhere: bool = False) -> Needs:
        """Count what an iteration takes at its most, about, with all that is remembered over iterations.

        With `elsewhere`, games are played and positions searched by other machines.
        """

    def iterate(
        self,
        state: Any,
        iteration: int,
        key: Array,
        report: Phase,
        share: float | None = None,
        crew: Crew = CORES,
    ) -> tuple[Any, dict[str, Any]]:
        """The state after one iteration, and what was measured in it, losses under names that end in ``_loss``.

        `share` is how much of the run is done, from 0 to 1, which schedules follow; by default that of the iterations.
        The `crew` does what can be cut into pieces. Both results depend on nothing but the state before, the number of
        the iteration and the run's key. The state before stays whole, since a run that is interrupted saves it.
        """


class Kind(NamedTuple):
    """An algorithm and the settings that it is made with."""

    algorithm: type[Algorithm]
    settings: type[RunSettings]


ALGORITHMS: dict[str, Kind] = {
    "probs": Kind(Probs, ProbsSettings),
    "alphazero": Kind(AlphaZero, AlphaZeroSettings),
    "td": Kind(TD, TdSettings),
}
