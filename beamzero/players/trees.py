"""Players that search by Monte Carlo with random games alone, and the settings of any that search a tree so."""

from __future__ import annotations

from beamzero.errors import BadInput
from beamzero.games import Game
from beamzero.players.clocked_tree import ClockedTree
from beamzero.players.options import take
from beamzero.players.player import Player, SearchPlayer
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.mcts import MCTS
from beamzero.search.rollouts import RandomGames
from beamzero.spec import Spec, convert

ROOM = 20_000
"""Simulations for which a tree has room that grows by the clock, where nothing is said."""

_UCT_C = 1.0
_LONGEST_SECONDS = 3600.0


def make_mcts(name: str, spec: Spec, game: Game) -> Player:
    """``mcts:sims=200``, ``mcts:seconds=1``."""
    argument, options = take(spec, name, "sims", {"sims": int, "seconds": float, "c": float})
    if argument is not None:
        options["sims"] = convert(argument, int, f"{name}: sims")
    if not {"sims", "seconds"} & set(options):
        raise BadInput(f"{name} needs a limit, such as mcts:sims=200 or mcts:seconds=1")
    search = tree_settings(name, options, uct=True, c=_UCT_C)
    if "seconds" in options:
        return ClockedTree(name, game, search, None, options["seconds"])
    return SearchPlayer(name, game, RandomGames(search), zero_evaluator(game), deterministic=False)


def tree_settings(name: str, options: dict, **others: float) -> MCTS:
    """Make the search of a player called `name`, whose c is that of the options, else of `others`."""
    seconds = options.get("seconds")
    if seconds is not None and not 0 < seconds <= _LONGEST_SECONDS:
        raise BadInput(f"{name}: seconds is {seconds:g}, but must be more than 0, at most {_LONGEST_SECONDS:g}")
    chosen = {"sims": ROOM, **others} | {key: options[key] for key in ("sims", "c") if key in options}
    try:
        return MCTS(**chosen)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None
