"""The time to spend on one move, of a clock."""

from __future__ import annotations

_MOVES_TO_GO = 30
"""The number of moves that the time must last for, where it is not given."""

_LARGEST_SHARE = 0.4
_LARGEST_LAST_SHARE = 0.9
"""Largest shares of the time left for one move, and for the last one before more time is added."""

_LEAST_SECONDS = 0.001


def seconds_for_move(remaining: float, increment: float, moves_to_go: int | None, overhead: float) -> float:
    """Return the seconds to search, of `remaining` ones on the clock, so that the flag never falls.

    `overhead` is what each move costs beside the search. ``0 < result <= max(0.001, remaining - overhead)``.
    """
    usable = remaining - overhead
    moves = max(1, min(moves_to_go or _MOVES_TO_GO, 2 * _MOVES_TO_GO))
    # The overhead of the moves to come cannot be spent on searches.
    share = (usable - (moves - 1) * overhead) / moves + 0.75 * increment
    # A clock that has nearly run out still gives each move its share.
    share = max(share, 0.25 * usable / moves)
    return max(_LEAST_SECONDS, min(share, (_LARGEST_LAST_SHARE if moves == 1 else _LARGEST_SHARE) * usable))


def seconds_of_movetime(movetime: float, overhead: float) -> float:
    """Return the seconds to search where the whole move may take `movetime`."""
    return max(_LEAST_SECONDS, movetime - overhead, 0.2 * movetime)


class PeriodClock:
    """The clock of one side: a main time, then periods in each of which a number of moves must be made.

    `spend` takes time off, and the referee may correct `remaining` and `moves` at any time.
    """

    def __init__(self, main: float, period: float, moves: int) -> None:
        self._period, self._period_moves = period, moves
        self.remaining, self.moves = main, 0
        if main <= 0:
            self._next_period()

    def _next_period(self) -> None:
        self.remaining, self.moves = self._period, self._period_moves

    def seconds(self, overhead: float) -> float:
        """Return the seconds to search for the next move."""
        return seconds_for_move(self.remaining, 0.0, self.moves or None, overhead)

    def spend(self, seconds: float) -> None:
        """Take off the seconds of a move that was made."""
        self.remaining -= seconds
        if self.moves:
            self.moves -= 1
            if self.moves == 0:
                self._next_period()
        elif self.remaining <= 0:
            self._next_period()
