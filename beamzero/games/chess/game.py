"""Chess, on the usual board and on one of 6 x 6 squares."""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.core.errors import BadInput
from beamzero.games import grid
from beamzero.games.bits import Bits, union
from beamzero.games.chess import notation
from beamzero.games.chess.board import once
from beamzero.games.chess.features import CHESS_POINTS, find_features
from beamzero.games.chess.moves import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, BoardPosition, Variant
from beamzero.games.chess.order import find_order, is_noisy
from beamzero.games.chess.state import (
    BOARD,
    KEYS,
    ChessState,
    Ending,
    board_of,
    enough_material,
    flip_position,
    hash_position,
    make_move,
    passed_file,
    position_of,
)
from beamzero.games.game import Game, keep_if
from beamzero.games.hashing import hash_words, words_of
from beamzero.games.places import Place
from beamzero.games.views import GridView

_HORIZON = 64
"""The most plies that a search looks ahead."""

_compiled = functools.partial(jax.jit, static_argnums=0)


@dataclasses.dataclass(frozen=True)
class _AnyChess(Game):
    """The rules of chess on a board of any size.

    An action is ``plane * size**2 + square``: the square to move from and the kind of move, see `moves.py`, both as
    the mover sees them, with the board turned for black. A pawn that reaches the last rank becomes a queen, unless
    the plane says otherwise.

    The rules are compiled even where they are called for one state from plain Python, since they are thousands of
    small operations.
    """

    speaks_uci: ClassVar[bool] = True
    variant: ClassVar[Variant]
    start: ClassVar[str]
    kinds: ClassVar[tuple[int, ...]]
    """The pieces there are, in the order of their planes in an observation."""

    max_plies: int = 1024
    fifty_moves: bool = True
    threefold: bool = True
    history: int = 1

    def __post_init__(self) -> None:
        for field, low, high in (("max_plies", 1, 20_000), ("history", 1, 64)):
            if not low <= getattr(self, field) <= high:
                raise BadInput(f"{self.name}: {field} is {getattr(self, field)}, but must be {low} to {high}")

    @property
    def num_actions(self) -> int:
        return self.variant.planes * self.variant.size**2

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return (self.variant.size, self.variant.size, self.history * (2 * len(self.kinds) + 1) + 7)

    # --- the rules -------------------------------------------------------------------------------------------------

    def init(self, key: Array) -> ChessState:
        return self._blank(notation.read_fen(self.variant, self.start))

    def _blank(self, fen: notation.Fen) -> ChessState:
        """Make the state of a game that begins here, without what `_arrive` finds by the rules, such as its end."""
        board = {name: jnp.uint32(word) for name, word in zip(BOARD, fen.words, strict=True)}
        castling, passed, ply = jnp.uint8(fen.castling), jnp.uint8(fen.passed), jnp.int32(fen.ply)
        key = hash_position(board.values(), castling, passed, ply & 1)
        here = np.arange(KEYS) == fen.clock % KEYS
        return ChessState(
            **board,
            castling=castling,
            passed=passed,
            ply=ply,
            clock=jnp.int32(fen.clock),
            check=jnp.bool_(False),
            ending=jnp.int8(0),
            repeats=jnp.int8(0),
            twice_lo=jnp.uint32(0),
            twice_hi=jnp.uint32(0),
            keys_lo=jnp.where(here, key.lo, np.uint32(0)),
            keys_hi=jnp.where(here, key.hi, np.uint32(0)),
            earlier=jnp.zeros((self.history - 1, 8), jnp.uint32),
            earlier_repeats=jnp.zeros(self.history - 1, jnp.int8),
        )

    def player(self, state: ChessState) -> Array:
        return state.ply & 1

    def _position(self, state: ChessState) -> BoardPosition:
        return position_of(self.variant, state[:8], state.castling, state.passed)

    def _targets(self, state: ChessState) -> Bits:
        """Return the squares that legal moves lead to, sets [P] by plane."""
        position = self._position(state)
        return once(self.variant.targets(*once((position, self.variant.threats(position)))))

    @_compiled
    def legal(self, state: ChessState) -> Array:
        """Return which actions are legal: targets, moved back to where their moves come from, by plane."""
        size = self.variant.size
        squares = np.arange(size**2, dtype=np.int32)
        bits = (squares // size * 8 + squares % size)[None] + self.variant.offsets[:, None]  # [P, size**2]
        targets = self._targets(state)
        inside = (bits >= 0) & (bits < 64)
        found = Bits(targets.lo[:, None], targets.hi[:, None]).has(np.where(inside, bits, 0))
        return (found & inside).reshape(-1)

    @_compiled
    def moves(self, state: ChessState) -> tuple[Array, Array]:
        slots = jnp.arange(self.max_moves, dtype=jnp.int32)
        actions, count = self._nth_action(self._targets(state), slots)
        return jnp.where(slots < count, actions, 0), count

    @_compiled
    def pick(self, state: ChessState, draw: Array) -> Array:
        targets = self._targets(state)
        total = jnp.sum(targets.number())
        rank = jnp.minimum((draw * total.astype(jnp.float32)).astype(jnp.int32), total - 1)
        return self._nth_action(targets, rank)[0]

    def _nth_action(self, targets: Bits, rank: Array) -> tuple[Array, Array]:
        """Return the action of the move with `rank` others before it, plane by plane; and the number of moves."""
        planes = self.variant.planes
        # A sum up to each plane; as a matrix product it is many times faster than jnp.cumsum.
        sums = jnp.dot(targets.number().astype(jnp.float32), np.tri(planes, dtype=np.float32).T)
        upto = once(sums.astype(jnp.int32))
        plane = functools.reduce(jnp.add, [(upto[i] <= rank).astype(jnp.int32) for i in range(planes - 1)])
        plane = once(plane)
        before = jnp.where(plane > 0, upto[plane - 1], 0)
        return self._action(plane, Bits(targets.lo[plane], targets.hi[plane]).nth(rank - before)), upto[-1]

    def _action(self, plane: Array, target: Array) -> Array:
        """Return the action of a plane's move that leads to the bit `target`."""
        origin = target - jnp.asarray(self.variant.offsets)[plane]
        size = self.variant.size
        return plane * size**2 + (origin >> 3) * size + (origin & 7)

    @_compiled
    def step(self, state: ChessState, action: Array) -> ChessState:
        after, lasting = make_move(self.variant, self._position(state), self.variant.read_action(action))
        moved = state._replace(
            ply=state.ply + 1,
            clock=jnp.where(lasting, 0, state.clock + 1),
            twice_lo=jnp.where(lasting, np.uint32(0), state.twice_lo),
            twice_hi=jnp.where(lasting, np.uint32(0), state.twice_hi),
        )
        if self.history > 1:
            moved = moved._replace(
                earlier=jnp.concatenate([once(jnp.stack(state[:8]))[None], state.earlier[:-1]]),
                earlier_repeats=jnp.concatenate([state.repeats[None], state.earlier_repeats[:-1]]),
            )
        return keep_if(self.over(state), state, self._arrive(moved, flip_position(self.variant, after)))

    def _arrive(self, state: ChessState, position: BoardPosition) -> ChessState:
        """Put `position` on the board of `state`, with all that follows from the rules."""
        position = once(position)
        threats = self.variant.threats(position)
        check, passing, free = once(
            (
                threats.checkers.any().astype(jnp.uint8),
                union(threats.passing).any().astype(jnp.uint8),
                self.variant.can_move(position, threats).astype(jnp.uint8),
            )
        )
        passed = passed_file(self.variant, position) * passing
        board = board_of(position)
        key = once(hash_position(board.values(), position.castling, passed, self.player(state)))
        numbers = np.arange(KEYS, dtype=np.int32)
        same = (state.keys_lo == key.lo) & (state.keys_hi == key.hi) & (numbers < state.clock)
        repeats = once(jnp.sum(same, dtype=jnp.uint8)).astype(jnp.int8)
        ending = jnp.where(state.ply >= self.max_plies, Ending.LENGTH, Ending.NONE)
        if self.fifty_moves:
            ending = jnp.where(state.clock >= 100, Ending.FIFTY_MOVES, ending)
        if self.threefold:
            ending = jnp.where(repeats >= 2, Ending.THREEFOLD, ending)
        ending = jnp.where(enough_material(self.variant, position), ending, Ending.MATERIAL)
        stuck = jnp.where(check != 0, Ending.CHECKMATE, Ending.STALEMATE)
        here = numbers == state.clock % KEYS
        return state._replace(
            **board,
            castling=position.castling,
            passed=passed,
            check=check != 0,
            ending=jnp.where(free != 0, ending, stuck).astype(jnp.int8),
            repeats=repeats,
            twice_lo=state.twice_lo + jnp.where(repeats == 1, key.lo, np.uint32(0)),
            twice_hi=state.twice_hi + jnp.where(repeats == 1, key.hi, np.uint32(0)),
            keys_lo=jnp.where(here, key.lo, state.keys_lo),
            keys_hi=jnp.where(here, key.hi, state.keys_hi),
        )

    def over(self, state: ChessState) -> Array:
        return state.ending != Ending.NONE

    def score(self, state: ChessState) -> Array:
        mated = state.ending == Ending.CHECKMATE
        return jnp.where(mated, 2 * self.player(state) - 1, 0).astype(jnp.float32)

    @_compiled
    def observe(self, state: ChessState) -> Array:
        """Show a net [size, size, channels], the mover's first rank first.

        For this position and each of those before it: a plane for each kind of piece of the mover (pawn, knight,
        bishop, rook, queen, king), the same for the other side, and one with how often the position had been there
        before. Then seven planes: 1 for black; full moves, as a share of the longest game; whether the mover, and the
        other side, may castle to the king's and to the queen's side; plies without progress, of 100.
        """
        size, ages = self.variant.size, self.history
        words = jnp.concatenate([jnp.stack(state[:8])[None], state.earlier])  # [H, 8]
        seen = position_of(self.variant, list(words.T), jnp.zeros(ages, jnp.uint8), jnp.zeros(ages, jnp.uint8))
        # The other side was to move one, three, five plies ago, and saw the board from its side.
        turned = np.arange(ages) % 2 == 1
        position = jax.tree.map(functools.partial(jnp.where, turned), flip_position(self.variant, seen), seen)
        pieces = [owner & position.kind(kind) for owner in (position.own, position.enemy) for kind in self.kinds]
        rest = [
            self.player(state).astype(jnp.float32),
            (state.ply >> 1).astype(jnp.float32) / np.float32(max(1, self.max_plies >> 1)),
            *((state.castling >> np.uint8(i) & np.uint8(1)).astype(jnp.float32) for i in range(4)),
            state.clock.astype(jnp.float32) / np.float32(100),
        ]
        # Each channel is a set of squares, or a number that is the same everywhere: two rows of words, one of numbers.
        sets = [
            jnp.concatenate([jnp.stack([*words, jnp.zeros_like(words[0])], axis=1).reshape(-1), np.zeros(7, np.uint32)])
            for words in zip(*pieces, strict=True)
        ]
        was_there = jnp.concatenate([state.repeats[None], state.earlier_repeats])
        repeats = jnp.zeros((ages, len(pieces) + 1), jnp.float32).at[:, -1].set(was_there.astype(jnp.float32))
        numbers = jnp.concatenate([repeats.reshape(-1), jnp.stack(rest)])
        lo, hi, numbers = once((*sets, lax.bitcast_convert_type(numbers, jnp.uint32)))
        squares = np.arange(size**2, dtype=np.int32)
        bits = (squares // size * 8 + squares % size)[:, None]
        planes = Bits(lo[None], hi[None]).has(bits).astype(jnp.float32)
        planes += lax.bitcast_convert_type(numbers, jnp.float32)[None]
        return planes.reshape(self.observation_shape)

    # --- for searches ----------------------------------------------------------------------------------------------

    @_compiled
    def features(self, state: ChessState) -> Array:
        """Count material, activity, pawns and the king's safety: see `features.py`."""
        found = find_features(self.variant, self._position(state))
        return jnp.stack([found[name] for name in self.feature_names]).astype(jnp.float32)

    @_compiled
    def noisy(self, state: ChessState, action: Array) -> Array:
        """Tell whether a piece is taken that is worth it or not defended, or a pawn becomes a queen."""
        position = self._position(state)
        attacked = self.variant.threats(position).attacked
        return is_noisy(self.variant, position, attacked, self.variant.read_action(action))

    def must_answer(self, state: ChessState) -> Array:
        return state.check

    @_compiled
    def order(self, state: ChessState, action: Array) -> Array:
        """Put captures first, the best ones before others, then threats, then moves forward, then moves back."""
        position = self._position(state)
        attacked = self.variant.threats(position).attacked
        return find_order(self.variant, position, attacked, self.variant.read_action(action))

    @_compiled
    def hash(self, state: ChessState) -> Array:
        """Mix the position, those that have been there twice, and the counts where they near their limits, into a key.

        A position that has been there once is left out: to end the game it would have to come twice more, which takes
        at least five plies.
        """
        here = state.clock % KEYS
        words = [state.keys_lo[here], state.keys_hi[here]]
        near = state.ply >= self.max_plies - _HORIZON
        words.append(jnp.where(near, state.ply, 0).astype(jnp.uint32))
        if self.fifty_moves:
            words.append(jnp.where(state.clock >= 100 - _HORIZON, state.clock, 0).astype(jnp.uint32))
        if self.threefold:
            words += [state.twice_lo, state.twice_hi]
        if self.threefold and not self.fifty_moves:  # Positions get out of sight, so all in sight count.
            near = state.clock >= KEYS - _HORIZON
            words += [jnp.where(near, x, np.uint32(0)) for x in words_of((state.clock, state.keys_lo, state.keys_hi))]
        return hash_words(*words)

    # --- for people ------------------------------------------------------------------------------------------------

    def read_position(self, text: str) -> ChessState:
        """Read a position from a line of FEN; move counts may be left out."""
        fen = notation.read_fen(self.variant, text)
        if fen.ply >= self.max_plies:
            raise BadInput(f"{text!r} is no position: the longest game has {self.max_plies} plies")
        state, waiting_in_check = _complete(self, self._blank(fen))
        if bool(waiting_in_check):
            raise BadInput(f"{text!r} is no position: the side that is not to move is in check")
        return state

    def write_position(self, state: ChessState) -> str:
        return notation.write_fen(self.variant, state)

    def show(self, state: ChessState, seat: int = 0) -> str:
        return grid.draw(notation.cells(self.variant, state))

    def view(self, state: ChessState, seat: int = 0) -> GridView:
        cells = notation.cells(self.variant, state)
        return grid.view(cells, checkered=True, turn=True, sides=["White", "Black"], pieces=notation.PIECES)

    def action_name(self, state: ChessState, action: int) -> str:
        return self._san(state, self._moves(state), action)

    def parse_action(self, state: ChessState, text: str) -> int:
        """Read a move in SAN, with or without the signs of check and mate, or in UCI."""
        wanted, moves = text.strip(), self._moves(state)
        san = wanted.rstrip("+#!?").replace("0", "O") if wanted.startswith("0") else wanted.rstrip("+#!?")
        rows, all_moves = notation.cells(self.variant, state), list(moves.values())
        for action, move in moves.items():
            if wanted.lower() == move.uci or san == notation.write_san(rows, move, all_moves, ""):
                return action
        names = [self._san(state, moves, action) for action in moves]
        raise BadInput(f"{wanted!r} is not a legal move here (legal: {' '.join(names) or 'none, the game is over'})")

    def places(self, state: ChessState, action: int) -> list[Place]:
        move = notation.read_action(self.variant, notation.cells(self.variant, state), int(state.ply) & 1, action)
        return [list(divmod(bit, 8)) for bit in (move.origin, move.target)]

    def _moves(self, state: ChessState) -> dict[int, notation.WrittenMove]:
        """List the legal actions with their moves."""
        rows, side = notation.cells(self.variant, state), int(state.ply) & 1
        return {a: notation.read_action(self.variant, rows, side, a) for a in self.legal_actions(state)}

    def _san(self, state: ChessState, moves: dict[int, notation.WrittenMove], action: int) -> str:
        suffix = ("", "+", "#")[int(_gives_check(self, state, action))]
        return notation.write_san(notation.cells(self.variant, state), moves[action], list(moves.values()), suffix)

    def play_on(self, state: ChessState) -> ChessState:
        """Return `state` as if a draw by repetition, fifty moves, material or length had not ended the game."""
        claimed = int(state.ending) in (Ending.MATERIAL, Ending.THREEFOLD, Ending.FIFTY_MOVES, Ending.LENGTH)
        return state._replace(ending=jnp.int8(Ending.NONE)) if claimed else state

    def outcome_reason(self, state: ChessState) -> str:
        ending = Ending(int(state.ending))
        if ending is Ending.CHECKMATE:
            return f"checkmate: {'White' if float(self.score(state)) > 0 else 'Black'} wins"
        return f"draw: {_DRAWS[ending]}"


_DRAWS = {
    Ending.STALEMATE: "stalemate",
    Ending.MATERIAL: "neither side has enough to give mate",
    Ending.THREEFOLD: "the same position for the third time",
    Ending.FIFTY_MOVES: "fifty moves without a capture or a pawn's move",
    Ending.LENGTH: "the game is too long",
    Ending.NONE: "the game goes on",
}


@_compiled
def _complete(game: _AnyChess, state: ChessState) -> tuple[ChessState, Array]:
    """Add to `state` all that follows from the rules; and tell whether the side that is not to move is in check."""
    position = game._position(state)
    waiting = game.variant.threats(flip_position(game.variant, position))
    return game._arrive(state, position), waiting.checkers.any()


@_compiled
def _gives_check(game: _AnyChess, state: ChessState, action: Array) -> Array:
    """Return 0 for a quiet move, 1 for check, 2 for mate, int32 []."""
    after = game.step(state, action)
    mate = after.ending == Ending.CHECKMATE
    return game.must_answer(after).astype(jnp.int32) + mate.astype(jnp.int32)


@dataclasses.dataclass(frozen=True)
class Chess(_AnyChess):
    """Chess by the rules of FIDE: draws by repetition, fifty moves and dead positions end the game at once.

    `max_moves` is the most that any position has. A game is cut, as a draw, after `max_plies`.
    """

    history: int = 8

    name: ClassVar[str] = "chess"
    variant: ClassVar[Variant] = Variant(8, king_file=4, underpromotions=(KNIGHT, BISHOP, ROOK))
    kinds: ClassVar[tuple[int, ...]] = (PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING)
    start: ClassVar[str] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    max_moves = 218
    feature_names: ClassVar[tuple[str, ...]] = tuple(CHESS_POINTS)
    point_weights: ClassVar[tuple[float, ...]] = tuple(CHESS_POINTS.values())


_SMALL_POINTS = {name: points for name, points in CHESS_POINTS.items() if name != "bishops"}
_SMALL_POINTS |= {"pawn_steps": 0.05, "passed_steps": 0.25}  # A pawn is soon a queen on a small board.


@dataclasses.dataclass(frozen=True)
class Chess6x6(_AnyChess):
    """Chess without bishops on 6 x 6 squares; a pawn becomes a queen.

    On no square has a queen more than 19 moves, and on all but four at most 17; with all pawns promoted, rooks of 10,
    knights of 8 and a king of 8 moves, that is fewer than `max_moves` in any position.
    """

    max_plies: int = 512

    name: ClassVar[str] = "chess6x6"
    uci_variant: ClassVar[str | None] = "chess6x6"
    variant: ClassVar[Variant] = Variant(6, king_file=3, underpromotions=())
    kinds: ClassVar[tuple[int, ...]] = (PAWN, KNIGHT, ROOK, QUEEN, KING)
    start: ClassVar[str] = "rnqknr/pppppp/6/6/PPPPPP/RNQKNR w KQkq - 0 1"
    max_moves = 4 * 19 + 3 * 17 + 2 * 10 + 2 * 8 + 8
    feature_names: ClassVar[tuple[str, ...]] = tuple(_SMALL_POINTS)
    point_weights: ClassVar[tuple[float, ...]] = tuple(_SMALL_POINTS.values())
