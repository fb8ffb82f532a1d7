"""Othello: `features` are for evaluation, `game` is the Game."""

from beamzero.games.othello.game import Othello

__all__ = ["Othello"]
