"""Connect Four: drop stones into columns, four in a row wins."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import grid
from beamzero.games.connect_four.open_lines import OpenLines, Words
from beamzero.games.game import Game, keep_if
from beamzero.games.hashing import hash_words
from beamzero.games.places import Place
from beamzero.games.views import GridView


class ConnectFourState(NamedTuple):
    stones: Array  # uint [2, columns] each side's stones; bit r of a column is its row r, counted from the bottom
    ply: Array  # int32 [] stones dropped so far; even: side 0 to move
    winner: Array  # int8 [] +1 when side 0 has a line, -1 when side 1 has, else 0


@dataclasses.dataclass(frozen=True)
class ConnectFour(Game):
    """A line of `length` stones wins; a full board is a draw. Actions are columns, from the left."""

    rows: int = 6
    columns: int = 7
    length: int = 4

    name: ClassVar[str] = "connect_four"

    def __post_init__(self) -> None:
        for field, high in (("rows", 16), ("columns", 16), ("length", 16)):
            if not 2 <= getattr(self, field) <= high:
                raise BadInput(f"connect_four: {field} is {getattr(self, field)}, but must be 2 to {high}")
        if self.length > max(self.rows, self.columns):
            raise BadInput(
                f"connect_four: a line of {self.length} does not fit on {self.rows} rows and {self.columns} columns"
            )

    @property
    def num_actions(self) -> int:
        return self.columns

    @property
    def max_moves(self) -> int:
        return self.columns

    @property
    def max_plies(self) -> int:
        return self.rows * self.columns

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return (self.rows, self.columns, 2)

    @property
    def _dtype(self) -> Any:
        # One spare bit, so that a full column plus one does not wrap around.
        return jnp.uint8 if self.rows < 8 else jnp.uint16 if self.rows < 16 else jnp.uint32

    def init(self, key: Array) -> ConnectFourState:
        return ConnectFourState(stones=jnp.zeros((2, self.columns), self._dtype), ply=jnp.int32(0), winner=jnp.int8(0))

    def player(self, state: ConnectFourState) -> Array:
        return state.ply & 1

    def legal(self, state: ConnectFourState) -> Array:
        full = np.array(2**self.rows - 1, self._dtype)
        return (state.stones[0] | state.stones[1]) != full

    def step(self, state: ConnectFourState, action: Array) -> ConnectFourState:
        side = self.player(state)
        filled = state.stones[0] | state.stones[1]
        # A column holds 2**height - 1, so one more than that is its lowest free square.
        landing = jnp.where(
            jnp.arange(self.columns) == action, filled + np.array(1, self._dtype), np.array(0, self._dtype)
        )
        mine = jnp.arange(2)[:, None] == side
        stones = state.stones | jnp.where(mine, landing[None], np.array(0, self._dtype))
        own = jnp.where(side == 0, stones[0], stones[1])
        won = self._has_line(own)
        winner = jnp.where(won, (1 - 2 * side).astype(jnp.int8), jnp.int8(0))
        return keep_if(self.over(state), state, ConnectFourState(stones, state.ply + 1, winner))

    def _has_line(self, own: Array) -> Array:
        """Tell, bool [], whether the columns `own` hold `length` stones in a row, in any of the four directions."""
        found = jnp.bool_(False)
        for columns_on, rows_up in ((0, 1), (1, 0), (1, 1), (1, -1)):
            starts = self.columns - columns_on * (self.length - 1)
            if starts <= 0:
                continue
            line = own[:starts]
            for i in range(1, self.length):
                column = own[i * columns_on : i * columns_on + starts]
                shift = np.array(i, own.dtype)
                line &= column >> shift if rows_up > 0 else column << shift if rows_up < 0 else column
            found |= jnp.any(line != 0)
        return found

    def over(self, state: ConnectFourState) -> Array:
        return (state.winner != 0) | (state.ply == self.max_plies)

    def score(self, state: ConnectFourState) -> Array:
        return state.winner.astype(jnp.float32)

    def observe(self, state: ConnectFourState) -> Array:
        """Show a net [rows, columns, 2]: the mover's stones, the other side's; the bottom row first."""
        mover_first = jnp.where(self.player(state) == 0, state.stones, state.stones[::-1])
        rows = np.arange(self.rows, dtype=mover_first.dtype)[:, None, None]
        return (mover_first.T[None] >> rows & np.array(1, mover_first.dtype)).astype(jnp.float32)

    def symmetries(self, observation: Array, values: Array) -> tuple[Array, Array]:
        return jnp.stack([observation, observation[:, ::-1]]), jnp.stack([values, values[::-1]])

    # --- for searches ----------------------------------------------------------------------------------------------

    feature_names = ("win at hand", "threats", "threats in time", "lines that lack two", "middle columns")
    point_weights = (15.0, 1.0, 1.0, 0.45, 0.2)
    point = 0.4

    @functools.cached_property
    def _lines(self) -> OpenLines:
        return OpenLines(self.rows, self.columns, self.length)

    @functools.cached_property
    def _board(self) -> Words:
        return self._lines.squares(lambda row, column: True)

    @functools.cached_property
    def _middle(self) -> Words:
        """The column in the middle, or both."""
        return self._lines.squares(lambda row, column: abs(2 * column - self.columns + 1) <= 1)

    @functools.cached_property
    def _first_rows(self) -> Words:
        """The rows where the first side puts its stone if all other columns are full: every other one."""
        first = self.rows * (self.columns - 1) % 2
        return self._lines.squares(lambda row, column: row % 2 == first)

    def features(self, state: ConnectFourState) -> Array:
        """Count features; a point is a threat: an empty square that completes a line. One is in time if it falls to
        its owner in the end, when there is no other column left to play.

        A win is at hand, 1, if the side to move can complete a line now; -1 if it cannot, and the other side could in
        two columns.
        """
        lines, (first, second) = self._lines, map(self._lines.pack, state.stones)
        empty = self._board - first - second
        first_threats, first_pairs = lines.count(first, empty)
        second_threats, second_pairs = lines.count(second, empty)
        leads = [
            first_threats.number() - second_threats.number(),
            (first_threats & self._first_rows).number() - (second_threats - self._first_rows).number(),
            first_pairs - second_pairs,
            (first & self._middle).number() - (second & self._middle).number(),
        ]
        is_first = self.player(state) == 0
        now = empty - empty.shift(1)  # the lowest empty square of each column
        wins = (first_threats & now).number(), (second_threats & now).number()
        mine, theirs = jnp.where(is_first, *wins), jnp.where(is_first, *wins[::-1])
        at_hand = jnp.where(mine > 0, 1, jnp.where(theirs > 1, -1, 0))
        # Converted one by one: the compiler then need not put them together in order to add them up.
        found = [at_hand, *(jnp.where(is_first, lead, -lead) for lead in leads)]
        return jnp.stack([number.astype(jnp.float32) for number in found])

    def order(self, state: ConnectFourState, action: Array) -> Array:
        """Put columns first that are near the middle."""
        return 255 - 16 * jnp.abs(2 * jnp.asarray(action, jnp.int32) - (self.columns - 1))

    def hash(self, state: ConnectFourState) -> Array:
        """Mix the columns into a key, each as the first side's stones and a bit on top of all its stones."""
        filled = state.stones[0] | state.stones[1]
        return hash_words(*self._lines.pack(state.stones[0] | filled + np.array(1, self._dtype)))

    # --- for people ------------------------------------------------------------------------------------------------

    def _cells(self, state: ConnectFourState) -> list[list[int]]:
        first, second = (np.asarray(side).tolist() for side in state.stones)
        return [[(f >> row & 1) + 2 * (s >> row & 1) for f, s in zip(first, second)] for row in range(self.rows)]

    def show(self, state: ConnectFourState, seat: int = 0) -> str:
        return grid.draw(self._cells(state))

    def view(self, state: ConnectFourState, seat: int = 0) -> GridView:
        return grid.view(self._cells(state), gravity=True)

    def action_name(self, state: ConnectFourState, action: int) -> str:
        return grid.LETTERS[action]

    @staticmethod
    def write_moves(moves: Sequence[str]) -> str:
        """Write the columns side by side."""
        return "".join(moves)

    @staticmethod
    def read_moves(line: str) -> list[str]:
        """Read columns that stand side by side, as letters or as numbers from 1 on."""
        marks = "".join(line.split())
        return [grid.LETTERS[int(mark) - 1] if mark in "123456789" else mark for mark in marks]

    def places(self, state: ConnectFourState, action: int) -> list[Place]:
        return [[sum(int(side[action]).bit_count() for side in np.asarray(state.stones)), action]]

    def outcome_reason(self, state: ConnectFourState) -> str:
        if int(state.winner) == 0:
            return "draw: the board is full"
        return f"{'X' if int(state.winner) > 0 else 'O'} has {self.length} in a row"
