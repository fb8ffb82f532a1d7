"""Positions as text on the command line: where a game begins, and the moves that are played from there."""

from __future__ import annotations

from typing import Annotated

import typer

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.records.record import Followed, GameRecord, first_state

Position = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Begin from this position, in the notation of the game: a FEN in chess."),
]


def split_moves(text: str) -> list[str]:
    """The moves of a text such as ``d,d,c``."""
    return [part.strip() for part in text.split(",") if part.strip()]


def play_moves(game: Game, moves: str, position: str | None = None) -> State:
    """The state after `moves`, written as records do, from the first one of the game or from `position`."""
    followed = Followed(GameRecord(game.spec, ()), game, [first_state(game, position)], [])
    for number, move in enumerate(split_moves(moves), 1):
        try:
            followed.play_named(move)
        except BadInput as error:
            raise BadInput(f"move {number}: {error}") from None
    return followed.states[-1]
