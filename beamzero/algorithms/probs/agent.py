"""How an agent of PROBS is kept and plays: one look at Q, or a beam search by V and Q."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from beamzero.core.errors import BadInput
from beamzero.core.spec import Spec
from beamzero.games import Game
from beamzero.nets import Net, Weights, make_evaluator
from beamzero.players.agent_kind import NetPlace
from beamzero.players.options import LIMIT_OPTIONS, ROOM, take_limit
from beamzero.players.player import Player, SearchPlayer
from beamzero.players.trained import take_trained
from beamzero.search.beam import BeamSearch
from beamzero.search.evaluator import Evaluator
from beamzero.search.protocol import Search
from beamzero.search.simple import OneLook, mean_moves


class ProbsAgent:
    """Two nets: V, what a position is worth, and Q, what a beam search would find after each move."""

    nets: ClassVar[Mapping[str, NetPlace]] = {
        "value": NetPlace("value_net", "value", ("value", "weights")),
        "q": NetPlace("q_net", "scores", ("q", "weights")),
    }
    full: ClassVar[Mapping[str, str]] = {"expand": "100"}
    texts: ClassVar[Mapping[str, str]] = {
        "PATH": "a trained agent, one look at Q; PATH is a run folder, a .safetensors file or a shipped agent",
        "PATH,expand=N": "the same with a beam search of N expansions at play; also depth=M, strict=true",
        "PATH,seconds=S": "the same for S seconds a move; also nodes=N, evaluations=N",
    }

    def evaluator(self, nets: Mapping[str, Net], weights: Mapping[str, Weights]) -> Evaluator:
        return make_evaluator(nets["value"], weights["value"], nets["q"], weights["q"])

    def make_player(self, name: str, spec: Spec, game: Game) -> Player:
        """Make the player of ``probs:PATH``, ``probs:PATH,seconds=1`` or ``probs:PATH,expand=200,depth=4``."""
        source, options = take_trained(name, spec, {"expand": int, "depth": int, "strict": bool, **LIMIT_OPTIONS})
        search: Search = OneLook()
        if self.peeks(options):
            expand = options.get("expand", ROOM)
            search = BeamSearch(expand, options.get("depth", 99), options.get("strict", False))
        elif options:
            raise BadInput(f"{name}: depth and strict belong to a search; give expand=NODES or seconds=S as well")
        limit, same = take_limit(name, options), "seconds" not in options  # a busy machine searches less
        return SearchPlayer(name, game, search, source.load(game).evaluator, deterministic=same, limit=limit)

    def peeks(self, options: Mapping[str, str]) -> bool:
        return bool({"expand", *LIMIT_OPTIONS} & set(options))

    def to_play(self, settings: Mapping[str, Any]) -> dict[str, str]:
        """Play by one look: Q was trained to predict what a search finds."""
        return {}

    def at_budget(self, game: Game, evaluations: int) -> dict[str, str]:
        """Count expansions: each puts every child of a node to V, and the node to Q."""
        return {"expand": str(max(1, round(evaluations / (1 + mean_moves(game)))))}

    def search_at_budget(self, game: Game, evaluations: int) -> Search:
        return BeamSearch(max(1, evaluations // (1 + game.max_moves)))
