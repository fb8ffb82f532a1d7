"""Features of chess: counts of bits, as cheap as they come, since a search asks for them at every leaf."""

from __future__ import annotations

import functools
import operator

import jax.numpy as jnp
from jax import Array

from beamzero.games.bits import Bits, constant, union
from beamzero.games.chess.board import Direction
from beamzero.games.chess.moves import (
    BISHOP,
    DIAGONALS,
    DIRECTIONS,
    JUMPS,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    STRAIGHTS,
    BoardPosition,
    E,
    N,
    S,
    Variant,
    W,
)
from beamzero.games.chess.state import flip_position

CHESS_POINTS: dict[str, float] = {
    "pawns": 1.0,
    "knights": 3.0,
    "bishops": 3.0,
    "rooks": 5.0,
    "queens": 9.0,
    "knight_moves": 0.05,
    "diagonal_moves": 0.05,
    "straight_moves": 0.03,
    "centre_pawns": 0.2,
    "centre_knights": 0.15,
    "pawn_steps": 0.02,
    "doubled_pawns": -0.2,
    "lone_pawns": -0.15,
    "passed_pawns": 0.1,
    "passed_steps": 0.12,
    "king_shield": 0.12,
    "king_pressure": 0.06,
}
"""The features, and how many pawns one of each is worth."""


def find_features(variant: Variant, position: BoardPosition) -> dict[str, Array]:
    """Count features by name, int32 [] each: those of the side to move less those of the other side."""
    own, other = _one_side(variant, position), _one_side(variant, flip_position(variant, position))
    return {name: own[name] - other[name] for name in CHESS_POINTS}


def _one_side(variant: Variant, position: BoardPosition) -> dict[str, Array]:
    """Count the features of the side to move by name, int32 [] each."""
    own = position.own
    return {
        "pawns": (own & position.kind(PAWN)).number(),
        "knights": (own & position.kind(KNIGHT)).number(),
        "bishops": (own & position.kind(BISHOP)).number(),
        "rooks": (own & position.kind(ROOK)).number(),
        "queens": (own & position.kind(QUEEN)).number(),
        **_activity(variant, position),
        **_pawns(variant, position),
        **_shield(variant, position),
    }


def _activity(variant: Variant, position: BoardPosition) -> dict[str, Array]:
    """Count moves to squares without own pieces, legal or not: all, and those to squares beside the other king.

    The latter count while there is a queen to make use of them. Queens go along diagonals and straight.
    """
    board, own, enemy = variant.board, position.own, position.enemy
    empty = board.squares - (own | enemy)
    knights, pawns = own & position.kind(KNIGHT), own & position.kind(PAWN)
    jumps = [board.step(knights, way) - own for way in JUMPS]
    diagonal, straight = (
        [board.see(own & position.sliders(way), way, empty) - own for way in ways] for ways in (DIAGONALS, STRAIGHTS)
    )
    near = union([board.step(enemy & position.kind(KING), way) for way in DIRECTIONS])
    queen = (own & position.kind(QUEEN)).any()
    return {
        "knight_moves": _total(jumps),
        "diagonal_moves": _total(diagonal),
        "straight_moves": _total(straight),
        "king_pressure": jnp.where(queen, _total([squares & near for squares in jumps + diagonal + straight]), 0),
        "centre_pawns": (pawns & _middle(variant, 2)).number(),
        "centre_knights": (knights & _middle(variant, 4)).number(),
    }


def _pawns(variant: Variant, position: BoardPosition) -> dict[str, Array]:
    """Count the steps of pawns, and doubled, lone and passed ones.

    A doubled pawn has one of its side before it on its file, a lone one has none on the files beside. A passed pawn
    has none of the other side before it, on its file or beside.
    """
    board = variant.board
    pawns, others = position.own & position.kind(PAWN), position.enemy & position.kind(PAWN)
    behind, stops = _all(variant, pawns, S), _all(variant, others, S)
    files = behind | pawns | _all(variant, pawns, N)
    passed = pawns - union([stops, board.step(stops, E), board.step(stops, W)])
    return {
        "pawn_steps": _steps(variant, pawns),
        "doubled_pawns": (pawns & behind).number(),
        "lone_pawns": (pawns - (board.step(files, E) | board.step(files, W))).number(),
        "passed_pawns": passed.number(),
        "passed_steps": _steps(variant, passed),
    }


def _shield(variant: Variant, position: BoardPosition) -> dict[str, Array]:
    """Count pawns on the three files of the king, one or two ranks before it, while the other side has a queen."""
    board, own = variant.board, position.own
    king = own & position.kind(KING)
    front = board.step(union([king, board.step(king, E), board.step(king, W)]), N)
    shield = own & position.kind(PAWN) & (front | board.step(front, N))
    return {"king_shield": jnp.where((position.enemy & position.kind(QUEEN)).any(), shield.number(), 0)}


def _total(sets: list[Bits]) -> Array:
    return functools.reduce(operator.add, [squares.number() for squares in sets])


def _all(variant: Variant, squares: Bits, way: Direction) -> Bits:
    """Return all squares that lie that way from any of `squares`."""
    return variant.board.see(squares, way, variant.board.squares)


def _middle(variant: Variant, width: int) -> Bits:
    """Return the `width` x `width` squares in the middle of the board."""
    low = (variant.size - width) // 2
    middle = range(low, low + width)
    return constant(*(8 * rank + file for rank in middle for file in middle))


def _steps(variant: Variant, pawns: Bits) -> Array:
    """Count the steps of pawns from where they began, int32 [], added up digit by digit of the binary numbers."""
    most = variant.size - 3
    ranks = [[variant.board.rank(1 + n) for n in range(most + 1) if n >> i & 1] for i in range(most.bit_length())]
    return functools.reduce(operator.add, [(pawns & union(some)).number() << i for i, some in enumerate(ranks)])
