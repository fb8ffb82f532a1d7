"""Train, measure and play agents for two-player board games.

>>> import beamzero as bz
>>> game = bz.make_game("connect_four")
>>> agent = bz.load("connect_four", sims=100)
>>> bz.analyse(agent, moves="d c d c").best
'd'
>>> bz.battle(agent, "lookahead:3", games=20, progress=False).score > 0.8
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beamzero.algorithms.alphazero.settings import AlphaZeroSettings as AlphaZero
    from beamzero.algorithms.probs.settings import ProbsSettings as Probs
    from beamzero.algorithms.td.settings import TdSettings as Td
    from beamzero.api.games import PlayedGame, play_game, read_games
    from beamzero.api.matches import Ratings, Scores, battle, rate, score
    from beamzero.api.playing import PositionAnalysis, analyse, make_player, play
    from beamzero.api.training import TrainingRun, load, train
    from beamzero.arena.battle import Battle
    from beamzero.core.errors import BadInput
    from beamzero.games import Game, make_game
    from beamzero.games.position import Position
    from beamzero.nets import NetSettings
    from beamzero.players import Player
    from beamzero.search.limit import Limit
    from beamzero.search.protocol import Search
    from beamzero.training.algorithm import Algorithm
    from beamzero.training.settings import RunSettings, setting

__version__ = "0.1.0"
__all__ = [
    "Algorithm",
    "AlphaZero",
    "BadInput",
    "Battle",
    "Game",
    "Limit",
    "NetSettings",
    "PlayedGame",
    "Player",
    "Position",
    "PositionAnalysis",
    "Probs",
    "Ratings",
    "RunSettings",
    "Scores",
    "Search",
    "Td",
    "TrainingRun",
    "analyse",
    "battle",
    "load",
    "make_game",
    "make_player",
    "play",
    "play_game",
    "rate",
    "read_games",
    "score",
    "setting",
    "train",
]

_HOMES = {
    "Algorithm": "beamzero.training.algorithm:Algorithm",
    "AlphaZero": "beamzero.algorithms.alphazero.settings:AlphaZeroSettings",
    "BadInput": "beamzero.core.errors:BadInput",
    "Battle": "beamzero.arena.battle:Battle",
    "Game": "beamzero.games:Game",
    "Limit": "beamzero.search.limit:Limit",
    "NetSettings": "beamzero.nets:NetSettings",
    "PlayedGame": "beamzero.api.games:PlayedGame",
    "Player": "beamzero.players:Player",
    "Position": "beamzero.games.position:Position",
    "PositionAnalysis": "beamzero.api.playing:PositionAnalysis",
    "Probs": "beamzero.algorithms.probs.settings:ProbsSettings",
    "Ratings": "beamzero.api.matches:Ratings",
    "RunSettings": "beamzero.training.settings:RunSettings",
    "Scores": "beamzero.api.matches:Scores",
    "Search": "beamzero.search.protocol:Search",
    "Td": "beamzero.algorithms.td.settings:TdSettings",
    "TrainingRun": "beamzero.api.training:TrainingRun",
    "analyse": "beamzero.api.playing:analyse",
    "battle": "beamzero.api.matches:battle",
    "load": "beamzero.api.training:load",
    "make_game": "beamzero.games:make_game",
    "make_player": "beamzero.api.playing:make_player",
    "play": "beamzero.api.playing:play",
    "play_game": "beamzero.api.games:play_game",
    "rate": "beamzero.api.matches:rate",
    "read_games": "beamzero.api.games:read_games",
    "score": "beamzero.api.matches:score",
    "setting": "beamzero.training.settings:setting",
    "train": "beamzero.api.training:train",
}
"""Where each name is defined. It is imported when it is asked for, so that `import beamzero` does not wait for JAX."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'beamzero' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    found = globals()[name] = getattr(importlib.import_module(module), attribute)
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
