"""Players by Monte Carlo tree search with random games, and the settings of all Monte Carlo players."""

from __future__ import annotations

from beamzero.core.errors import BadInput
from beamzero.core.spec import Spec, convert
from beamzero.games import Game
from beamzero.players.options import LIMIT_OPTIONS, ROOM, take, take_limit
from beamzero.players.player import Player, SearchPlayer
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.mcts.mcts import MCTS
from beamzero.search.mcts.rollouts import RandomGames

_UCT_C = 1.0


def make_mcts(name: str, spec: Spec, game: Game) -> Player:
    """Make a player such as ``mcts:sims=200``, ``mcts:seconds=1`` or ``mcts:nodes=1000``."""
    argument, options = take(spec, name, "sims", {"sims": int, **LIMIT_OPTIONS, "c": float})
    if argument is not None:
        options["sims"] = convert(argument, int, f"{name}: sims")
    if not {"sims", *LIMIT_OPTIONS} & set(options):
        raise BadInput(f"{name} needs a limit, such as mcts:sims=200 or mcts:seconds=1")
    search, limit = tree_settings(name, options, uct=True, c=_UCT_C), take_limit(name, options)
    return SearchPlayer(name, game, RandomGames(search), zero_evaluator(game), deterministic=False, limit=limit)


def tree_settings(name: str, options: dict, **others: float) -> MCTS:
    """Make the search of the player `name`: by `others`, and by `sims` and `c` of its options where they are given."""
    take_limit(name, options)  # errors in the limit come first
    chosen = {"sims": ROOM, **others} | {key: options[key] for key in ("sims", "c") if key in options}
    try:
        return MCTS(**chosen)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None
