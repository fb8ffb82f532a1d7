"""What a game of chess remembers, and how a move changes it."""

from __future__ import annotations

import enum
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games.bits import Bits, bit, constant, only_if
from beamzero.games.chess.board import NONE, choose
from beamzero.games.chess.moves import BISHOP, KNIGHT, PAWN, QUEEN, ROOK, E, N, Position, S, Variant, W

KEYS = 100
"""How many positions are kept to see a repetition. By the fifty-move rule there are never more that could be repeated;
where that is switched off, a repetition is seen within the last hundred plies."""


class Ending(enum.IntEnum):
    """Why a game is over."""

    NONE = 0
    CHECKMATE = 1
    STALEMATE = 2
    MATERIAL = 3
    THREEFOLD = 4
    FIFTY_MOVES = 5
    LENGTH = 6


# Squares, as bits of the boards (file a is 0), and as numbers in actions (8 x 8):
#   8 | 56 57 58 59 60 61 62 63
#   ...
#   2 |  8  9 10 11 12 13 14 15
#   1 |  0  1  2  3  4  5  6  7
#        a  b  c  d  e  f  g  h
class ChessState(NamedTuple):
    """White is side 0 and is seen from below, whoever moves."""

    boards: Array  # uint32 [H, 4, 2] this position and those before it: white pieces; bits 0, 1, 2 of the kinds; lo, hi
    repeats: Array  # int8 [H] how often each had been there before
    castling: Array  # uint8 [] 1, 2: white may castle to the king's, the queen's side; 4, 8: black may
    passed: Array  # int8 [] the bit of the square where a pawn may be taken in passing, or -1
    clock: Array  # int32 [] plies since the last capture or pawn's move
    ply: Array  # int32 [] moves made; even: white to move
    keys: Array  # uint32 [KEYS, 2] by clock: hashes of the positions since then
    ending: Array  # int8 [] an Ending


def look(variant: Variant, board: Array, castling: Array, passed: Array, side: Array) -> Position:
    """A board as `side` sees it."""
    white, *kinds = (_seen_by(variant, Bits(board[i, 0], board[i, 1]), side) for i in range(4))
    occupied = kinds[0] | kinds[1] | kinds[2]
    own = choose(side == 0, white, occupied - white)
    swapped = jnp.where(side == 0, castling, _swap_sides(castling))
    passed_bit = only_if(passed >= 0, bit(jnp.maximum(passed, np.int8(0)).astype(jnp.int32)))
    return Position(own, occupied - own, (kinds[0], kinds[1], kinds[2]), swapped, _seen_by(variant, passed_bit, side))


def _seen_by(variant: Variant, squares: Bits, side: Array) -> Bits:
    return choose(side == 0, squares, variant.board.turn(squares))


def _swap_sides(castling: Array) -> Array:
    return castling >> np.uint8(2) | castling << np.uint8(2) & np.uint8(12)


def turn(variant: Variant, position: Position) -> Position:
    """The same position with the other side to move."""
    other = variant.board.turn
    first, second, third = position.kinds
    return Position(
        own=other(position.enemy),
        enemy=other(position.own),
        kinds=(other(first), other(second), other(third)),
        castling=_swap_sides(position.castling),
        passed=other(position.passed),
    )


def make_move(variant: Variant, position: Position, plane: Array, origin: Array) -> tuple[Position, Array]:
    """The position after the mover's move, still as the mover sees it, and whether a pawn moved or a piece was taken.

    `plane` is the kind of move, `origin` the bit of the square it starts from.
    """
    board, size = variant.board, variant.size
    start = bit(origin)
    target = bit(origin + jnp.asarray(variant.offsets)[plane])
    kinds = [(plane_ & start).any() for plane_ in position.kinds]
    is_pawn = kinds[0] & ~kinds[1] & ~kinds[2]
    is_king = kinds[0] & kinds[1] & ~kinds[2]
    taken = target & position.enemy
    victim = only_if(is_pawn & (target & position.passed).any(), board.step(position.passed, S))

    promotes = is_pawn & (target & board.rank(size - 1)).any()
    piece = [jnp.where(promotes, bool(QUEEN >> i & 1), kinds[i]) for i in range(3)]
    first_under = 8 * (size - 1) + 8
    for number, under in enumerate(variant.underpromotions):
        chosen = (plane >= first_under + 3 * number) & (plane < first_under + 3 * number + 3)
        piece = [jnp.where(chosen, bool(under >> i & 1), piece[i]) for i in range(3)]

    castles = [is_king & (plane == variant.plane(way, 2)) for way in (E, W)]
    ways = list(zip(castles, variant.castles, strict=True))
    rook_from = only_if(ways[0][0], ways[0][1].rook_from) | only_if(ways[1][0], ways[1][1].rook_from)
    rook_to = only_if(ways[0][0], ways[0][1].rook_to) | only_if(ways[1][0], ways[1][1].rook_to)
    gone = start | target | victim | rook_from
    arrived = target | rook_to
    new_kinds = [
        position.kinds[i] - gone | only_if(piece[i], target) | (rook_to if ROOK >> i & 1 else NONE) for i in range(3)
    ]
    doubled = is_pawn & (plane == variant.plane(N, 2))
    after = Position(
        own=position.own - gone | arrived,
        enemy=position.enemy - gone,
        kinds=(new_kinds[0], new_kinds[1], new_kinds[2]),
        castling=_rights(variant, position.castling, start, target, is_king),
        passed=only_if(doubled, board.step(start, N)),
    )
    return after, is_pawn | taken.any()


def _rights(variant: Variant, castling: Array, start: Bits, target: Bits, is_king: Array) -> Array:
    """A right is lost when the king or the rook moves, or the rook is taken."""
    lost = jnp.where(is_king, np.uint8(3), np.uint8(0))
    for number, castle in enumerate(variant.castles):
        lost |= jnp.where((start & castle.rook_from).any(), np.uint8(1 << number), np.uint8(0))
        theirs = constant(castle.rook_file + 8 * (variant.size - 1))
        lost |= jnp.where((target & theirs).any(), np.uint8(4 << number), np.uint8(0))
    return castling & ~lost


def enough_material(variant: Variant, position: Position) -> Array:
    """Whether either side could still give mate, by whatever moves: not with a lone minor piece, nor bishops alike."""
    pawns, knights, bishops = (position.kind(kind) for kind in (PAWN, KNIGHT, BISHOP))
    dark = variant.board.dark
    alike = ~(bishops & dark).any() | ~(bishops - dark).any()
    lone = (knights | bishops).number() <= 1
    return (pawns | position.straight).any() | ~(lone | (alike & ~knights.any()))


def hash_position(board: Array, castling: Array, passed: Array, side: Array) -> Array:
    """uint32 [2]: equal for equal positions, and all but surely different for others."""
    rest = castling.astype(jnp.uint32) | (passed.astype(jnp.int32) + 1).astype(jnp.uint32) << np.uint32(8)
    rest |= side.astype(jnp.uint32) << np.uint32(16)
    words = [board[i, j] for i in range(4) for j in range(2)]
    lanes = []
    for seed, factor in ((0x9E3779B9, 0x85EBCA6B), (0x7F4A7C15, 0xC2B2AE35)):
        mixed = rest ^ np.uint32(seed)
        for word in words:
            mixed = (mixed ^ word) * np.uint32(factor)
            mixed ^= mixed >> np.uint32(15)
        lanes.append(mixed)
    return jnp.stack(lanes)
