"""Checkers, or English draughts: jump over the other side's pieces until it cannot move."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import bits, grid
from beamzero.games.bits import union
from beamzero.games.checkers import board, features
from beamzero.games.checkers.board import LAST_ROWS, NO_SQUARES, SQUARE_NUMBERS, able, jumps, neighbours
from beamzero.games.game import Game, keep_if
from beamzero.games.hashing import hash_words
from beamzero.games.places import Place
from beamzero.games.views import GridView

_SIDES = ("Black", "White")
_PIECES = {"b": ("⛂", 0), "B": ("⛃", 0), "w": ("⛀", 1), "W": ("⛁", 1)}


class CheckersState(NamedTuple):
    black: Array  # uint32 [] the pieces of side 0
    white: Array  # uint32 [] the pieces of side 1
    kings: Array  # uint32 [] those of them that are kings
    jumper: Array  # uint32 [] the piece that has jumped and must jump on; usually none
    side: Array  # uint8 [] the side to move
    quiet: Array  # int16 [] plies since the last capture
    winner: Array  # int8 [] +1 when side 0 has won, -1 when side 1 has, else 0


@dataclasses.dataclass(frozen=True)
class Checkers(Game):
    """Men step and jump forward on the diagonals, kings backward too; a jump takes the piece that it passes over.

    - Who can jump must, with whichever piece and in whichever direction.
    - The piece goes on jumping as long as it can. Every jump is a ply of its own, and the same side moves again.
    - A man that reaches the last row becomes a king, and its move ends there.
    - A side that cannot move loses.
    - After `draw_plies` plies without a capture the game is a draw, even if the side to move is stuck by then. (People
      usually allow 40 moves of each side, and let a man's step count as progress; OpenSpiel does as here.)

    Actions are 32 * direction + square. Squares count from 0 at the right of the mover's home row to 31; directions are
    forward right, forward left, backward right, backward left.
    """

    draw_plies: int = 40

    name: ClassVar[str] = "checkers"
    num_actions = 128
    observation_shape = (8, 8, 6)

    def __post_init__(self) -> None:
        if not 1 <= self.draw_plies <= 1000:
            raise BadInput(f"checkers: draw_plies is {self.draw_plies}, but must be 1 to 1000")

    @property
    def max_moves(self) -> int:
        """A bound: every action leads from a piece of the mover to a neighbouring square where it has none: steps end
        there, and jumps pass over it. No 12 pieces have more than 42 such neighbours, as the tests find by trying all
        rows.
        """
        return 42

    @property
    def max_plies(self) -> int:
        """The most that the rules allow: fewer than `draw_plies` plies before each of 23 captures, or a draw for the
        last of them; the 23rd leaves one side without a piece.
        """
        return 23 * self.draw_plies

    def init(self, key: Array) -> CheckersState:
        return _from_fen(board.CheckersFen(black=0x00000FFF, white=0xFFF00000, kings=0, jumper=0, side=0, quiet=0))

    def _judged(self, state: CheckersState) -> CheckersState:
        """Return the state, won by the other side if the one to move is stuck."""
        stuck = union(_movable(state)) == 0
        loss = jnp.where(state.side == 0, jnp.int8(-1), jnp.int8(1))
        return state._replace(winner=jnp.where(stuck & (state.quiet < self.draw_plies), loss, jnp.int8(0)))

    def player(self, state: CheckersState) -> Array:
        return state.side.astype(jnp.int32)

    def legal(self, state: CheckersState) -> Array:
        is_first = state.side == 0
        words = _movable(state)
        squares = np.arange(32, dtype=np.int32)
        turned = jnp.where(is_first, squares, squares[::-1])
        return jnp.concatenate([bits.has(jnp.where(is_first, words[d], words[3 - d]), turned) for d in range(4)])

    def moves(self, state: CheckersState) -> tuple[Array, Array]:
        words = _movable(state)
        number = board.count_all_bits(words)
        slots = np.arange(self.max_moves, dtype=np.int32)
        is_first = state.side == 0
        place = board.nth_place(words, jnp.where(is_first, slots, number - 1 - slots))
        return jnp.where(slots < number, jnp.where(is_first, place, 127 - place), 0), number

    def pick(self, state: CheckersState, draw: Array) -> Array:
        words = _movable(state)
        number = board.count_all_bits(words)
        place = board.nth_place(words, jnp.minimum((draw * number.astype(jnp.float32)).astype(jnp.int32), number - 1))
        return jnp.where(state.side == 0, place, 127 - place)

    def step(self, state: CheckersState, action: Array) -> CheckersState:
        is_first = state.side == 0
        action = jnp.asarray(action, jnp.int32)
        action = jnp.where(is_first, action, 127 - action)
        own, other = _mover_first(state)

        start = np.uint32(1) << (action & 31).astype(jnp.uint32)
        nears = [neighbours(jnp.where(action >> 5 == d, start, NO_SQUARES), d) for d in range(4)]
        near, far = union(nears), union([neighbours(square, d) for d, square in enumerate(nears)])
        taken = near & other
        is_jump = taken != 0
        end = jnp.where(is_jump, far, near)

        was_king = state.kings & start != 0
        is_king = was_king | (end & jnp.where(is_first, *LAST_ROWS) != 0)
        kings = state.kings & ~(start | taken) | jnp.where(is_king, end, NO_SQUARES)
        own, other = own & ~start | end, other & ~taken
        goes_on = is_jump & (is_king == was_king) & (union(jumps(able(end, kings, is_first), own, other)) != 0)

        after = CheckersState(
            black=jnp.where(is_first, own, other),
            white=jnp.where(is_first, other, own),
            kings=kings,
            jumper=jnp.where(goes_on, end, NO_SQUARES),
            side=jnp.where(goes_on, state.side, state.side ^ np.uint8(1)),
            quiet=jnp.where(is_jump, np.int16(0), state.quiet + np.int16(1)),
            winner=jnp.int8(0),
        )
        return keep_if(self.over(state), state, self._judged(after))

    def over(self, state: CheckersState) -> Array:
        return (state.winner != 0) | (state.quiet >= self.draw_plies)

    def score(self, state: CheckersState) -> Array:
        return state.winner.astype(jnp.float32)

    def observe(self, state: CheckersState) -> Array:
        """Show a net [8, 8, 6]: the mover's men, its kings, the other side's men, its kings; the piece that must jump
        on; and, all over the board, how near the draw is, from 0 to 1.

        The mover's home row first, each row from the mover's left.
        """
        own, other = _mover_first(state)
        words = (own & ~state.kings, own & state.kings, other & ~state.kings, other & state.kings, state.jumper)
        squares = jnp.where(state.side == 0, board.BITS, board.BITS[::-1, ::-1])
        planes = [(word & squares != 0).astype(jnp.float32) for word in words]
        quiet = state.quiet.astype(jnp.float32) / np.float32(self.draw_plies)
        return jnp.stack([*planes, jnp.full((8, 8), quiet)], axis=-1)

    # --- for searches ----------------------------------------------------------------------------------------------

    feature_names = tuple(features.CHECKERS_POINTS)
    point_weights = tuple(features.CHECKERS_POINTS.values())
    point = 0.3

    def features(self, state: CheckersState) -> Array:
        """Count features, as `features.features` does; a point is a man."""
        return features.features(state.black, state.white, state.kings, state.side == 0)

    def noisy(self, state: CheckersState, action: Array) -> Array:
        """Tell whether an action jumps, as all do where one can, or makes a king."""
        is_jump = self.must_answer(state)
        return is_jump | (self._end_row(state, action, is_jump) == 7)

    def must_answer(self, state: CheckersState) -> Array:
        """Tell whether the side to move can jump, and so must."""
        return union(_jumpers(state)[1]) != 0

    def order(self, state: CheckersState, action: Array) -> Array:
        """Put men that become kings first, then those that go furthest, kings in between; men leave home last.

        Jumps need not come first: where there is one, there is nothing else.
        """
        row = self._end_row(state, action, self.must_answer(state))
        is_from_home = jnp.asarray(action, jnp.int32) & 31 < 4
        return jnp.where(row < 0, 90, jnp.where(is_from_home, 0, 20 * row + jnp.where(row == 7, 60, 0)))

    def _end_row(self, state: CheckersState, action: Array, is_jump: Array) -> Array:
        """Return the row that a man goes to, int32 [], counted from 0 at its home row; -1 for a king."""
        square = jnp.asarray(action, jnp.int32) & 31
        turned = jnp.where(state.side == 0, square, 31 - square)
        return jnp.where(bits.has(state.kings, turned), -1, (square >> 2) + jnp.where(is_jump, 2, 1))

    def hash(self, state: CheckersState) -> Array:
        """Mix all fields into a key, but the plies left before the draw only where a search may get there."""
        left = jnp.minimum(self.draw_plies - state.quiet.astype(jnp.int32), 65)
        rest = state.side.astype(jnp.uint32) | left.astype(jnp.uint32) << np.uint32(1)
        return hash_words(state.black, state.white, state.kings, state.jumper, rest)

    # --- for people ------------------------------------------------------------------------------------------------

    def _pieces(self, state: CheckersState) -> dict[int, str]:
        """List the pieces by the numbers of their squares: b or w, in capitals if a king."""
        men = {number: piece for piece, word in zip("bw", state[:2]) for number in board.list_squares(int(word))}
        return men | {number: men[number].upper() for number in board.list_squares(int(state.kings))}

    def show(self, state: CheckersState, seat: int = 0) -> str:
        """Draw the numbered squares and what stands on them, the home row of `seat` at the bottom."""
        pieces = self._pieces(state)
        turned = SQUARE_NUMBERS[::-1] if seat == 0 else SQUARE_NUMBERS[:, ::-1]
        rows = [[f"{n:>3}{pieces.get(n, grid.STONES[0])}" if n else "    " for n in row] for row in turned.tolist()]
        lines = ["".join(row).rstrip() for row in rows]
        return "\n".join([*lines, *self._duty(state)])

    def _duty(self, state: CheckersState) -> list[str]:
        jumper = int(state.jumper).bit_length()
        return [f"{jumper} must jump on"] if jumper else []

    def view(self, state: CheckersState, seat: int = 0) -> GridView:
        pieces = self._pieces(state)
        return grid.view(
            [[pieces.get(n, "") for n in row] for row in SQUARE_NUMBERS.tolist()],
            names=[[str(n) if n else "" for n in row] for row in SQUARE_NUMBERS.tolist()],
            note="".join(self._duty(state)),
            pieces={letter: {"glyph": glyph, "side": side} for letter, (glyph, side) in _PIECES.items()},
            checkered=True,
            sides=list(_SIDES),
            turn=True,
        )

    def action_name(self, state: CheckersState, action: int) -> str:
        """Name a move as players do, 11-15 for a step and 15x22 for a jump; a jump at a time."""
        start, sign, end = self._path(state, action)
        return f"{start}{sign}{end}"

    def _path(self, state: CheckersState, action: int) -> tuple[int, str, int]:
        """Return the numbers of a move's two squares, and the sign between them."""
        direction, square = divmod(action if int(state.side) == 0 else 127 - action, 32)
        near = int(neighbours(np.uint32(1 << square), direction))
        is_jump = near & int(state.black | state.white) != 0
        end = int(neighbours(np.uint32(near), direction)) if is_jump else near
        return square + 1, "x" if is_jump else "-", end.bit_length()

    def places(self, state: CheckersState, action: int) -> list[Place]:
        start, _, end = self._path(state, action)
        return [np.argwhere(number == SQUARE_NUMBERS)[0].tolist() for number in (start, end)]

    def outcome_reason(self, state: CheckersState) -> str:
        if int(state.winner) == 0:
            return f"draw: {self.draw_plies} plies without a capture"
        loser, left = ("White", state.white) if int(state.winner) > 0 else ("Black", state.black)
        return f"{loser} has no {'move' if int(left) else 'piece'} left"

    def write_position(self, state: CheckersState) -> str:
        """Write the position as `board.write_checkers_fen` does."""
        return board.write_checkers_fen(board.CheckersFen(*(int(field) for field in state[:6])))

    def read_position(self, text: str) -> CheckersState:
        fen = board.read_checkers_fen(text)
        if fen.quiet >= self.draw_plies:
            raise BadInput(f"{text!r} cannot be: H is at most {self.draw_plies - 1}, then the game is drawn")
        state = self._judged(_from_fen(fen))
        own, other = _mover_first(state)
        jumpers = jumps(able(own & state.jumper, state.kings, state.side == 0), own, other)
        if fen.jumper and not int(union(jumpers)):
            raise BadInput(f"{text!r} cannot be: the piece that must jump on cannot jump")
        return state


def _from_fen(fen: board.CheckersFen) -> CheckersState:
    """Make the state of a position in which the side to move can move."""
    black, white, kings, jumper = (jnp.uint32(word) for word in fen[:4])
    return CheckersState(black, white, kings, jumper, jnp.uint8(fen.side), jnp.int16(fen.quiet), jnp.int8(0))


def _mover_first(state: CheckersState) -> tuple[Array, Array]:
    """Return the mover's pieces, and the other side's, uint32 [] each."""
    is_first = state.side == 0
    return jnp.where(is_first, state.black, state.white), jnp.where(is_first, state.white, state.black)


def _movable(state: CheckersState) -> list[Array]:
    """List for each direction the mover's pieces that may go there: to jump, if any can; else to step."""
    own, other = _mover_first(state)
    movers, jumpers = _jumpers(state)
    must_jump = union(jumpers) != 0
    return [jnp.where(must_jump, jumpers[d], movers[d] & neighbours(~(own | other), 3 - d)) for d in range(4)]


def _jumpers(state: CheckersState) -> tuple[list[Array], list[Array]]:
    """List for each direction the pieces that ever go there and have the move, and those of them that can jump."""
    own, other = _mover_first(state)
    movers = able(jnp.where(state.jumper == 0, own, state.jumper), state.kings, state.side == 0)
    return movers, jumps(movers, own, other)
