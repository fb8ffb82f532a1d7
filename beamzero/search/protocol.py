"""The protocol of searches, which can be stopped at any time.

A search is cut into units of work: an expansion of a beam search or of alpha-beta, a simulation of Monte Carlo. `start`
makes a carry, a pytree that holds all that is known; `advance` does some units; `result` reads the carry. In one
program they are called one after the other (`Search.__call__`); the driver in drive.py calls them slice by slice, so
that clocks, limits and callers can stop a search.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jax import Array

from beamzero.games import Game, State
from beamzero.search.children import slots_of
from beamzero.search.evaluator import Evaluator, SearchResult
from beamzero.search.limit import Limit

UNLIMITED = 2**31 - 2**20
"""A number of units of work, or of positions, that no search reaches."""

Carry = Any
"""A pytree of arrays: a search under way."""


class Spent(NamedTuple):
    """The work that a search has done so far."""

    units: Array  # int32 [] units of work, of all positions together
    nodes: Array  # int32 [B] positions made, or looked at
    evaluations: Array  # int32 [B] positions put to the evaluator
    depth: Array  # int32 [B] plies or turns of the deepest search that came to its end; 0 for a search without depths


class Outlook(NamedTuple):
    """The line and the value that a search expects of one position, on the host."""

    line: list[int]
    """The best line, as actions; one at least."""
    value: float
    """The value for the side to move, in [-1, 1]."""
    proven: bool = False
    """True if the rules alone decide the value."""
    plies: int | None = None
    """Plies until the game is won or lost; None where the search does not know."""
    plies_of_moves: Sequence[int | None] = ()
    """Plies to the end after each move, by the slots of `Game.moves`; empty for a search that does not know them."""


class Option(NamedTuple):
    """A whole number that may be changed while an agent plays, such as the size of a table."""

    default: int
    low: int
    high: int


class Search(abc.ABC):
    """A search of B positions. Subclasses are frozen dataclasses: equal settings compile once.

    `start` and `result` get equal keys.

    >>> import beamzero as bz
    >>> from beamzero.search.simple import BestChild
    >>> class Greedy(BestChild):
    ...     pass
    >>> bz.battle(Greedy, "random", game="connect_four", games=20, progress=False).score > 0.6
    True
    """

    keeps_line: ClassVar[bool] = False
    """True if `outlook` gives a line of several moves."""

    by_chance: ClassVar[bool] = False
    """True if its values depend on the key, and not only its choice between equal moves."""

    plays_policy: ClassVar[bool] = False
    """True if it plays each move with the probability in its result."""

    knows_chance: ClassVar[bool] = False
    """True if it can search where chance decides between the moves."""

    tries_all: ClassVar[bool] = True
    """False if a move to which its policy gives nothing may never have been tried, so that it has no value."""

    one_by_one: ClassVar[bool] = False
    """True if it searches the positions of a batch one after the other."""

    @abc.abstractmethod
    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> Carry:
        """Begin to search `states` [B]. Where one is over, its result may be anything."""

    @abc.abstractmethod
    def advance(self, game: Game, evaluator: Evaluator, carry: Carry, budget: Array | int) -> Carry:
        """Do `budget` more units of work; fewer where nothing is left to do, or where a depth came to its end.

        The first unit may be as much work as it takes to have an answer; with a budget of 0 there may be none.
        """

    @abc.abstractmethod
    def done(self, game: Game, carry: Carry) -> Array:
        """Tell which positions are searched to the end, bool [B]."""

    @abc.abstractmethod
    def result(self, game: Game, carry: Carry, key: Array) -> SearchResult:
        """Read the result so far; there is one at any moment after the first unit."""

    @abc.abstractmethod
    def spent(self, game: Game, carry: Carry) -> Spent:
        """Count the work that is done so far."""

    def finish(self, game: Game, evaluator: Evaluator, carry: Carry) -> Carry:
        """Do all that is left to do."""
        return self.advance(game, evaluator, carry, UNLIMITED)

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        """Search B states to the end, in one program."""
        carry = self.finish(game, evaluator, self.start(game, evaluator, states, key))
        return self.result(game, carry, key)

    # --- on the host -----------------------------------------------------------------------------------------------

    def outlook(self, game: Game, carry: Carry, result: SearchResult, row: int = 0) -> Outlook:
        """Read the expected line and value of the position in `row`; `result` is that of the carry, on the host."""
        return outlook_of([int(result.action[row])], result, row)

    def line(self, game: Game, carry: Carry, result: SearchResult, row: int = 0) -> list[int]:
        """List the moves that are expected from the position in `row`."""
        return self.outlook(game, carry, result, row).line

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes that a search of `roots` positions at once takes, about; 0 for very few."""
        return 0

    def anytime(self) -> Search:
        """Make a search like this one that has an early answer."""
        return self

    def with_every_move(self) -> Search:
        """Make a search like this one that finds the exact value of each move, not only of the best one."""
        return self

    @property
    def units(self) -> int:
        """Give the most units of work that the search does."""
        return UNLIMITED

    def nodes_of_unit(self, game: Game) -> int:
        """Count the positions that one unit makes at most; it puts at most one more to the evaluator."""
        return slots_of(game)

    def at_a_glance(self, plies: int) -> Search | None:
        """Make a search like this one, at most `plies` deep, with exact values of moves; None where it has no depth."""
        return None

    @property
    def bounds(self) -> Limit:
        """Give the limit of the search, which a deeper search made by `anytime` has to keep."""
        return Limit()

    @property
    def options(self) -> Mapping[str, Option]:
        """Give the numbers that may be changed, by name."""
        return {}

    def with_option(self, name: str, value: int) -> Search:
        """Make a search like this one with another value, inside its bounds, of one of the `options`."""
        raise KeyError(name)


class OneStep(Search):
    """A search that is done as soon as it is begun, in one unit that cannot be cut."""

    @property
    def units(self) -> int:
        return 1

    def advance(self, game: Game, evaluator: Evaluator, carry: Carry, budget: Array | int) -> Carry:
        return carry


def outlook_of(line: list[int], result: SearchResult, row: int = 0) -> Outlook:
    """Make the outlook of the position in `row` from a result on the host and its expected `line`."""
    proven, values = result.proven[row], result.values[row]
    wins = bool(proven[line[0]] and values[line[0]] >= 1)
    certain = wins or bool(proven[values > -np.inf].all())
    return Outlook(line, float(result.value[row]), certain, plies=1 if wins and len(line) == 1 else None)
