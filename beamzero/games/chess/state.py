"""The state of a game of chess, and how a move changes it."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games.bits import EMPTY, Bits, bit, constant, only_if, union
from beamzero.games.chess.moves import BISHOP, KNIGHT, PAWN, QUEEN, ROOK, BoardPosition, E, Move, N, S, Variant, W
from beamzero.games.hashing import hash_words

KEYS = 100
"""The number of positions that are kept to see a repetition. By the fifty-move rule there are never more that could be
repeated; where that is switched off, a repetition is seen within the last hundred plies."""


class Ending(enum.IntEnum):
    """The reason why a game is over."""

    NONE = 0
    CHECKMATE = 1
    STALEMATE = 2
    MATERIAL = 3
    THREEFOLD = 4
    FIFTY_MOVES = 5
    LENGTH = 6


# Squares, as bits of the boards (file a is 0), and as numbers in actions (8 x 8), as white sees them:
#   8 | 56 57 58 59 60 61 62 63    high words: ranks 5 to 8
#   ...
#   2 |  8  9 10 11 12 13 14 15
#   1 |  0  1  2  3  4  5  6  7    low words: ranks 1 to 4
#        a  b  c  d  e  f  g  h
class ChessState(NamedTuple):
    """The board as the side to move sees it, turned for black. White is side 0."""

    own_lo: Array  # uint32 [] the pieces of the side to move
    own_hi: Array  # uint32 []
    first_lo: Array  # uint32 [] the pieces of both sides: bit 0 of their kinds
    first_hi: Array  # uint32 []
    second_lo: Array  # uint32 [] bit 1
    second_hi: Array  # uint32 []
    third_lo: Array  # uint32 [] bit 2
    third_hi: Array  # uint32 []
    castling: Array  # uint8 [] 1, 2: the mover may castle to the king's, the queen's side; 4, 8: the other side may
    passed: Array  # uint8 [] the file, as a bit, where a pawn may be taken in passing, or 0
    ply: Array  # int32 [] moves made; even: white to move
    clock: Array  # int32 [] plies since the last capture or pawn's move
    check: Array  # bool [] whether the side to move is in check
    ending: Array  # int8 [] an Ending
    repeats: Array  # int8 [] how often the position had been there before
    twice_lo: Array  # uint32 [] the sum of the keys of all positions since then that have been there twice
    twice_hi: Array  # uint32 []
    keys_lo: Array  # uint32 [KEYS] by clock: the keys of the positions since then
    keys_hi: Array  # uint32 [KEYS]
    earlier: Array  # uint32 [H - 1, 8] the boards before this one, each as its mover saw it, the latest one first
    earlier_repeats: Array  # int8 [H - 1]


BOARD = ChessState._fields[:8]
"""The fields that hold the board."""


def position_of(variant: Variant, words: Sequence[Array], castling: Array, passed: Array) -> BoardPosition:
    """Make the position of a board, given as the fields of a state that hold it."""
    own, *kinds = (Bits(words[i], words[i + 1]) for i in range(0, 8, 2))
    rank = 8 * (variant.size - 3)
    files = passed.astype(jnp.uint32) << np.uint32(rank % 32)
    nothing = jnp.zeros_like(files)
    return BoardPosition(
        own=own,
        enemy=union(kinds) - own,
        kinds=(kinds[0], kinds[1], kinds[2]),
        castling=castling,
        passed=Bits(nothing, files) if rank >= 32 else Bits(files, nothing),
    )


def board_of(position: BoardPosition) -> dict[str, Array]:
    """Return the fields of a state that hold its board, by name."""
    words = [word for squares in (position.own, *position.kinds) for word in squares]
    return dict(zip(BOARD, words, strict=True))


def passed_file(variant: Variant, position: BoardPosition) -> Array:
    """Return the file, as a bit, of the square passed over, uint8."""
    rank = 8 * (variant.size - 3)
    word = position.passed.hi if rank >= 32 else position.passed.lo
    return (word >> np.uint32(rank % 32)).astype(jnp.uint8)


def flip_position(variant: Variant, position: BoardPosition) -> BoardPosition:
    """Return the position as the other side sees it, and with that side to move."""
    other = variant.board.flip
    first, second, third = position.kinds
    return BoardPosition(
        own=other(position.enemy),
        enemy=other(position.own),
        kinds=(other(first), other(second), other(third)),
        castling=_swap_sides(position.castling),
        passed=other(position.passed),
    )


def make_move(variant: Variant, position: BoardPosition, move: Move) -> tuple[BoardPosition, Array]:
    """Return the position after a move, still as the mover sees it; and whether a pawn moved or a piece was taken."""
    board, size, plane = variant.board, variant.size, move.plane
    start, target = bit(move.origin), bit(move.target)
    kinds = [(plane_ & start).any() for plane_ in position.kinds]
    is_pawn = kinds[0] & ~kinds[1] & ~kinds[2]
    is_king = kinds[0] & kinds[1] & ~kinds[2]
    taken = target & position.enemy
    victim = only_if(is_pawn & (target & position.passed).any(), board.step(position.passed, S))

    promotes = is_pawn & (target & board.rank(size - 1)).any()
    piece = [jnp.where(promotes, bool(QUEEN >> i & 1), kinds[i]) for i in range(3)]
    first_under = variant.first_under
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
        position.kinds[i] - gone | only_if(piece[i], target) | (rook_to if ROOK >> i & 1 else EMPTY) for i in range(3)
    ]
    doubled = is_pawn & (plane == variant.plane(N, 2))
    after = BoardPosition(
        own=position.own - gone | arrived,
        enemy=position.enemy - gone,
        kinds=(new_kinds[0], new_kinds[1], new_kinds[2]),
        castling=_rights(variant, position.castling, start, target, is_king),
        passed=only_if(doubled, board.step(start, N)),
    )
    return after, is_pawn | taken.any()


def _rights(variant: Variant, castling: Array, start: Bits, target: Bits, is_king: Array) -> Array:
    """Return the rights to castle that are left: one is lost when the king or the rook moves, or the rook is taken."""
    lost = jnp.where(is_king, np.uint8(3), np.uint8(0))
    for number, castle in enumerate(variant.castles):
        lost |= jnp.where((start & castle.rook_from).any(), np.uint8(1 << number), np.uint8(0))
        theirs = constant(castle.rook_file + 8 * (variant.size - 1))
        lost |= jnp.where((target & theirs).any(), np.uint8(4 << number), np.uint8(0))
    return castling & ~lost


def _swap_sides(castling: Array) -> Array:
    return castling >> np.uint8(2) | castling << np.uint8(2) & np.uint8(12)


def enough_material(variant: Variant, position: BoardPosition) -> Array:
    """Tell, bool [], whether either side could still give mate: not with a lone minor piece, nor with bishops alike."""
    pawns, knights, bishops = (position.kind(kind) for kind in (PAWN, KNIGHT, BISHOP))
    dark = variant.board.dark
    alike = ~(bishops & dark).any() | ~(bishops - dark).any()
    lone = (knights | bishops).number() <= 1
    return (pawns | position.straight).any() | ~(lone | (alike & ~knights.any()))


def hash_position(board: Iterable[Array], castling: Array, passed: Array, side: Array) -> Bits:
    """Mix a position into a key of 64 bits: equal for equal positions, and almost surely different for others."""
    rights, files, mover = (x.astype(jnp.uint32) for x in (castling, passed, side))
    key = hash_words(rights | files << np.uint32(8) | mover << np.uint32(16), *board)
    return Bits(key[0], key[1])
