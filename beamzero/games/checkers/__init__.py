"""Checkers: `board` numbers the squares, `features` are for evaluation, `game` is the Game."""

from beamzero.games.checkers.game import Checkers

__all__ = ["Checkers"]
