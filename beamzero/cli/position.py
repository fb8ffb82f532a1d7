"""Positions as text on the command line: where a game begins, and the moves that are played from there."""

from __future__ import annotations

from typing import Annotated

import jax
import typer

from beamzero.errors import BadInput
from beamzero.games import Game, State
from beamzero.players.analysis import step

Position = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Begin from this position, in the notation of the game: a FEN in chess."),
]


def split_moves(text: str) -> list[str]:
    """The moves of a text such as ``d,d,c``."""
    return [part.strip() for part in text.split(",") if part.strip()]


def play_moves(game: Game, moves: str, position: str | None = None) -> State:
    """The state after `moves`, from the first one of the game or from `position`."""
    state = game.init(jax.random.key(0)) if position is None else game.read_position(position)
    for number, name in enumerate(split_moves(moves), 1):
        try:
            state = step(game, state, game.parse_action(state, name))
        except BadInput as error:
            raise BadInput(f"move {number}: {error}") from None
    return state
