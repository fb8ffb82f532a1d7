"""The protocol of an algorithm. The algorithms themselves are in `beamzero.algorithms`, or elsewhere."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from jax import Array

from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase
from beamzero.core.registry import ALGORITHMS, check_fields, check_frozen, missing_members
from beamzero.games import Game
from beamzero.nets import Weights
from beamzero.players import AGENTS, Player
from beamzero.players.agent_kind import AgentKind
from beamzero.search.memory import Needs
from beamzero.training.executor import LOCAL_EXECUTOR, Executor
from beamzero.training.settings import RunSettings

__all__ = ["ALGORITHMS", "Algorithm", "TrainingState", "check_algorithm"]


class TrainingState(Protocol):
    """All that an iteration gives to the next: a pytree."""

    def as_tree(self) -> dict[str, Any]:
        """Give the state as plain dicts, as it is saved."""


class Algorithm(Protocol):
    """A way to train, with its settings, for one game. Its states, each a `TrainingState`, are of its own kind.

    A frozen dataclass with the fields `game` and `settings`: equal ones share their compiled programs. It resolves the
    defaults of its settings itself, by `RunSettings.resolved`.

    >>> import jax
    >>> import beamzero as bz
    >>> from beamzero.training.algorithm import ALGORITHMS
    >>> list(ALGORITHMS.built_in)
    ['probs', 'alphazero', 'td']
    >>> td = ALGORITHMS["td"](bz.make_game("tic_tac_toe"), bz.Td(games=8, value_net="mlp:width=8"))
    >>> td.title, td.rated_by, td.settings.games
    ('TD(lambda)', 'one look at V', 8)
    >>> weights = td.init(jax.random.key(0))
    """

    title: ClassVar[str]
    """Its name for people."""
    settings_type: ClassVar[type[RunSettings]]
    """The dataclass of its settings."""
    agent: ClassVar[AgentKind]
    """How the trained agent is kept, and how it plays."""
    uses_executor: ClassVar[bool]
    """Whether an executor has anything to do in its iterations."""
    sizes: ClassVar[tuple[str, ...]]
    """The settings, beside the nets, that give the size of its state: a run starts only from one that agrees."""
    compared: ClassVar[Mapping[str, Any]]
    """Settings for a comparison, in which all evaluations must be counted and agents are rated by one look."""

    def __init__(self, game: Game, settings: Any) -> None: ...

    @property
    def game(self) -> Game: ...

    @property
    def settings(self) -> RunSettings: ...

    def init(self, key: Array) -> Any:
        """Make the state before the first iteration, with random weights."""

    def from_tree(self, tree: dict[str, Any]) -> Any:
        """Make the state that was saved as `tree`: ``from_tree(state.as_tree())`` is `state`, bit for bit."""

    def from_agent(self, fresh: Any, weights: Mapping[str, Weights]) -> Any:
        """Put the weights of an agent, by the names of its nets, into the state `fresh`, or its shapes."""

    def player(self, state: Any) -> Player:
        """Make the agent of a state, as it is rated."""

    @property
    def rated_by(self) -> str:
        """Say for people how that agent finds its moves: ``one look at Q``."""

    def bytes_needed(self, elsewhere: bool = False) -> Needs:
        """Count the bytes that an iteration takes at its most, about, with all that is kept over iterations.

        With `elsewhere`, games are played and positions searched by other machines.
        """

    def iterate(
        self,
        state: Any,
        iteration: int,
        key: Array,
        on_phase: OnPhase,
        share: float | None = None,
        executor: Executor = LOCAL_EXECUTOR,
    ) -> tuple[Any, dict[str, Any]]:
        """Do one iteration. Returns the next state, and the line of metrics.

        The line has the number of `games` that were played, the number of `evaluations` of positions by nets, the
        `seconds` of each phase as a dict, and other numbers for curves; losses under names that end in ``_loss``.

        `share` is the share of the run that is done, from 0 to 1, for schedules; by default that of the iterations.
        The `executor` does the parts that can be cut into work items. Both results depend on nothing but the state
        before, the number of the iteration and the run's key. The state before stays whole, since a run that is
        interrupted saves it.
        """


def check_algorithm(kind: Any, name: str) -> None:
    """Raise BadInput, with what is missing, where a class from outside is no `Algorithm`."""
    if name in AGENTS:
        raise BadInput(f"{name!r} cannot be the name of your algorithm: other agents go by it")
    if not callable(kind):
        raise BadInput(f"{name!r} is no algorithm: it must be a class")
    missing = missing_members(kind, Algorithm)
    if not missing:
        missing = [f"agent.{member}" for member in missing_members(kind.agent, AgentKind)]
    if missing:
        raise BadInput(f"{name!r} is no algorithm: it has no {', '.join(missing)}")
    if not (inspect.isclass(kind.settings_type) and issubclass(kind.settings_type, RunSettings)):
        raise BadInput(f"{name!r} is no algorithm: its settings_type must be a subclass of RunSettings")
    check_frozen(kind, f"{name!r} is no algorithm")
    check_fields(kind.settings_type, f"{name!r} is no algorithm")
