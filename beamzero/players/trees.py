"""Players that search by Monte Carlo: with a trained net, or with random games alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beamzero.errors import BadInput
from beamzero.games import Game
from beamzero.players.options import take
from beamzero.players.player import Player, SearchPlayer
from beamzero.players.trained import load_trained
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.limit import Limit
from beamzero.search.mcts import MCTS
from beamzero.search.rollouts import RandomGames
from beamzero.search.simple import Likeliest
from beamzero.spec import Spec, convert

ROOM = 20_000
"""Simulations for which a tree has room that grows by the clock, where nothing is said."""

_UCT_C = 1.0
_LONGEST_SECONDS = 3600.0
_MOST = 1e6
"""Beyond any number that a search is set by."""


def make_mcts(name: str, spec: Spec, game: Game) -> Player:
    """``mcts:sims=200``, ``mcts:seconds=1``."""
    argument, options = take(spec, name, "sims", {"sims": int, "seconds": float, "c": float})
    if argument is not None:
        options["sims"] = convert(argument, int, f"{name}: sims")
    if not {"sims", "seconds"} & set(options):
        raise BadInput(f"{name} needs a limit, such as mcts:sims=200 or mcts:seconds=1")
    search = _settings(name, options, uct=True, c=_UCT_C)
    limit = Limit(seconds=options["seconds"]) if "seconds" in options else None
    return SearchPlayer(name, game, RandomGames(search), zero_evaluator(game), deterministic=False, limit=limit)


def make_alphazero(name: str, spec: Spec, game: Game) -> Player:
    """``alphazero:PATH``, ``alphazero:PATH,sims=200``, ``alphazero:PATH,seconds=1``."""
    kinds = {"path": str, "checkpoint": str, "sims": int, "seconds": float, "c": float}
    argument, options = take(spec, name, "path", kinds)
    path = options.get("path", argument)
    if not path:
        raise BadInput(f"{name} needs an agent, such as alphazero:runs/connect_four or alphazero:agent.safetensors")
    searching = bool({"sims", "seconds"} & set(options))
    if "c" in options and not searching:
        raise BadInput(f"{name}: c belongs to a search; give sims=N or seconds=S as well")
    if searching:
        _settings(name, options)  # what is wrong is said before a file is read
    trained = load_trained(path, game, options.get("checkpoint", "last"), "alphazero")
    if not searching:
        return SearchPlayer(name, game, Likeliest(), trained.evaluator)
    search = _settings(name, options, **_learned_with(name, trained.info["settings"]))
    limit = Limit(seconds=options["seconds"]) if "seconds" in options else None
    return SearchPlayer(name, game, search, trained.evaluator, deterministic=not limit, limit=limit)


def _learned_with(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """How the search was set while the agent learned; BadInput where the agent does not say it."""
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


def _settings(name: str, options: dict, **others: float) -> MCTS:
    """The search, whose c is that of the options, else of `others`."""
    seconds = options.get("seconds")
    if seconds is not None and not 0 < seconds <= _LONGEST_SECONDS:
        raise BadInput(f"{name}: seconds is {seconds:g}, but must be more than 0, at most {_LONGEST_SECONDS:g}")
    chosen = {"sims": ROOM, **others} | {key: options[key] for key in ("sims", "c") if key in options}
    try:
        return MCTS(**chosen)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None
