"""Games as environments of pgx: ``beamzero.adapters.pgx.env("connect_four")``."""

from beamzero.adapters.pgx.environment import GameEnv
from beamzero.adapters.pgx.environment import pgx_env as env

__all__ = ["GameEnv", "env"]
