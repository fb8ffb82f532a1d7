"""An agent as an engine for other programs."""

from __future__ import annotations

import io
import os
import secrets
import sys
from typing import Annotated

import typer

from beamzero.cli.common import AgentName, GameName
from beamzero.engines import PROTOCOLS, make_engine, serve
from beamzero.games import make_game

SEED_HELP = "The same seed gives the same answers to the same moves; by default they differ each time."


def register(app: typer.Typer) -> None:
    app.command("engine")(engine_command)


def engine_command(
    protocol: Annotated[str, typer.Argument(metavar="PROTOCOL", help=f"One of {', '.join(PROTOCOLS)}.")],
    game: GameName,
    agent: AgentName,
    seed: Annotated[int | None, typer.Option(min=0, max=2**31 - 1, help=SEED_HELP)] = None,
) -> None:
    """Serve an agent to another program over stdin and stdout: uci for chess, nboard for Othello, gtp for the rest."""
    engine = make_engine(protocol, make_game(game), agent, secrets.randbelow(2**31) if seed is None else seed)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if not serve(engine, sys.stdin, sys.stdout):
        os._exit(0)  # the compiler cannot be stopped, and nobody wants to wait for it
