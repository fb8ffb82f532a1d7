"""The simplest kind of trained agent: nets, and one search."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from beamzero.core.spec import Spec
from beamzero.games import Game
from beamzero.nets import Net, Weights
from beamzero.players.agent_kind import NetPlace
from beamzero.players.player import Player, SearchPlayer
from beamzero.players.trained import take_trained
from beamzero.search.evaluator import Evaluator
from beamzero.search.protocol import Search


@dataclasses.dataclass(frozen=True)
class PlainAgent:
    """An `AgentKind` without options: the agent always plays by the same `search`, such as `BestChild`."""

    nets: Mapping[str, NetPlace]
    make_evaluator: Callable[[Mapping[str, Net], Mapping[str, Weights]], Evaluator]
    """A function that makes the evaluator of the nets and their weights, both by their names in `nets`."""
    search: Search
    about: str
    """The description in the list of `beamzero agents`."""

    full: ClassVar[Mapping[str, str]] = {}

    @property
    def texts(self) -> Mapping[str, str]:
        return {"PATH": self.about}

    def evaluator(self, nets: Mapping[str, Net], weights: Mapping[str, Weights]) -> Evaluator:
        return self.make_evaluator(nets, weights)

    def make_player(self, name: str, spec: Spec, game: Game) -> Player:
        source, _ = take_trained(name, spec, {})
        return SearchPlayer(name, game, self.search, source.load(game).evaluator)

    def peeks(self, options: Mapping[str, str]) -> bool:
        """Return True: nothing is known of the search, so it may not play games with hidden cards."""
        return True

    def to_play(self, settings: Mapping[str, Any]) -> dict[str, str]:
        return {}

    def at_budget(self, game: Game, evaluations: int) -> dict[str, str]:
        return {}

    def search_at_budget(self, game: Game, evaluations: int) -> Search:
        return self.search
