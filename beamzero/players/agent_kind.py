"""The protocol of an algorithm's agents: how they are stored, and how they play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from beamzero.core.registry import ALGORITHMS, SEARCHES, load_user_class
from beamzero.core.spec import Spec, quote
from beamzero.games import Game
from beamzero.nets import Net, Weights
from beamzero.players.player import Player
from beamzero.search.evaluator import Evaluator
from beamzero.search.protocol import Search


class NetPlace(NamedTuple):
    """The place of a net: of its description in the settings, and of its weights in a checkpoint."""

    setting: str
    """The setting of the run that names the net."""
    head: str
    path: tuple[str, ...]
    """The keys that lead to the weights in the tree of a checkpoint."""


class AgentKind(Protocol):
    """The agents of one algorithm: how they are stored, and how they play."""

    @property
    def nets(self) -> Mapping[str, NetPlace]:
        """Give the places of the nets of an agent, by their names in an agent file."""

    @property
    def full(self) -> Mapping[str, str]:
        """Give the options of the level full: as strong as possible at a pace that suits people."""

    @property
    def texts(self) -> Mapping[str, str]:
        """Give texts that may follow the algorithm's name, such as ``PATH,depth=D``, with descriptions for people."""

    def evaluator(self, nets: Mapping[str, Net], weights: Mapping[str, Weights]) -> Evaluator:
        """Make the evaluator of the nets and their weights, both by their names in `nets`."""

    def make_player(self, name: str, spec: Spec, game: Game) -> Player:
        """Make the player that a text such as ``probs:PATH,expand=100`` names; `take_trained` reads its agent."""

    def peeks(self, options: Mapping[str, str]) -> bool:
        """Tell whether an agent with these options uses more of a state than `Game.observe` shows."""

    def to_play(self, settings: Mapping[str, Any]) -> dict[str, str]:
        """Choose the options of an agent that plays against people; `settings` are its run's, as far as known."""

    def at_budget(self, game: Game, evaluations: int) -> dict[str, str]:
        """Choose the options with which an agent takes about `evaluations` for a move."""

    def search_at_budget(self, game: Game, evaluations: int) -> Search:
        """Make a search that takes at most the memory of an agent with the options `at_budget`; it is never run."""


def agent_kind(algorithm: str) -> AgentKind:
    """Find the kind of the agents of an algorithm."""
    return ALGORITHMS.find(algorithm).agent


def agent_text(algorithm: str, path: str, options: Mapping[str, str]) -> str:
    """Write the text that names a trained agent, in any process."""
    source = ALGORITHMS.source(algorithm)
    parts = [quote(path), *(f"{key}={quote(value)}" for key, value in options.items())]
    return f"{source}{',' if ':' in source else ':'}{','.join(parts)}"


def own_file(spec: Spec) -> Spec:
    """Register the search or the algorithm that ``file.py:Class,PATH`` names, and read the rest as ``Class:PATH``.

    The file is run, so this is only for a text that a person has typed.
    """
    if not spec.head.endswith(".py"):
        return spec
    name, *others = spec.arguments or ("",)
    registry = SEARCHES if issubclass(load_user_class(spec.head, name, "algorithm or search"), Search) else ALGORITHMS
    return Spec(registry.register_file(spec.head, name), tuple(others), spec.options)
