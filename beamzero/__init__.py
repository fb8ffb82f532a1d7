"""Train, measure and play agents for two-player board games.

>>> import beamzero
>>> game = beamzero.make_game("connect_four")
>>> player = beamzero.make_player("lookahead:2", game)
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"
__all__ = ["make_game", "make_player"]


def __getattr__(name: str) -> Any:
    # Imported when they are asked for, so that `import beamzero` does not wait for JAX.
    if name == "make_game":
        from beamzero.games import make_game

        return make_game
    if name == "make_player":
        from beamzero.players import make_player

        return make_player
    raise AttributeError(f"module 'beamzero' has no attribute {name!r}")
