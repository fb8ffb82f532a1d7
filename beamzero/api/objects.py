"""Objects of Python in place of texts: games, nets, algorithms and agents that were defined in a script or a notebook.

Files keep texts. An object that no text could find again gets a name for the rest of the process, and whoever loads a
run or an agent of it in another process passes the object once more.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.core.registry import ALGORITHMS, SEARCHES
from beamzero.core.spec import parse, quote
from beamzero.games import GAMES, Game, check_game_class, is_of_library, make_game, make_stored_game
from beamzero.nets import NETS
from beamzero.nets.own_module import is_net, net_text
from beamzero.players import Player, make_player
from beamzero.players.agent_kind import agent_kind
from beamzero.search.protocol import Search
from beamzero.training.settings import RunSettings

AnyGame = str | Game | type[Game]
"""A game: a text such as "connect_four:rows=7", a Game, or a class of yours."""

AnyAgent = str | Player | Search | type[Search]
"""An agent: a text such as "alphabeta:depth=6", a Player, or a search of yours."""

AnyAlgorithm = str | RunSettings | type[Any]
"""An algorithm: its name, its settings such as ``Probs(games=500)``, or a class of yours."""


def known_game(game: AnyGame) -> Game:
    """Make the game, and register its class where no text could find it again, so that runs of it can be opened."""
    rules = make_game(game)
    check_game_class(type(rules), type(rules).__name__)
    if rules.source is None and not _finds(rules):
        GAMES.register(rules.name, type(rules))
    return rules


def stored_game(text: str, given: AnyGame | None) -> Game:
    """Make the game that a run or an agent says it is of. What it names is never run: such a game is `given`."""
    named = None if given is None else known_game(given)
    head = parse(text).head
    if not (head.endswith(".py") or head in GAMES or is_of_library(text)):
        raise BadInput(f"it is of {text!r}, which this process does not know: give the class of that game as game=")
    stored = make_stored_game(text, named, "game=")
    if isinstance(given, Game) and given != stored:
        raise BadInput(f"it is of {stored.spec!r}, not of {given.spec!r} as game= says")
    return stored


def _finds(rules: Game) -> bool:
    """Tell whether the text of a game finds its class."""
    if is_of_library(rules.name):
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


def settings_of_request(settings: RunSettings, game: Game) -> dict[str, Any]:
    """Give the settings by name, without those that are left to be chosen for the game and the machine.

    A run that goes on has its own choice of these.
    """
    resolved = settings.resolved(game)
    return {name: value for name, value in vars(settings).items() if value == getattr(resolved, name)}


def as_texts(settings: dict[str, Any]) -> dict[str, Any]:
    """Put the text of a net in place of the object, for each setting that is one; its class is registered."""
    return {name: net_text(value) if is_net(value) else value for name, value in settings.items()}


def as_player(agent: AnyAgent, game: Game | None, options: Mapping[str, Any] | None = None) -> Player:
    """Make the player that a text or a search of yours names, with `options`; a player is returned as it is."""
    if isinstance(agent, Player):
        if options:
            raise BadInput(f"{agent.name} is made already, so {', '.join(options)} cannot be set: make it anew")
        if game is not None and agent.game != game:
            raise BadInput(f"{agent.name} plays {agent.game.spec}, not {game.spec}")
        return agent
    text = name_of(agent)
    if game is None:
        raise BadInput(f"of which game is {text!r}? Give game=, such as game='connect_four'")
    return make_player(_with_options(text, options or {}), game)


def name_of(agent: AnyAgent) -> str:
    """Give the text that names an agent."""
    if isinstance(agent, str):
        return agent
    return agent.name if isinstance(agent, Player) else _search_text(agent)


def _search_text(search: Search | type[Search]) -> str:
    """Write the text that names a search of yours, which is registered where no text could find it."""
    kind = search if inspect.isclass(search) else type(search)
    name = kind.__name__
    if issubclass(kind, Game):
        raise BadInput(f"{name} is a game and no agent: give it as game=")
    if name not in SEARCHES or SEARCHES[name] is not kind:
        SEARCHES.register(name, kind)
    if inspect.isclass(search):
        return name
    changed = {
        name: getattr(search, name)
        for name, field in inspect.signature(kind).parameters.items()
        if getattr(search, name) != field.default
    }
    return _with_options(name, changed)


def _with_options(text: str, options: Mapping[str, Any]) -> str:
    """Add options to the text of an agent."""
    written = ",".join(f"{name}={quote(value)}" for name, value in options.items())
    return f"{text}{',' if ':' in text else ':'}{written}" if options else text


def as_players(agents: tuple[AnyAgent, ...], game: AnyGame | None) -> tuple[Game, list[Player]]:
    """Make the players of one game: the one that is given, or that of the players among them."""
    rules = None if game is None else known_game(game)
    rules = rules or next((agent.game for agent in agents if isinstance(agent, Player)), None)
    players = [as_player(agent, rules) for agent in agents]
    if rules is None:
        raise BadInput("name the agents, and the game by game=")
    return rules, players


def objects_to_pass(game: Game, algorithm: str, settings: RunSettings) -> list[str]:
    """List what another process cannot find by itself, and has to be given to go on with a run or load its agent."""
    nets = [parse(getattr(settings, place.setting)).head for place in agent_kind(algorithm).nets.values()]
    known = GAMES.is_lasting(game.name) or game.source is not None or is_of_library(game.name)
    own = [] if known else [f"the game {game.name}"]
    own += [] if ALGORITHMS.is_lasting(algorithm) else [f"the algorithm {algorithm}"]
    return own + [f"the net {name}" for name in dict.fromkeys(nets) if not NETS.is_lasting(name)]
