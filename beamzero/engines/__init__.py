"""Agents as engines for other programs: the protocols that boards and referees speak, and the games of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from beamzero.core.errors import BadInput
from beamzero.core.spec import unknown
from beamzero.engines.gtp import GtpEngine
from beamzero.engines.nboard import NBoardEngine
from beamzero.engines.uci import UciEngine
from beamzero.engines.wire import ProtocolEngine, Send, serve
from beamzero.games import Game
from beamzero.players import make_player

__all__ = ["PROTOCOLS", "Protocol", "make_engine", "serve"]


class Protocol(NamedTuple):
    """A protocol: the engine that speaks it, and the games that it is for."""

    engine: type[UciEngine] | type[GtpEngine] | type[NBoardEngine]
    fits: Callable[[Game], bool]
    """Tells whether a game is played by this protocol."""


PROTOCOLS = {
    "uci": Protocol(UciEngine, lambda game: game.speaks_uci),
    "gtp": Protocol(GtpEngine, lambda game: not game.speaks_uci),
    "nboard": Protocol(NBoardEngine, lambda game: game.speaks_nboard),
}


def make_engine(name: str, game: Game, agent: str, seed: int = 0) -> Callable[[Send], ProtocolEngine]:
    """Make an engine that plays as the agent does; BadInput where the game is not played by that protocol."""
    if name not in PROTOCOLS:
        raise unknown("protocol", name, PROTOCOLS)
    fitting = [known for known, protocol in PROTOCOLS.items() if protocol.fits(game)]
    if name not in fitting:
        raise BadInput(f"{game.spec} is not played by {name} (it is by: {', '.join(fitting)})")
    if game.hidden:
        raise BadInput(f"{game.name} hides cards, which {name} does not speak of")
    player = make_player(agent, game)
    return lambda send: PROTOCOLS[name].engine(player, agent, send, seed)
