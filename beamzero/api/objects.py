"""Objects of Python in place of texts: games, nets, algorithms and agents that were defined in a script or a notebook.

Files keep texts. An object that no text could find again gets a name for the rest of the process, and whoever loads a
run or an agent of it in another process passes the object once more.
"""

from __future__ import annotations

import inspect
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.core.registry import ALGORITHMS, SEARCHES
from beamzero.games import GAMES, Game, make_game
from beamzero.nets import NETS, NetSettings
from beamzero.players import Player, make_player
from beamzero.training.settings import RunSettings

AnyGame = str | Game | type[Game]
"""A game: a text such as "connect_four:rows=7", a Game, or a class of yours."""

AnyAgent = str | Player
"""An agent: a text such as "alphabeta:depth=6", or a Player."""

AnyAlgorithm = str | RunSettings | type[Any]
"""An algorithm: its name, its settings such as ``Probs(games=500)``, or a class of yours."""


def known_game(game: AnyGame) -> Game:
    """Make the game, and register its class where no text could find it again, so that runs of it can be opened."""
    rules = make_game(game)
    if rules.source is None and not _finds(rules):
        GAMES.register(rules.name, type(rules))
    return rules


def _finds(rules: Game) -> bool:
    """Tell whether the text of a game finds its class."""
    if rules.name.startswith("pgx:"):
        return True
    return rules.name in GAMES and GAMES[rules.name] is type(rules)


def known_algorithm(algorithm: AnyAlgorithm) -> tuple[str, dict[str, Any]]:
    """Find or register an algorithm. Returns its name, and the settings that were given with it."""
    if isinstance(algorithm, str):
        return ALGORITHMS.read(algorithm), {}
    if isinstance(algorithm, RunSettings):
        fits = [name for name in ALGORITHMS if ALGORITHMS[name].settings_type is type(algorithm)]
        if not fits:
            kind = type(algorithm).__name__
            raise BadInput(f"{kind} are the settings of no algorithm that is known: give the algorithm's class")
        return fits[0], dict(vars(algorithm))
    name = next((name for name in ALGORITHMS if ALGORITHMS[name] is algorithm), "")
    if not name:
        name = getattr(algorithm, "__name__", repr(algorithm))
        ALGORITHMS.register(name, algorithm)
    return name, {}


def as_texts(settings: dict[str, Any]) -> dict[str, Any]:
    """Put the text of a net in place of the object, for each setting that is one; its class is registered."""
    return {name: net_text(value) if _is_net(value) else value for name, value in settings.items()}


def _is_net(value: Any) -> bool:
    return isinstance(value, NetSettings) or (inspect.isclass(value) and issubclass(value, NetSettings))


def net_text(net: NetSettings | type[NetSettings]) -> str:
    """Write the text that makes a net again; register its class where no text could find it."""
    settings = net() if inspect.isclass(net) else net
    kind = type(settings)
    kind.name = kind.name or kind.__name__.lower()
    if kind.name not in NETS or NETS[kind.name] is not kind:
        NETS.register(kind.name, kind)
    return settings.text


def as_player(agent: AnyAgent, game: Game | None) -> Player:
    """Make the player that a text names; a player is returned as it is."""
    if isinstance(agent, Player):
        if game is not None and agent.game != game:
            raise BadInput(f"{agent.name} plays {agent.game.spec}, not {game.spec}")
        return agent
    if game is None:
        raise BadInput(f"of which game is {agent!r}? Give game=, such as game='connect_four'")
    return make_player(agent, game)


def as_players(agents: tuple[AnyAgent, ...], game: AnyGame | None) -> tuple[Game, list[Player]]:
    """Make the players of one game: the one that is given, or that of the players among them."""
    rules = None if game is None else known_game(game)
    rules = rules or next((agent.game for agent in agents if isinstance(agent, Player)), None)
    players = [as_player(agent, rules) for agent in agents]
    if rules is None:
        raise BadInput("name the agents, and the game by game=")
    return rules, players


def is_found_again(name: str, kind: str) -> str | None:
    """Say how another process finds what this one registered; None for what a text finds by itself."""
    registry = {"game": GAMES, "net": NETS, "algorithm": ALGORITHMS, "search": SEARCHES}[kind]
    return None if name in registry.built_in else f"pass the class as {kind}="
