"""Chess on 8 x 8 and 6 x 6 squares: `moves` finds legal moves, `state` makes them, `game` is the Game."""

from beamzero.games.chess.game import Chess, Chess6x6

__all__ = ["Chess", "Chess6x6"]
