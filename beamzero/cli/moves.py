"""Moves that a command is given as text."""

from __future__ import annotations

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.records.record import Followed, GameRecord, first_state


def split_moves(text: str) -> list[str]:
    """Split a text such as ``d,d,c`` or ``d d c`` into moves."""
    return text.replace(",", " ").split()


def play_moves(game: Game, moves: str, position: str | None = None) -> State:
    """Return the state after `moves`, which are written as in records, from `position` or from the game's first state.

    BadInput names the number of a move that cannot be played.
    """
    return follow_moves(game, moves, position).states[-1]


def follow_moves(game: Game, moves: str, position: str | None = None) -> Followed:
    """Play `moves` as `play_moves` does. Returns every position on the way."""
    followed = Followed(GameRecord(game.spec, ()), game, [first_state(game, position)], [])
    for number, move in enumerate(split_moves(moves), 1):
        try:
            followed.play_named(move)
        except BadInput as error:
            raise BadInput(f"move {number}: {error}") from None
    return followed
