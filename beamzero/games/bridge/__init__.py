"""The play of a bridge hand: `text` reads and writes deals, `game` is the Game, `open_cards` that with open cards."""

from beamzero.games.bridge.game import Bridge

__all__ = ["Bridge"]
