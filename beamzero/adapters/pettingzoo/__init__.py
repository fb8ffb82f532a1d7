"""Games as environments of PettingZoo: ``beamzero.adapters.pettingzoo.env("connect_four")``."""

from beamzero.adapters.pettingzoo.environment import AecGame
from beamzero.adapters.pettingzoo.environment import aec_env as env

__all__ = ["AecGame", "env"]
