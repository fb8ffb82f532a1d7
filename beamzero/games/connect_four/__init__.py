"""Connect Four: `open_lines` are features for evaluation, `game` is the Game."""

from beamzero.games.connect_four.game import ConnectFour

__all__ = ["ConnectFour"]
