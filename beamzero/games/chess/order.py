"""Which moves a search follows beyond its depth, and which it looks at first.

All of it is seen on the board before the move: what stands where it leads to, and from which squares a piece would
attack something. That is found once for a position and then asked for each of its moves.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from beamzero.games.bits import Bits, union
from beamzero.games.chess.board import once
from beamzero.games.chess.moves import (
    BISHOP,
    DIAGONALS,
    DIRECTIONS,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    SE,
    STRAIGHTS,
    SW,
    BoardPosition,
    Move,
    Variant,
)

_RANKS = {PAWN: 1, KNIGHT: 2, BISHOP: 3, ROOK: 4, QUEEN: 5, KING: 6}
"""The pieces by how much they are worth, as places in a row."""

CAPTURE_ORDER, THREAT_ORDER, QUIET_ORDER = 128, 64, 32
"""The least order of captures and new queens, of threats, and of quiet moves; moves that go forward have more."""


def is_noisy(variant: Variant, position: BoardPosition, attacked: Bits, move: Move) -> Array:
    """Tell, bool [], whether a pawn becomes a queen, or a piece is taken, in passing too, at no loss as it seems.

    Other captures would mostly lose a piece for less. To follow them too took four times the positions, in the one
    middle game that was tried, for the same value.
    """
    piece = _kind_at(position, move.origin)
    victim = _victim(position, move, piece)
    pays = (victim > 0) & ~_loses(piece, victim, attacked, move)
    return pays | _makes_queen(variant, move, piece)


def find_order(variant: Variant, position: BoardPosition, attacked: Bits, move: Move) -> Array:
    """Rate a move, int32 [] of 0 to 255: captures first, then threats, then moves forward, then moves back.

    Of captures, those of the most valuable piece come first, and of these the one by the least valuable; those that
    cost more than they gain come last. `attacked` are the squares that the other side attacks, so that what stands
    there is defended.
    """
    piece = _kind_at(position, move.origin)
    gain = _victim(position, move, piece) + jnp.where(_makes_queen(variant, move, piece), 4, 0)
    weight = jnp.where(_loses(piece, gain, attacked, move), 5 * gain, 10 * gain + 24)
    capture = CAPTURE_ORDER + weight + 6 - _rank(piece)

    threatens = jnp.bool_(False)
    for kind, squares in once(_posts(variant, position, attacked)).items():
        threatens |= (piece == kind) & squares.has(move.target)
    forward = (move.target >> 3) - (move.origin >> 3)
    quiet = jnp.where(threatens, THREAT_ORDER, QUIET_ORDER) + 2 * forward
    quiet = jnp.where(move.plane >= variant.first_under, 0, quiet)
    return jnp.where(gain > 0, capture, quiet)


def _kind_at(position: BoardPosition, square: Array) -> Array:
    """Return the kind of the piece on a square, int32; 0 for none."""
    bits = [squares.has(square).astype(jnp.int32) << i for i, squares in enumerate(position.kinds)]
    return bits[0] | bits[1] | bits[2]


def _rank(kind: Array) -> Array:
    """Return the rank of a kind as in _RANKS, int32; 0 for none. Kinds rise with their ranks, but for the king's."""
    return jnp.where(kind == KING, _RANKS[KING], kind - jnp.where(kind > KING, 2, 0))


def _victim(position: BoardPosition, move: Move, piece: Array) -> Array:
    """Return the rank of the piece taken, int32; 0 for none. A king that castles may go where its own rook is."""
    taken = jnp.where(position.enemy.has(move.target), _rank(_kind_at(position, move.target)), 0)
    passing = (piece == PAWN) & position.passed.has(move.target)
    return jnp.where(passing, _RANKS[PAWN], taken)


def _loses(piece: Array, gain: Array, attacked: Bits, move: Move) -> Array:
    """Tell whether a piece goes to a defended square for one worth less. A bishop for a knight costs nothing."""
    even = gain + jnp.where(gain == _RANKS[KNIGHT], 1, 0)
    return (_rank(piece) > even) & attacked.has(move.target)


def _makes_queen(variant: Variant, move: Move, piece: Array) -> Array:
    return (piece == PAWN) & (move.target >= 8 * (variant.size - 1)) & (move.plane < variant.first_under)


def _posts(variant: Variant, position: BoardPosition, attacked: Bits) -> dict[int, Bits]:
    """Find by kind of piece the squares from which it would attack one worth more, one not defended, or the king."""
    board = variant.board
    empty = board.squares - (position.own | position.enemy)

    def lines(prey: Bits, ways: tuple[tuple[int, int], ...]) -> Bits:
        return union([board.see(prey, way, empty) for way in ways])

    kings, queens, rooks = (position.enemy & position.kind(kind) for kind in (KING, QUEEN, ROOK))
    by_queen = kings | (position.enemy - attacked)
    by_rook = by_queen | queens
    by_minor = by_rook | rooks
    by_pawn = by_minor | (position.enemy - position.kind(PAWN))
    return {
        PAWN: board.step(by_pawn, SE) | board.step(by_pawn, SW),
        KNIGHT: variant.jump(by_minor),
        BISHOP: lines(by_minor, DIAGONALS),
        ROOK: lines(by_rook, STRAIGHTS),
        QUEEN: lines(by_queen, DIRECTIONS),
    }
