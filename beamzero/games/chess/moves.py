"""Which moves are legal, found for the whole board at once.

A move is a square to move from and one of P planes: a direction and a distance, a knight's jump, or an
underpromotion. The moves of one plane are a set of squares, the ones they lead to. A slider's plane grows out of the
one a step shorter. Checks and pins are sets too, found once from what the king and the enemy's sliders see along each
direction: a piece that both see from either side is pinned, and may move along that line only; where the king is in
check, others may only go to squares that end it. Everything is seen from the side to move, whose pawns go up.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.games.bits import EMPTY, Bits, constant, only_if, union
from beamzero.games.chess.board import Board, Compass, Direction, back, choose, once, stack

N, NE, E, SE, S, SW, W, NW = (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)
DIRECTIONS: tuple[Direction, ...] = (N, NE, E, SE, S, SW, W, NW)
STRAIGHTS, DIAGONALS = DIRECTIONS[::2], DIRECTIONS[1::2]
LINES = DIRECTIONS[:4]
"""The four lines, each of which is gone along both ways."""

JUMPS: tuple[Direction, ...] = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
TAKES: tuple[Direction, ...] = (NW, NE)
UNDERPROMOTIONS: tuple[Direction, ...] = (NW, N, NE)

# Three bits say what stands on a square: 4 for a slider, of which 1 goes along diagonals and 2 along lines.
PAWN, KNIGHT, KING, BISHOP, ROOK, QUEEN = 0b001, 0b010, 0b011, 0b101, 0b110, 0b111
PIECE_LETTERS = {PAWN: "P", KNIGHT: "N", BISHOP: "B", ROOK: "R", QUEEN: "Q", KING: "K"}


class BoardPosition(NamedTuple):
    """A position as the side to move sees it."""

    own: Bits
    enemy: Bits
    kinds: tuple[Bits, Bits, Bits]  # the squares where bit 0, 1, 2 of the piece is set
    castling: Array  # uint8 [] 1: may castle to the king's side, 2: to the queen's; 4 and 8: the other side may
    passed: Bits  # the square that a pawn has just passed over in a double step, or none

    def kind(self, kind: int) -> Bits:
        """Return the squares of all pieces of a kind, of both sides."""
        wanted = [plane for i, plane in enumerate(self.kinds) if kind >> i & 1]
        others = [plane for i, plane in enumerate(self.kinds) if not kind >> i & 1]
        squares = functools.reduce(operator.and_, wanted)
        return squares - union(others) if others else squares

    @property
    def straight(self) -> Bits:
        """The squares of rooks and queens."""
        return self.kinds[2] & self.kinds[1]

    @property
    def diagonal(self) -> Bits:
        """The squares of bishops and queens."""
        return self.kinds[2] & self.kinds[0]

    def sliders(self, way: Direction) -> Bits:
        """Return the squares of the pieces that slide `way`."""
        return self.diagonal if way in DIAGONALS else self.straight


class Move(NamedTuple):
    """A move in its parts, int32 [] each."""

    plane: Array
    origin: Array  # the bit of the square
    target: Array


class Threats(NamedTuple):
    """Attacks, checks and pins by the enemy, against the king of the side to move."""

    attacked: Bits  # squares that the king must not go to; it does not hide those behind it from sliders
    checkers: Bits
    answers: Bits  # where a piece other than the king may go: anywhere, or to end the check
    pinned: tuple[Bits, ...]  # by LINES: pieces that may only move along this one
    passing: tuple[Bits, ...]  # by TAKES: the square passed over, where a pawn may be taken so


@dataclasses.dataclass(frozen=True)
class Variant:
    """A variant of chess: a size of board, the file of the king, the pieces beside the queen that a pawn may become."""

    size: int
    king_file: int
    underpromotions: tuple[int, ...]

    @functools.cached_property
    def board(self) -> Board:
        return Board(self.size)

    @functools.cached_property
    def compass(self) -> Compass:
        return Compass(self.size, DIRECTIONS)

    @functools.cached_property
    def jumps(self) -> Compass:
        return Compass(self.size, JUMPS)

    @property
    def first_under(self) -> int:
        """The first plane of underpromotions."""
        return 8 * (self.size - 1) + 8

    @property
    def planes(self) -> int:
        return self.first_under + 3 * len(self.underpromotions)

    @functools.cached_property
    def offsets(self) -> np.ndarray:
        """int32 [P]: how far the bit of the target lies above that of the origin."""
        slides = [(files * i, ranks * i) for files, ranks in DIRECTIONS for i in range(1, self.size)]
        steps = [*slides, *JUMPS, *(UNDERPROMOTIONS * len(self.underpromotions))]
        return np.array([8 * ranks + files for files, ranks in steps], np.int32)

    def plane(self, direction: Direction, distance: int) -> int:
        """Return the number of a sliding plane."""
        return DIRECTIONS.index(direction) * (self.size - 1) + distance - 1

    def read_action(self, action: Array) -> Move:
        """Read an action as a move."""
        action = jnp.asarray(action, jnp.int32)
        plane, square = action // self.size**2, action % self.size**2
        origin = square // self.size * 8 + square % self.size
        return Move(plane, origin, origin + jnp.asarray(self.offsets)[plane])

    @functools.cached_property
    def castles(self) -> tuple[Castle, Castle]:
        """The ways to castle: to the king's side, and to the queen's."""
        return Castle(self.king_file, self.size - 1), Castle(self.king_file, 0)

    # --- the moves ---------------------------------------------------------------------------------------------------

    def threats(self, position: BoardPosition) -> Threats:
        """Find the attacks, checks and pins that keep the side to move from moving as it likes."""
        board, own, enemy = self.board, position.own, position.enemy
        king, knights, pawns = own & position.kind(KING), enemy & position.kind(KNIGHT), enemy & position.kind(PAWN)
        empty = board.squares - (own | enemy)
        seen = [board.see(king, way, empty) for way in DIRECTIONS]
        attacks = [board.see(enemy & position.sliders(way), way, empty | king) for way in DIRECTIONS]

        steps = union([board.step(enemy & position.kind(KING), way) for way in DIRECTIONS])
        attacked = union(attacks) | steps | self.jump(knights) | board.step(pawns, SW) | board.step(pawns, SE)
        hits = [squares & enemy & position.sliders(way) for squares, way in zip(seen, DIRECTIONS, strict=True)]
        close = (self.jump(king) & knights) | ((board.step(king, NW) | board.step(king, NE)) & pawns)
        checkers = union(hits) | close
        between = union([only_if(hit.any(), squares) for hit, squares in zip(hits, seen, strict=True)])
        one_checker = only_if(checkers.number() == 1, between | close)
        answers = choose(checkers.any(), one_checker, board.squares)

        # A pawn that could be taken in passing is looked at like a pinned piece: it might shield the king.
        shields = own | board.step(position.passed, S)
        pinned = [shields & ((seen[i] & attacks[i + 4]) | (seen[i + 4] & attacks[i])) for i in range(4)]
        threats = Threats(attacked, checkers, answers, tuple(pinned), passing=(EMPTY, EMPTY))
        right, left = DIRECTIONS.index(E), DIRECTIONS.index(W)
        along = [(seen[right], attacks[left]), (seen[left], attacks[right])]
        return threats._replace(passing=tuple(self._passing(position, threats, way, along) for way in TAKES))

    def _passing(
        self, position: BoardPosition, threats: Threats, way: Direction, along: list[tuple[Bits, Bits]]
    ) -> Bits:
        """Return the square passed over, where a pawn may go `way` to take in passing.

        `along` is what the king sees to the right and what looks the other way there; and both to the left.
        """
        victim = self.board.step(position.passed, S)
        taker = self.board.step(position.passed, back(way)) & self._free(position, threats, way) & position.kind(PAWN)
        # Two pawns leave the rank at once: neither was pinned, yet the king may now stand open along it.
        pair = taker | victim
        bare = (victim & union([threats.pinned[LINES.index(line)] for line in LINES if line in DIAGONALS])).any()
        for seen, attacks in along:
            bare |= (pair & seen).any() & (pair & attacks).any()
        ends_check = ((position.passed | (victim & threats.checkers)) & threats.answers).any()
        return only_if(taker.any() & ~bare & ends_check, position.passed)

    def can_move(self, position: BoardPosition, threats: Threats) -> Array:
        """Tell, bool [], whether there is a legal move. Castling is not looked at: the king could go half the way."""
        board, own = self.board, position.own
        empty = board.squares - (own | position.enemy)
        slides = [
            board.see(own & position.sliders(way) & self._free(position, threats, way), way, empty)
            for way in DIRECTIONS
        ]
        steps = union([board.step(own & position.kind(KING), way) for way in DIRECTIONS]) - own - threats.attacked
        pushes, takes = self._pushes(position, threats, empty), self._takes(position, threats)
        others = (union(slides) | self.jump(self._knights(position, threats))) - own
        others |= union([*pushes, *takes])
        return (steps | (others & threats.answers) | union(threats.passing)).any()

    def targets(self, position: BoardPosition, threats: Threats) -> Bits:
        """Return all legal moves as the squares they lead to, sets [P] by plane."""
        own, enemy, answers = position.own, position.enemy, threats.answers
        empty = self.board.squares - (own | enemy)
        king = own & position.kind(KING)
        pushes, takes = self._pushes(position, threats, empty), self._takes(position, threats)
        near = _by_direction({N: pushes[0], **dict(zip(TAKES, takes, strict=True))}) & answers
        near |= _by_direction(dict(zip(TAKES, threats.passing, strict=True)))
        near |= self.compass.step(king) - own - threats.attacked
        double = (_by_direction({N: pushes[1]}) & answers) | _by_direction(self._castles(position, threats))
        front = stack([own & position.sliders(way) & self._free(position, threats, way) for way in DIRECTIONS])
        slides = []
        for more in (near, double, *[EMPTY] * (self.size - 3)):
            reached = self.compass.step(front) - own
            slides.append((reached & answers) | more)
            # Both halves of a set need both halves of the one before: computed anew, seven steps are 128 times one.
            front = once(reached & empty)
        jumps = (self.jumps.step(self._knights(position, threats)) - own) & answers
        edge = self.board.rank(self.size - 1) & answers
        under = stack([squares & edge for squares in (takes[0], pushes[0], takes[1])])
        words = []
        for far, jump, last in zip(zip(*slides, strict=True), jumps, under, strict=True):
            lines = once(jnp.stack(far)).T.reshape(-1)  # from [size - 1, 8]
            words.append(jnp.concatenate([lines, jump, *[last] * len(self.underpromotions)]))
        return Bits(*words)

    def jump(self, knights: Bits) -> Bits:
        """Return the squares that knights attack."""
        return union([self.board.step(knights, way) for way in JUMPS])

    def _free(self, position: BoardPosition, threats: Threats, way: Direction) -> Bits:
        """Return the own pieces that no pin keeps from moving `way`."""
        along = next(i for i, line in enumerate(LINES) if line in (way, back(way)))
        return position.own - union([squares for i, squares in enumerate(threats.pinned) if i != along])

    def _knights(self, position: BoardPosition, threats: Threats) -> Bits:
        """Return the own knights that may move: a pinned one has no move."""
        return position.own & position.kind(KNIGHT) - union(threats.pinned)

    def _pushes(self, position: BoardPosition, threats: Threats, empty: Bits) -> tuple[Bits, Bits]:
        """Return the squares where pawns go by one step and, from the rank where they begin, by two."""
        pawns = self._free(position, threats, N) & position.kind(PAWN)
        once = self.board.step(pawns, N) & empty
        return once, self.board.step(once & self.board.rank(2), N) & empty

    def _takes(self, position: BoardPosition, threats: Threats) -> list[Bits]:
        """List the squares where pawns take, by TAKES."""
        pawns = position.kind(PAWN)
        return [self.board.step(self._free(position, threats, way) & pawns, way) & position.enemy for way in TAKES]

    def _castles(self, position: BoardPosition, threats: Threats) -> dict[Direction, Bits]:
        found, occupied = {}, position.own | position.enemy
        for number, (castle, way) in enumerate(zip(self.castles, (E, W), strict=True)):
            may = (position.castling & np.uint8(1 << number)) != 0
            may &= ~(occupied & castle.between).any() & ~(threats.attacked & castle.path).any()
            found[way] = only_if(may, castle.king_to)
        return found


class Castle:
    """One of the two ways to castle, on the mover's first rank."""

    def __init__(self, king: int, rook: int) -> None:
        way = 1 if rook > king else -1
        self.king_to = constant(king + 2 * way)
        self.rook_from, self.rook_to = constant(rook), constant(king + way)
        self.rook_file = rook
        self.between = constant(*range(min(king, rook) + 1, max(king, rook)))
        self.path = constant(*(king + way * i for i in range(3)))
        """The squares that the king stands on before, on its way, and after."""


def _by_direction(sets: dict[Direction, Bits]) -> Bits:
    """Stack the given sets by direction, sets [8]; empty ones elsewhere."""
    return stack([sets.get(direction, EMPTY) for direction in DIRECTIONS])
