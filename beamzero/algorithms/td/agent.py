"""How an agent of TD(lambda) is kept and plays: the move to the position that it likes best, or expectiminimax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from beamzero.core.errors import BadInput
from beamzero.core.spec import Spec
from beamzero.games import Game
from beamzero.nets import Net, Weights, make_value_evaluator
from beamzero.players.agent_kind import NetPlace
from beamzero.players.options import LIMIT_OPTIONS, take_limit
from beamzero.players.player import Player, SearchPlayer
from beamzero.players.trained import take_trained
from beamzero.search.evaluator import Evaluator
from beamzero.search.expectiminimax import MOST_TURNS, Expectiminimax
from beamzero.search.protocol import Search
from beamzero.search.simple import BestChild, OneLook


class TdAgent:
    """One net: what a position is worth before the dice are thrown."""

    nets: ClassVar[Mapping[str, NetPlace]] = {"value": NetPlace("value_net", "value", ("value", "weights"))}
    full: ClassVar[Mapping[str, str]] = {"depth": "1"}
    texts: ClassVar[Mapping[str, str]] = {
        "PATH": "an agent trained by TD(lambda), one look; depth=D searches D turns; also seconds=S, nodes=N"
    }

    def evaluator(self, nets: Mapping[str, Net], weights: Mapping[str, Weights]) -> Evaluator:
        return make_value_evaluator(nets["value"], weights["value"])

    def make_player(self, name: str, spec: Spec, game: Game) -> Player:
        """Make the player of ``td:PATH``, ``td:PATH,depth=2``, ``td:PATH,depth=2,rolls=5``, ``td:PATH,seconds=1``."""
        source, options = take_trained(name, spec, {"depth": int, "rolls": int, **LIMIT_OPTIONS}, example="backgammon")
        if not {"depth", *LIMIT_OPTIONS} & set(options):
            if "rolls" in options:
                raise BadInput(f"{name}: rolls belong to a search; give depth=TURNS as well")
            return SearchPlayer(name, game, BestChild(), source.load(game).evaluator)
        if not game.num_chance:
            raise BadInput(f"{name}: {game.name} has no chance events, and depth is for games that have")
        try:
            search = Expectiminimax(options.get("depth", MOST_TURNS), rolls=options.get("rolls", 0))
        except BadInput as error:
            raise BadInput(f"{name}: {error}") from None
        limit = take_limit(name, options)
        same = not search.rolls and "seconds" not in options  # a busy machine searches less
        evaluator = source.load(game).evaluator
        return SearchPlayer(name, game, search, evaluator, deterministic=same, on_host=True, limit=limit)

    def peeks(self, options: Mapping[str, str]) -> bool:
        """Say yes: the agent looks at the position after every move."""
        return True

    def to_play(self, settings: Mapping[str, Any]) -> dict[str, str]:
        return {}

    def at_budget(self, game: Game, evaluations: int) -> dict[str, str]:
        """Search one turn, whatever that takes: a second one is hundreds of times dearer."""
        return {"depth": "1"}

    def search_at_budget(self, game: Game, evaluations: int) -> Search:
        return OneLook()
