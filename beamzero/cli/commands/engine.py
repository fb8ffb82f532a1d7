"""`beamzero engine`: an agent as an engine for other programs."""

from __future__ import annotations

import io
import os
import secrets
import sys
from typing import Annotated

import typer

from beamzero.cli.common import AgentName, AnySeed, GameName
from beamzero.engines import PROTOCOLS, make_engine, serve
from beamzero.games import make_game


def engine_command(
    protocol: Annotated[str, typer.Argument(metavar="PROTOCOL", help=f"One of {', '.join(PROTOCOLS)}.")],
    game: GameName,
    agent: AgentName,
    seed: AnySeed = None,
) -> None:
    """Serve an agent to another program over stdin and stdout: uci for chess, nboard for Othello, gtp for the rest."""
    engine = make_engine(protocol, make_game(game), agent, secrets.randbelow(2**31) if seed is None else seed)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if not serve(engine, sys.stdin, sys.stdout):
        os._exit(0)  # the compiler cannot be stopped, and to wait for it takes long
