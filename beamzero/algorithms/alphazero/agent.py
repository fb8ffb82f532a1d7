"""How an agent of AlphaZero is kept and plays: one look at the policy, or a tree search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from beamzero.core.errors import BadInput
from beamzero.core.spec import Spec
from beamzero.games import Game
from beamzero.nets import Net, Weights, make_joint_evaluator
from beamzero.players.agent_kind import NetPlace
from beamzero.players.options import LIMIT_OPTIONS, take_limit
from beamzero.players.player import Player, SearchPlayer
from beamzero.players.trained import take_trained
from beamzero.players.trees import tree_settings
from beamzero.search.evaluator import Evaluator
from beamzero.search.mcts.mcts import MCTS
from beamzero.search.protocol import Search
from beamzero.search.simple import Likeliest

_MOST = 1e6
"""Beyond any number that a search is set by."""


class AlphaZeroAgent:
    """One net that gives the policy and the value."""

    nets: ClassVar[Mapping[str, NetPlace]] = {"net": NetPlace("net", "joint", ("best",))}
    full: ClassVar[Mapping[str, str]] = {"seconds": "1"}
    texts: ClassVar[Mapping[str, str]] = {
        "PATH": "an agent trained by AlphaZero, one look at the net",
        "PATH,sims=N": "the same with a tree search of N simulations a move; also seconds=S, nodes=N, evaluations=N",
    }

    def evaluator(self, nets: Mapping[str, Net], weights: Mapping[str, Weights]) -> Evaluator:
        return make_joint_evaluator(nets["net"], weights["net"])

    def make_player(self, name: str, spec: Spec, game: Game) -> Player:
        """Make the player of ``alphazero:PATH``, ``alphazero:PATH,sims=200``, ``alphazero:PATH,seconds=1``."""
        source, options = take_trained(name, spec, {"sims": int, **LIMIT_OPTIONS, "c": float})
        searching = self.peeks(options)
        if "c" in options and not searching:
            raise BadInput(f"{name}: c belongs to a search; give sims=N or seconds=S as well")
        if searching:
            tree_settings(name, options)  # what is wrong is said before a file is read
        trained = source.load(game)
        if not searching:
            return SearchPlayer(name, game, Likeliest(), trained.evaluator)
        search = tree_settings(name, options, **_learned_with(name, trained.info["settings"]))
        same = "seconds" not in options  # a busy machine searches less
        return SearchPlayer(name, game, search, trained.evaluator, deterministic=same, limit=take_limit(name, options))

    def peeks(self, options: Mapping[str, Any]) -> bool:
        return bool({"sims", *LIMIT_OPTIONS} & set(options))

    def to_play(self, settings: Mapping[str, Any]) -> dict[str, str]:
        """Search with as many simulations as in self-play."""
        return {"sims": str(settings.get("sims", 100))}

    def at_budget(self, game: Game, evaluations: int) -> dict[str, str]:
        return {"sims": str(evaluations)}

    def search_at_budget(self, game: Game, evaluations: int) -> Search:
        return MCTS(evaluations)


def _learned_with(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Read how the search was set while the agent learned; BadInput where the agent does not say it."""
    relative = settings.get("relative", False)
    numbers: dict[str, float] = {}
    for key in ("c", "unvisited"):
        number: Any = settings.get(key)
        if type(number) not in (int, float) or not abs(number) < _MOST:
            raise BadInput(f"{name}: the agent does not say the number {key}, which it searches with")
        numbers[key] = float(number)
    if not isinstance(relative, bool):
        raise BadInput(f"{name}: what the agent says of the setting relative is neither true nor false")
    return {"relative": relative, **numbers}
