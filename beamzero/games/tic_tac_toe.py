"""Tic-tac-toe: three in a row on nine squares."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games import grid
from beamzero.games.game import Game, keep_if
from beamzero.games.hashing import hash_words
from beamzero.games.places import Place
from beamzero.games.views import GridView

# Squares, as bits and as actions:
#   3 | 6 7 8
#   2 | 3 4 5
#   1 | 0 1 2
#       a b c
_LINES = np.array([0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124], np.uint16)


class TicTacToeState(NamedTuple):
    stones: Array  # uint16 [2] each side's squares
    winner: Array  # int8 [] +1 when side 0 has a line, -1 when side 1 has, else 0


@dataclasses.dataclass(frozen=True)
class TicTacToe(Game):
    """Three in a row wins; a full board is a draw. Actions are squares, a1 to c3."""

    name: ClassVar[str] = "tic_tac_toe"
    num_actions = 9
    max_moves = 9
    max_plies = 9
    observation_shape = (3, 3, 2)

    def init(self, key: Array) -> TicTacToeState:
        return TicTacToeState(stones=jnp.zeros(2, jnp.uint16), winner=jnp.int8(0))

    def player(self, state: TicTacToeState) -> Array:
        return jnp.bitwise_count(state.stones[0] | state.stones[1]).astype(jnp.int32) & 1

    def legal(self, state: TicTacToeState) -> Array:
        squares = np.uint16(1) << np.arange(9, dtype=np.uint16)
        return (state.stones[0] | state.stones[1]) & squares == 0

    def step(self, state: TicTacToeState, action: Array) -> TicTacToeState:
        side = self.player(state)
        own = jnp.where(side == 0, state.stones[0], state.stones[1]) | (
            jnp.uint16(1) << jnp.asarray(action, jnp.uint16)
        )
        won = jnp.any(own & _LINES == _LINES)
        winner = jnp.where(won, (1 - 2 * side).astype(jnp.int8), jnp.int8(0))
        stones = jnp.where(jnp.arange(2) == side, own, state.stones)
        return keep_if(self.over(state), state, TicTacToeState(stones, winner))

    def over(self, state: TicTacToeState) -> Array:
        return (state.winner != 0) | (state.stones[0] | state.stones[1] == 0o777)

    def score(self, state: TicTacToeState) -> Array:
        return state.winner.astype(jnp.float32)

    def observe(self, state: TicTacToeState) -> Array:
        """Show a net [3, 3, 2]: the mover's stones, the other side's; the bottom row first."""
        mover_first = jnp.where(self.player(state) == 0, state.stones, state.stones[::-1])
        squares = np.arange(9, dtype=np.uint16).reshape(3, 3, 1)
        return (mover_first[None, None] >> squares & np.uint16(1)).astype(jnp.float32)

    def symmetries(self, observation: Array, values: Array) -> tuple[Array, Array]:
        board = values.reshape(3, 3)
        turned = [(jnp.rot90(observation, k), jnp.rot90(board, k)) for k in range(4)]
        mirrored = [(o[:, ::-1], v[:, ::-1]) for o, v in turned]
        observations, boards = zip(*turned, *mirrored, strict=True)
        return jnp.stack(observations), jnp.stack(boards).reshape(8, 9)

    # --- for searches ----------------------------------------------------------------------------------------------

    feature_names = ("lines that lack one", "lines that lack two")
    point_weights = (1.0, 0.3)
    point = 0.5

    def features(self, state: TicTacToeState) -> Array:
        """Count lines with stones of one side only. A point is one that lacks but one stone."""
        first, second = (jnp.bitwise_count(stones & _LINES).astype(jnp.int32) for stones in state.stones)
        lead = jnp.where(second == 0, first, 0) - jnp.where(first == 0, second, 0)
        lead = jnp.where(self.player(state) == 0, lead, -lead)
        return jnp.stack([_number(lead == stones) - _number(lead == -stones) for stones in (2, 1)])

    def order(self, state: TicTacToeState, action: Array) -> Array:
        """Put the centre first, then corners, then edges."""
        action = jnp.asarray(action, jnp.int32)
        return jnp.where(action == 4, 2, 1 - action % 2)

    def hash(self, state: TicTacToeState) -> Array:
        first, second = state.stones.astype(jnp.uint32)
        return hash_words(first | second << np.uint32(16))

    # --- for people ------------------------------------------------------------------------------------------------

    def _cells(self, state: TicTacToeState) -> list[list[int]]:
        first, second = (int(side) for side in state.stones)
        cells = [(first >> square & 1) + 2 * (second >> square & 1) for square in range(9)]
        return [cells[row : row + 3] for row in (0, 3, 6)]

    def show(self, state: TicTacToeState, seat: int = 0) -> str:
        return grid.draw(self._cells(state))

    def view(self, state: TicTacToeState, seat: int = 0) -> GridView:
        return grid.view(self._cells(state))

    def action_name(self, state: TicTacToeState, action: int) -> str:
        return f"{grid.LETTERS[action % 3]}{action // 3 + 1}"

    def places(self, state: TicTacToeState, action: int) -> list[Place]:
        return [[action // 3, action % 3]]

    def outcome_reason(self, state: TicTacToeState) -> str:
        if int(state.winner) == 0:
            return "draw: the board is full"
        return f"{'X' if int(state.winner) > 0 else 'O'} has three in a row"


def _number(these: Array) -> Array:
    """Count the true ones, float32 []."""
    return jnp.sum(these, dtype=jnp.float32)
