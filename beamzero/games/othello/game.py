"""Othello: enclose the other side's discs and they are yours; most discs win."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import grid
from beamzero.games.bits import EMPTY, Bits, bit, constant, only_if
from beamzero.games.game import Game, keep_if
from beamzero.games.hashing import hash_words
from beamzero.games.othello import features
from beamzero.games.places import Place
from beamzero.games.views import GridView

_SIDES = ("Black", "White")
_PASS = "pass"
_SQUARE = re.compile(r"[a-z]\d+", re.IGNORECASE)
_DIRECTIONS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1))
"""Steps to the eight neighbours: rows down, columns to the right."""

_MAX_MOVES = {4: 8, 6: 20, 8: 33}


class OthelloState(NamedTuple):
    # Bits are squares: 8 * row + column, row 1 and column a first, on boards smaller than 8 x 8 too.
    #       a  b  c  d  e  f  g  h
    #   1   0  1  2  3  4  5  6  7    low words: rows 1 to 4
    #   2   8  9 10 11 ...
    #   ...
    #   8  56 57 58 59 60 61 62 63    high words: rows 5 to 8
    own_lo: Array  # uint32 [] the discs of the side to move
    own_hi: Array  # uint32 []
    other_lo: Array  # uint32 [] the discs of the other side
    other_hi: Array  # uint32 []
    open_lo: Array  # uint32 [] the squares where the side to move may put a disc; none: it passes, or the game is over
    open_hi: Array  # uint32 []
    side: Array  # uint8 [] the side to move
    over: Array  # bool [] neither side can put a disc


@dataclasses.dataclass(frozen=True)
class Othello(Game):
    """Put a disc so that it encloses discs of the other side in straight lines; these change sides. More discs win.

    Actions are squares, a1, b1 and so on to the last row, and then the pass, which is legal only where no square is.
    Where neither side can put a disc, two passes would have to follow, and the game ends without them; a full board is
    one such case.
    """

    size: int = 8

    name: ClassVar[str] = "othello"

    def __post_init__(self) -> None:
        if self.size not in _MAX_MOVES:
            raise BadInput(f"othello: size is {self.size}, but must be one of {', '.join(map(str, _MAX_MOVES))}")

    @property
    def num_actions(self) -> int:
        return self.size**2 + 1

    @property
    def max_moves(self) -> int:
        """A proven bound, that of 8 x 8 by H. Takizawa: "The maximum number of legal moves of Othello in reachable
        positions is 33" (2023); those of smaller boards by the tests.
        """
        return _MAX_MOVES[self.size]

    @property
    def max_plies(self) -> int:
        """A bound: a disc for every square but the first four, and a pass before each but the first.

        No two passes come together, since the game ends before them.
        """
        return 2 * (self.size**2 - 4) - 1

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return (self.size, self.size, 4)

    @functools.cached_property
    def _squares(self) -> np.ndarray:
        """int32 [size * size]: the bit of each square, in the order of the actions."""
        return np.array([8 * row + column for row in range(self.size) for column in range(self.size)], np.int32)

    @functools.cached_property
    def _board(self) -> Bits:
        return constant(*self._squares.tolist())

    @functools.cached_property
    def _inner(self) -> Bits:
        """The columns without the first and the last, where a shift to the side would run on in another row."""
        return constant(*(int(square) for square in self._squares if 0 < square % 8 < self.size - 1))

    def init(self, key: Array) -> OthelloState:
        high = 9 * (self.size // 2)
        own, other = constant(high - 8, high - 1), constant(high - 9, high)
        return self._state(own, other, np.uint8(0))

    def _state(self, own: Bits, other: Bits, side: Any) -> OthelloState:
        """Make the state of a position, `side` to move."""
        open_ = self._open(own, other)
        over = ~open_.any() & ~self._open(other, own).any()
        return jax.tree.map(jnp.asarray, OthelloState(*own, *other, *open_, side, over))

    def _open(self, own: Bits, other: Bits) -> Bits:
        """Find the squares where a disc of `own` would enclose some of `other`."""
        ends = EMPTY
        for by, others in self._lines(other):
            ends |= self._run(own, others, by).shift(by)
        return (ends & self._board) - own - other

    def _flipped(self, disc: Bits, own: Bits, other: Bits) -> Bits:
        """Find the discs of `other` that `disc` and those of `own` enclose."""
        flipped = EMPTY
        for by, others in self._lines(other):
            run = self._run(disc, others, by)
            flipped |= only_if((run.shift(by) & own).any(), run)
        return flipped

    def _lines(self, discs: Bits) -> list[tuple[int, Bits]]:
        """List for each direction how far a step shifts bits, and the `discs` from which it stays on the board."""
        return [(8 * down + right, discs & self._inner if right else discs) for down, right in _DIRECTIONS]

    def _run(self, starts: Bits, discs: Bits, by: int) -> Bits:
        """Find the `discs` that stand in unbroken lines next to `starts`, in steps of `by`."""
        run = discs & starts.shift(by)
        for _ in range(self.size - 3):
            run |= discs & run.shift(by)
        return run

    def player(self, state: OthelloState) -> Array:
        return state.side.astype(jnp.int32)

    def legal(self, state: OthelloState) -> Array:
        open_ = _open_squares(state)
        return jnp.concatenate([open_.has(self._squares), ~open_.any()[None]])

    def moves(self, state: OthelloState) -> tuple[Array, Array]:
        open_ = _open_squares(state)
        number = open_.number()
        slots = np.arange(self.max_moves, dtype=np.int32)
        actions = jnp.where(slots < number, self._action(open_.nth(slots)), 0)
        passes = jnp.where(slots == 0, np.int32(self.size**2), np.int32(0))
        return jnp.where(number == 0, passes, actions), jnp.maximum(number, 1)

    def pick(self, state: OthelloState, draw: Array) -> Array:
        open_ = _open_squares(state)
        number = open_.number()
        rank = jnp.minimum((draw * number.astype(jnp.float32)).astype(jnp.int32), number - 1)
        return jnp.where(number == 0, np.int32(self.size**2), self._action(open_.nth(rank)))

    def _action(self, square: Array) -> Array:
        """Convert the bit of a square to its action."""
        return square - (8 - self.size) * (square >> 3)

    def _square(self, action: Array) -> Array:
        """Convert an action to the bit of its square."""
        return action + (8 - self.size) * (action // self.size)

    def step(self, state: OthelloState, action: Array) -> OthelloState:
        own, other = _discs(state)
        action = jnp.asarray(action, jnp.int32)
        square = self._square(action)
        disc = only_if(action < self.size**2, bit(square))
        flipped = self._flipped(disc, own, other)
        after = self._state(other - flipped, own | disc | flipped, state.side ^ np.uint8(1))
        return keep_if(state.over, state, after)

    def over(self, state: OthelloState) -> Array:
        return state.over

    def score(self, state: OthelloState) -> Array:
        own, other = _discs(state)
        lead = own.number() - other.number()
        return jnp.where(state.over, jnp.sign(jnp.where(state.side == 0, lead, -lead)), 0).astype(jnp.float32)

    def observe(self, state: OthelloState) -> Array:
        """Show a net [size, size, 4]: the mover's discs, the other's; where the mover may put one, where the other may.

        Row 1 first. Four planes are what the paper has, but it does not say which; moves are what good players count.
        """
        own, other = _discs(state)
        planes = (own, other, _open_squares(state), self._open(other, own))
        squares = self._squares.reshape(self.size, self.size)
        return jnp.stack([plane.has(squares) for plane in planes], axis=-1).astype(jnp.float32)

    def symmetries(self, observation: Array, values: Array) -> tuple[Array, Array]:
        board = values[:-1].reshape(self.size, self.size)
        turned = [(jnp.rot90(observation, k), jnp.rot90(board, k)) for k in range(4)]
        mirrored = [(o[:, ::-1], v[:, ::-1]) for o, v in turned]
        observations, boards = zip(*turned, *mirrored, strict=True)
        passes = jnp.broadcast_to(values[-1:], (8, 1))
        return jnp.stack(observations), jnp.concatenate([jnp.stack(boards).reshape(8, -1), passes], axis=1)

    # --- for searches ----------------------------------------------------------------------------------------------

    feature_names = tuple(features.OTHELLO_POINTS)
    search_lanes = 64
    point_weights = tuple(features.OTHELLO_POINTS.values())
    point = 0.325

    @functools.cached_property
    def _features(self) -> features.Squares:
        return features.Squares(self.size)

    def features(self, state: OthelloState) -> Array:
        """Count features, as `features.Squares.features` does; a point is a disc of a full board."""
        own, other = _discs(state)
        return self._features.features(own, other, _open_squares(state), self._open(other, own))

    def order(self, state: OthelloState, action: Array) -> Array:
        own, other = _discs(state)
        return self._features.order(self._board - own - other, self._square(jnp.asarray(action, jnp.int32)))

    def hash(self, state: OthelloState) -> Array:
        own, other = _discs(state)
        return hash_words(*own, *other, state.side.astype(jnp.uint32))

    # --- for other programs ----------------------------------------------------------------------------------------

    @property
    def speaks_nboard(self) -> bool:  # type: ignore[override]
        return self.size == 8

    def gtp_move(self, name: str) -> str:
        """Write a square as a vertex, in capitals."""
        return name if name == _PASS else name.upper()

    def lead(self, state: OthelloState) -> float:
        """Count by how many discs Black leads."""
        squares = self.write_position(state).split()[0]
        return float(squares.count("X") - squares.count("O"))

    # --- for people ------------------------------------------------------------------------------------------------

    def _cells(self, state: OthelloState) -> list[list[int]]:
        """List the squares, row 1 first: 0 for none, 1 for the first side's disc, 2 for the second's."""
        own, other = (np.asarray(discs.has(self._squares)).astype(int) for discs in _discs(state))
        first, second = (own, other) if int(state.side) == 0 else (other, own)
        return (first + 2 * second).reshape(self.size, self.size).tolist()

    def show(self, state: OthelloState, seat: int = 0) -> str:
        """Draw the board, row 1 on top as players of Othello count, and how many discs each side has."""
        cells = self._cells(state)
        rows = [f"{number}  {' '.join(grid.STONES[cell] for cell in row)}" for number, row in enumerate(cells, 1)]
        return "\n".join([f"   {' '.join(grid.LETTERS[: self.size])}", *rows, self._discs(cells)])

    def _discs(self, cells: list[list[int]]) -> str:
        numbers = [sum(row.count(stone) for row in cells) for stone in (1, 2)]
        return ", ".join(f"{name} ({grid.STONES[i + 1]}) {numbers[i]}" for i, name in enumerate(_SIDES))

    def view(self, state: OthelloState, seat: int = 0) -> GridView:
        cells = self._cells(state)
        return grid.view(cells, top_first=True, look="felt", sides=list(_SIDES), note=self._discs(cells))

    def action_name(self, state: OthelloState, action: int) -> str:
        if action == self.size**2:
            return _PASS
        return f"{grid.LETTERS[action % self.size]}{action // self.size + 1}"

    @staticmethod
    def write_moves(moves: Sequence[str]) -> str:
        """Write the squares side by side, without passes, since those are never a choice."""
        return "".join(move for move in moves if move != _PASS)

    @staticmethod
    def read_moves(line: str) -> list[str]:
        """Read squares, side by side or with spaces between."""
        squares = _SQUARE.findall(line)
        return squares if "".join(squares) == line else line.split()

    def places(self, state: OthelloState, action: int) -> list[Place]:
        return [] if action == self.size**2 else [list(divmod(action, self.size))]

    def write_position(self, state: OthelloState) -> str:
        """Write every square from a1 on, X for Black, O for White, - for none; then, after a space, who is to move."""
        squares = "".join("-XO"[cell] for row in self._cells(state) for cell in row)
        return f"{squares} {'XO'[int(state.side)]}"

    def read_position(self, text: str) -> OthelloState:
        squares, _, side = text.strip().upper().partition(" ")
        if len(squares) != self.size**2 or set(squares) - set("-XO") or side not in ("X", "O"):
            raise BadInput(
                f"{text!r} is no position: write {self.size**2} squares from a1 on, each X, O or -, a space, and X or O"
            )
        middle = (self.size + 1) * (self.size // 2)
        if any(squares[middle - back] == "-" for back in (0, 1, self.size, self.size + 1)):
            raise BadInput(f"{text!r} cannot be: the four squares in the middle are never empty")
        first, second = (constant(*self._squares[[s == disc for s in squares]].tolist()) for disc in "XO")
        states = self._state(first, second, np.uint8(0)), self._state(second, first, np.uint8(1))
        if any(int(_open_squares(state).number()) > self.max_moves for state in states):
            raise BadInput(f"{text!r} cannot be reached: no position of a game has more than {self.max_moves} moves")
        return states["XO".index(side)]

    def outcome_reason(self, state: OthelloState) -> str:
        own, other = (int(discs.number()) for discs in _discs(state))
        if own == other:
            return f"draw: {own} discs each"
        winner = int(state.side) if own > other else 1 - int(state.side)
        return f"{_SIDES[winner]} has {max(own, other)} discs to {min(own, other)}"


def _discs(state: OthelloState) -> tuple[Bits, Bits]:
    """Return the mover's discs, and the other side's."""
    return Bits(state.own_lo, state.own_hi), Bits(state.other_lo, state.other_hi)


def _open_squares(state: OthelloState) -> Bits:
    return Bits(state.open_lo, state.open_hi)
