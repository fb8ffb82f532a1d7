"""Entries of an opening book, the book of them, and the time that there is to make it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from beamzero.core.errors import BadInput
from beamzero.games import Game
from beamzero.players.book import key_check
from beamzero.storage.bookfile import MAX_ACTIONS, Book


class BookEntry(NamedTuple):
    """The entry of a position: a move, and its value."""

    move: int
    """The action of the image that stands for all, as `fold_action` gives it."""
    value: float
    """The value for the side to move."""


def make_book(game: Game, entries: Mapping[int, BookEntry], about: Mapping[str, Any]) -> Book:
    """Make the book that holds `entries`, by the keys of positions."""
    keys = sorted(entries)
    return Book(
        game=game.identity,
        key_check=key_check(game),
        about=about,
        keys=np.array(keys, np.uint64),
        moves=np.array([entries[key].move for key in keys], np.uint16),
        values=np.array([entries[key].value + 0.0 for key in keys], np.float16),  # which makes 0 of -0
    )


def check_plies(game: Game, plies: int) -> None:
    """Raise BadInput where there can be no book of so many plies."""
    if not 1 <= plies <= game.max_plies:
        raise BadInput(f"plies is {plies}, but must be 1 to {game.max_plies}")
    if game.num_actions > MAX_ACTIONS:
        raise BadInput(f"{game.name} has {game.num_actions} actions, but a book can hold {MAX_ACTIONS} at most")


class Clock:
    """A time limit in minutes that runs from when it is made; None for no limit."""

    def __init__(self, minutes: float | None) -> None:
        if minutes is not None and not 0 < minutes <= 1_000_000:
            raise BadInput(f"minutes is {minutes:g}, but must be more than 0 and at most a million")
        self._end = None if minutes is None else time.monotonic() + 60 * minutes

    @property
    def is_over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end
