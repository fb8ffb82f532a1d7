"""The protocol of searches: ways to think about positions that can be stopped at any time.

A search is cut into units of work: an expansion of a beam search or of alpha-beta, a simulation of Monte Carlo. `start`
makes a carry, a pytree that holds all that is known; `advance` does some units; `result` says what the carry knows. In
one program they are called one after the other (`Search.__call__`); the driver in drive.py calls them slice by slice,
for clocks, limits and whoever says stop.
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
"""Units of work, or positions, that no search reaches."""

Carry = Any
"""A pytree of arrays: a search under way."""


class Spent(NamedTuple):
    """The work that a search has done so far."""

    units: Array  # int32 [] units of work, of all positions together
    nodes: Array  # int32 [B] positions made, or looked at
    evaluations: Array  # int32 [B] positions put to the evaluator
    depth: Array  # int32 [B] plies or turns of the deepest search that came to its end; 0 of a search without depths


class Outlook(NamedTuple):
    """The line and the value that a search expects of one position, on the host."""

    line: list[int]
    """The best line, as actions; one at least."""
    value: float
    """For the side to move, in [-1, 1]."""
    proven: bool = False
    """Whether the rules alone decide the value."""
    plies: int | None = None
    """After how many plies the game is won or lost, where that is seen."""
    plies_of_moves: Sequence[int | None] = ()
    """Plies to the end after each move, by the slots of `Game.moves`, of a search that knows them."""


class Option(NamedTuple):
    """A whole number that may be changed while an agent plays, such as the size of a table."""

    default: int
    low: int
    high: int


class Search(abc.ABC):
    """A way to think about B positions. Subclasses are frozen dataclasses: equal settings compile once.

    The same key is given to `start` and to `result`.
    """

    keeps_line: ClassVar[bool] = False
    """True if `outlook` gives a line of several moves."""

    by_chance: ClassVar[bool] = False
    """True if what it finds of a position depends on the key, and not only its choice between equal moves."""

    plays_policy: ClassVar[bool] = False
    """True if it plays each move with just the probability that its result gives to it."""

    knows_chance: ClassVar[bool] = False
    """True if it can search where chance decides between the moves."""

    one_by_one: ClassVar[bool] = False
    """True if it searches the positions of a batch one after the other."""

    @abc.abstractmethod
    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> Carry:
        """Begin to think about `states` [B]. Where one is over, anything may be found of it."""

    @abc.abstractmethod
    def advance(self, game: Game, evaluator: Evaluator, carry: Carry, budget: Array | int) -> Carry:
        """Do `budget` units of work more; fewer where nothing is left to do, or where a depth came to its end.

        The first unit may be as much work as it takes to have an answer; with a budget of 0 nothing is found.
        """

    @abc.abstractmethod
    def done(self, game: Game, carry: Carry) -> Array:
        """Tell, bool [B], where nothing is left to do."""

    @abc.abstractmethod
    def result(self, game: Game, carry: Carry, key: Array) -> SearchResult:
        """Say what is known; an answer at any moment after the first unit."""

    @abc.abstractmethod
    def spent(self, game: Game, carry: Carry) -> Spent:
        """Count the work done so far."""

    def finish(self, game: Game, evaluator: Evaluator, carry: Carry) -> Carry:
        """Do all that is left to do."""
        return self.advance(game, evaluator, carry, UNLIMITED)

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        """Search to the end, in one program."""
        carry = self.finish(game, evaluator, self.start(game, evaluator, states, key))
        return self.result(game, carry, key)

    # --- on the host -----------------------------------------------------------------------------------------------

    def outlook(self, game: Game, carry: Carry, result: SearchResult, row: int = 0) -> Outlook:
        """Read what is expected of the position in `row`; `result` is that of the carry, on the host."""
        return outlook_of([int(result.action[row])], result, row)

    def line(self, game: Game, carry: Carry, result: SearchResult, row: int = 0) -> list[int]:
        """List the moves that are expected from the position in `row`."""
        return self.outlook(game, carry, result, row).line

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes that a search of so many positions at once takes, about, beyond a few."""
        return 0

    def anytime(self) -> Search:
        """Make the same search such that it has an early answer, if it would work long for its first one."""
        return self

    def with_every_move(self) -> Search:
        """Make the same search such that it finds out exactly what each move is worth, not only the best one."""
        return self

    @property
    def units(self) -> int:
        """The units of work that it does at most."""
        return UNLIMITED

    def nodes_of_unit(self, game: Game) -> int:
        """Count the positions that one unit makes at most, and puts to the evaluator but for one more."""
        return slots_of(game)

    def at_a_glance(self, plies: int) -> Search | None:
        """Make the same search no deeper than `plies`, which knows each move exactly; None where it has no depth."""
        return None

    @property
    def bounds(self) -> Limit:
        """How far the search goes at most, where `anytime` gives one that goes further."""
        return Limit()

    @property
    def options(self) -> Mapping[str, Option]:
        """The numbers that may be changed, by name."""
        return {}

    def with_option(self, name: str, value: int) -> Search:
        """Make the same search with another value, inside its bounds, of one of the `options`."""
        raise KeyError(name)


class OneStep(Search):
    """A search that is done as soon as it is begun, in one unit that cannot be cut."""

    @property
    def units(self) -> int:
        return 1

    def advance(self, game: Game, evaluator: Evaluator, carry: Carry, budget: Array | int) -> Carry:
        return carry


def outlook_of(line: list[int], result: SearchResult, row: int = 0) -> Outlook:
    """Read what a result says of the position in `row`, where `line` is expected."""
    proven, values = result.proven[row], result.values[row]
    wins = bool(proven[line[0]] and values[line[0]] >= 1)
    certain = wins or bool(proven[values > -np.inf].all())
    return Outlook(line, float(result.value[row]), certain, plies=1 if wins and len(line) == 1 else None)
