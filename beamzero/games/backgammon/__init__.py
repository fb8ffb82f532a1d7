"""Backgammon: `text` reads and writes positions and moves, `game` is the Game."""

from beamzero.games.backgammon.game import Backgammon

__all__ = ["Backgammon"]
