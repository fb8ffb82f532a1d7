"""Which moves are legal, found for the whole board at once.

A move is a square to move from and one of P planes: a direction and a distance, a knight's jump, or an
underpromotion. The moves of one plane are a set of squares, the ones they lead to. A slider's plane grows out of the
one a step shorter. Pins and checks are sets too, found once: a piece may move along the line on which it is pinned, and
where the king is in check, only to squares that end it. Everything is seen from the side to move, whose pawns go up.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.games.bits import Bits, constant, only_if
from beamzero.games.chess.board import NONE, Board, Compass, Direction, choose, union

N, NE, E, SE, S, SW, W, NW = (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)
DIRECTIONS: tuple[Direction, ...] = (N, NE, E, SE, S, SW, W, NW)
JUMPS: tuple[Direction, ...] = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
TAKES: tuple[Direction, ...] = (NW, NE)
UNDERPROMOTIONS: tuple[Direction, ...] = (NW, N, NE)

# Three bits say what stands on a square: 4 for a slider, of which 1 goes along diagonals and 2 along lines.
PAWN, KNIGHT, KING, BISHOP, ROOK, QUEEN = 0b001, 0b010, 0b011, 0b101, 0b110, 0b111
LETTERS = {PAWN: "P", KNIGHT: "N", BISHOP: "B", ROOK: "R", QUEEN: "Q", KING: "K"}


class Position(NamedTuple):
    """A position as the side to move sees it."""

    own: Bits
    enemy: Bits
    kinds: tuple[Bits, Bits, Bits]  # the squares where bit 0, 1, 2 of the piece is set
    castling: Array  # uint8 [] 1: may castle to the king's side, 2: to the queen's; 4 and 8: the other side may
    passed: Bits  # the square that a pawn has just passed over in a double step, or none

    def kind(self, kind: int) -> Bits:
        """The squares of all pieces of a kind, of both sides."""
        first, second, third = self.kinds
        squares = self.own | self.enemy
        for wanted, plane in zip((kind & 1, kind & 2, kind & 4), (first, second, third), strict=True):
            squares = squares & plane if wanted else squares - plane
        return squares

    @property
    def straight(self) -> Bits:
        """Rooks and queens."""
        return self.kinds[2] & self.kinds[1]

    @property
    def sliders(self) -> Bits:
        """[8] by direction: bishops and queens, or rooks and queens."""
        diagonal = self.kinds[2] & self.kinds[0]
        straight = np.array([not (files and ranks) for files, ranks in DIRECTIONS])
        return choose(straight, self.straight, diagonal)


class Moves(NamedTuple):
    """The legal moves of a position, as sets of the squares they lead to."""

    near: Bits  # [8] by direction: moves by one square
    double: Bits  # [8] by two
    far: Bits  # [size - 3, 8] by three and more
    jumps: Bits  # [8] knights' moves
    under: Bits  # [3] pawns' moves to the last rank, by the directions of UNDERPROMOTIONS
    check: Array  # bool [] whether the king is attacked
    passing: Array  # bool [] whether a pawn may be taken in passing

    def exist(self) -> Array:
        """bool: whether there is any."""
        slides = union(union(self.far)) | union(self.near | self.double | self.jumps)
        return slides.any()


class _Sight(NamedTuple):
    """What is seen along lines, [8] by direction."""

    attacks: Bits  # what the enemy's sliders see; the king does not hide the squares behind it
    seen: Bits  # what the king sees
    beyond: Bits  # what it would see behind the first of its own pieces
    opened: Bits  # [4] what it would see along its rank after a capture in passing, to the left or right, either way


class _Threats(NamedTuple):
    """What the enemy does to the king."""

    attacked: Bits  # squares that the king must not go to
    answers: Bits  # where a piece other than the king may go: anywhere, or to end the check
    checkers: Bits
    single: Array  # bool [] whether exactly one piece gives check
    pinned: Bits  # [8] by direction: pieces that may only move along its line


@dataclasses.dataclass(frozen=True)
class Variant:
    """A size of board, the file of the king, the pieces beside the queen that a pawn may become."""

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

    @functools.cached_property
    def ranks(self) -> Compass:
        return Compass(self.size, (E, W, E, W))

    @property
    def planes(self) -> int:
        return 8 * (self.size - 1) + 8 + 3 * len(self.underpromotions)

    @functools.cached_property
    def offsets(self) -> np.ndarray:
        """int32 [P]: how far the bit of the target lies above that of the origin."""
        slides = [(files * i, ranks * i) for files, ranks in DIRECTIONS for i in range(1, self.size)]
        steps = [*slides, *JUMPS, *(UNDERPROMOTIONS * len(self.underpromotions))]
        return np.array([8 * ranks + files for files, ranks in steps], np.int32)

    def plane(self, direction: Direction, distance: int) -> int:
        """The number of a sliding plane."""
        return DIRECTIONS.index(direction) * (self.size - 1) + distance - 1

    def join(self, moves: Moves) -> Bits:
        """[P]: all moves by plane."""
        words = []
        for near, double, far, jumps, under in zip(*moves[:5], strict=True):
            slides = jnp.concatenate([near[None], double[None], far]).T.reshape(-1)
            words.append(jnp.concatenate([slides, jumps, *[under] * len(self.underpromotions)]))
        return Bits(*words)

    @functools.cached_property
    def castles(self) -> tuple[Castle, Castle]:
        """To the king's side, and to the queen's."""
        return Castle(self.king_file, self.size - 1), Castle(self.king_file, 0)

    # --- the moves ---------------------------------------------------------------------------------------------------

    def moves(self, position: Position) -> Moves:
        """All legal moves."""
        own, occupied = position.own, position.own | position.enemy
        empty = self.board.squares - occupied
        king, pawns = own & position.kind(KING), own & position.kind(PAWN)
        takers = [self.board.step(position.passed, (-files, -ranks)) & pawns for files, ranks in TAKES]
        sight = self._look(position, king, takers, empty)
        threats = self._threats(position, king, sight)

        free = (own - union(threats.pinned)) | threats.pinned  # [8] what may move in each direction
        pushes = self._pushes(pawns & _in(free, N), empty)
        takes = [self.board.step(pawns & _in(free, way), way) & position.enemy for way in TAKES]
        passing = [
            self._passing(position, threats, takers[i] & _in(free, way), _pair(sight.opened, i))
            for i, way in enumerate(TAKES)
        ]
        castles = self._castles(position, threats, occupied)
        near = _by_direction({N: pushes[0], NW: takes[0], NE: takes[1]}) & threats.answers
        near |= (self.compass.step(king) - own - threats.attacked) | _by_direction(
            dict(zip(TAKES, passing, strict=True))
        )
        double = (_by_direction({N: pushes[1]}) & threats.answers) | _by_direction(castles)
        slides = self._slides(position.sliders & free, own, empty, threats.answers)
        knights = own & position.kind(KNIGHT) & _in(free, N) & _in(free, E)  # a pinned knight has no move
        last = self.board.rank(self.size - 1) & threats.answers
        under = [squares & last for squares in (takes[0], pushes[0], takes[1])]
        return Moves(
            near=_at(slides, 0) | near,
            double=_at(slides, 1) | double,
            far=_at(slides, slice(2, None)),
            jumps=(self.jumps.step(knights) - own) & threats.answers,
            under=_stack(under),
            check=threats.checkers.any(),
            passing=(passing[0] | passing[1]).any(),
        )

    def _look(self, position: Position, king: Bits, takers: list[Bits], empty: Bits) -> _Sight:
        """Look along all lines, a square further with each turn of the loop.

        The loop is there for XLA's sake as well: what it carries is computed once, while in a long chain of operations
        everything is computed anew for each of its uses.
        """
        victim = self.board.step(position.passed, S)
        # A pawn that could be taken in passing is looked at like a pinned piece: it might shield the king.
        own, through = position.own | victim, empty | king
        opened = empty | victim | _stack([takers[0], takers[0], takers[1], takers[1]])

        def body(_: Array, carry: tuple[_Sight, _Sight]) -> tuple[_Sight, _Sight]:
            front, found = carry
            attacks, seen, beyond = (self.compass.step(squares) for squares in front[:3])
            along = self.ranks.step(front.opened)
            reached = _Sight(attacks, seen, beyond, along)
            front = _Sight(attacks & through, seen & empty, (seen & own) | (beyond & empty), along & opened)
            return front, _Sight(*(old | new for old, new in zip(found, reached, strict=True)))

        none, none4 = (Bits(jnp.zeros(n, jnp.uint32), jnp.zeros(n, jnp.uint32)) for n in (8, 4))
        front = _Sight((position.enemy & position.sliders) | none, king | none, none, king | none4)
        return lax.fori_loop(0, self.size - 1, body, (front, _Sight(none, none, none, none4)))[1]

    def _threats(self, position: Position, king: Bits, sight: _Sight) -> _Threats:
        board, enemy = self.board, position.enemy
        knights, pawns, sliders = enemy & position.kind(KNIGHT), enemy & position.kind(PAWN), enemy & position.sliders
        attacks = sight.attacks | self.compass.step(enemy & position.kind(KING)) | self.jumps.step(knights)
        attacked = union(attacks) | board.step(pawns, SW) | board.step(pawns, SE)
        hits = sight.seen & sliders
        close = (union(self.jumps.step(king)) & knights) | ((board.step(king, NW) | board.step(king, NE)) & pawns)
        checkers = union(hits) | close
        single = checkers.number() == 1
        ending = only_if(single, union(only_if(hits.any(), sight.seen)) | close)
        shields = sight.seen & (position.own | board.step(position.passed, S))
        pinned = only_if((sight.beyond & sliders).any(), shields)
        pinned |= Bits(jnp.roll(pinned.lo, 4), jnp.roll(pinned.hi, 4))
        return _Threats(attacked, choose(checkers.any(), ending, board.squares), checkers, single, pinned)

    def _slides(self, sliders: Bits, own: Bits, empty: Bits, answers: Bits) -> Bits:
        """[size - 1, 8]: by distance and direction, where bishops, rooks and queens may go."""

        def further(front: Bits, _: None) -> tuple[Bits, Bits]:
            reached = self.compass.step(front) - own
            return reached & empty, reached & answers

        return lax.scan(further, sliders, length=self.size - 1)[1]

    def _pushes(self, pawns: Bits, empty: Bits) -> tuple[Bits, Bits]:
        """Where pawns go by one step and, from the rank where they begin, by two."""
        once = self.board.step(pawns, N) & empty
        return once, self.board.step(once & self.board.rank(2), N) & empty

    def _passing(self, position: Position, threats: _Threats, taker: Bits, opened: Bits) -> Bits:
        """The square passed over, where the pawn `taker` may take in passing and leaves `opened` to the king's view."""
        victim = self.board.step(position.passed, S)
        # Two pawns leave the rank at once: neither was pinned, yet the king may now stand open along it.
        bare = (opened & position.enemy & position.straight).any()
        bare |= ((_in(threats.pinned, NE) | _in(threats.pinned, NW)) & victim).any()
        ends_check = (position.passed & threats.answers).any() | (threats.single & (victim & threats.checkers).any())
        return only_if(taker.any() & ~bare & ends_check, position.passed)

    def _castles(self, position: Position, threats: _Threats, occupied: Bits) -> dict[Direction, Bits]:
        found = {}
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


def _in(squares: Bits, direction: Direction) -> Bits:
    """The set of one direction."""
    return _at(squares, DIRECTIONS.index(direction))


def _by_direction(sets: dict[Direction, Bits]) -> Bits:
    """[8]: the given sets, and none elsewhere."""
    found = NONE
    for direction, squares in sets.items():
        here = np.array([direction == other for other in DIRECTIONS])
        found = choose(here, squares, found)
    return found


def _stack(sets: list[Bits]) -> Bits:
    return Bits(*(jnp.stack(words) for words in zip(*sets, strict=True)))


def _at(sets: Bits, place: int | slice) -> Bits:
    return Bits(sets.lo[place], sets.hi[place])


def _pair(opened: Bits, number: int) -> Bits:
    """The union of entries 2 * number and the next."""
    return _at(opened, 2 * number) | _at(opened, 2 * number + 1)
