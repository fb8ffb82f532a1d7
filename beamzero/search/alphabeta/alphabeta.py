"""Minimax and alpha-beta searches, by iterative deepening until a limit is reached."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.search import integer_value
from beamzero.search.alphabeta.lanes import LaneSearcher
from beamzero.search.alphabeta.negamax import DepthSearcher, Rules, Searcher
from beamzero.search.alphabeta.transpositions import ENTRY_BYTES
from beamzero.search.children import listed_moves
from beamzero.search.evaluator import Evaluator, RootMoves, SearchResult, choose_move, spread, zero_evaluator
from beamzero.search.limit import MAX_DEPTH, Limit
from beamzero.search.protocol import UNLIMITED, Option, Outlook, Search, Spent

_MOST_HASH = 1024
"""Megabytes."""

MOST_LANES = 1024
"""The most nodes that are expanded at once."""


class Found(NamedTuple):
    """The results of the deepest search of one position that came to its end."""

    depth: Array  # int32 [] plies; 0: there was none yet
    score: Array  # int32 [] for the side to move
    complete: Array  # bool [] whether all lines that decide the score ended by the rules
    line: Array  # int32 [R] the best line, -1 where it ends
    moves: Array  # int32 [W] score of each move, in the order of `Game.moves`; an upper bound except for the best
    moves_complete: Array  # bool [W]
    nodes: Array  # int32 [] positions looked at, those of shallower searches included


class Deepening(NamedTuple):
    """A search of B positions, one after the other, each a ply deeper each time."""

    roots: State  # [B, ...]
    row: Array  # int32 [] the position that is searched; B: all are
    stack: Any  # the search of that depth: a `Stack`, or in lanes a `LaneTree`
    depth: Array  # int32 [] the plies of the search under way
    found: Found  # [B, ...]
    units: Array  # int32 [] nodes expanded, of all positions together


@dataclasses.dataclass(frozen=True)
class AlphaBeta(Search):
    """Alpha-beta some plies deep. Without pruning, order and table it is textbook minimax."""

    depth: int = MAX_DEPTH
    """The depth in plies."""
    nodes: int = UNLIMITED
    """Positions after which the search ends; the first ply is always searched."""
    prune: bool = True
    """Leave out what cannot matter (alpha-beta)."""
    order: bool = True
    """Search likely moves first."""
    quiet: int = 0
    """Plies beyond the depth that noisy moves are followed (quiescence search)."""
    entries: int = 2**16
    """Places in the table of positions, a power of two; 0 for no table."""
    deepen: bool = True
    """Search one ply, then two and so on; the best move of the search before comes first."""
    every_move: bool = False
    """Find the exact score of each move, not only of the best one."""
    lanes: int = 1
    """Nodes of the tree that are expanded at once."""

    keeps_line = True
    one_by_one = True

    def __post_init__(self) -> None:
        Limit(depth=self.depth, nodes=min(self.nodes, UNLIMITED - 1))
        if self.entries & (self.entries - 1) or not 0 <= self.entries <= 2**28:
            raise BadInput(f"a table of {self.entries} entries is not possible: 0 or a power of two up to {2**28}")
        if not 0 <= self.quiet <= 64:
            raise BadInput(f"quiet is {self.quiet}, but must be 0 to 64 plies")
        if not 1 <= self.lanes <= MOST_LANES:
            raise BadInput(f"lanes is {self.lanes}, but must be 1 to {MOST_LANES}")

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes of one search and its table, which all roots share: they are searched one after the other."""
        return self.entries * ENTRY_BYTES + self.searcher(game, zero_evaluator(game)).bytes_needed()

    def searcher(self, game: Game, evaluator: Evaluator) -> DepthSearcher:
        """Make the compiled part of the search, for one game and evaluator."""
        rules = Rules(min(self.depth, game.max_plies), self.prune, self.order, self.quiet, self.every_move)
        return Searcher(game, evaluator, rules) if self.lanes == 1 else LaneSearcher(game, evaluator, rules, self.lanes)

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> Deepening:
        """Begin with the first of B positions; its table serves the next ones."""
        searcher, size = self.searcher(game, evaluator), _size(states)
        first, depth = _take(states, 0), jnp.int32(self._first_depth(game))
        yes = jnp.bool_(True)
        stack = searcher.restart(searcher.new_search(first, searcher.new_memory(self.entries)), first, depth, yes, yes)
        zero = jnp.zeros(size, jnp.int32)
        line, moves = (jnp.zeros((size, width), jnp.int32) for width in (searcher.rows, searcher.width))
        nothing = Found(zero, zero, zero == 1, line, moves, moves == 1, zero)
        return Deepening(states, jnp.int32(0), stack, depth, nothing, jnp.int32(0))

    def _first_depth(self, game: Game) -> int:
        """Give the plies of the first search of a position."""
        return 1 if self.deepen else min(self.depth, game.max_plies)

    def advance(self, game: Game, evaluator: Evaluator, carry: Deepening, budget: Array | int) -> Deepening:
        """Expand up to `budget` more nodes, until one more depth of the current position has come to its end.

        The first depth of a position is searched to its end whatever the budget is.
        """
        searcher, size = self.searcher(game, evaluator), _size(carry.roots)
        goes_on, here = carry.row < size, _take(carry.found, jnp.minimum(carry.row, size - 1))
        is_first = here.depth == 0
        expansions = jnp.where(is_first & (budget > 0), UNLIMITED, budget)
        nodes = jnp.where(is_first, jnp.int32(2**31 - 1), self.nodes)
        stack = searcher.advance(carry.stack, jnp.where(goes_on, expansions, 0), nodes)
        spent = searcher.spending(stack)
        deeper = goes_on & spent.finished
        answer = Found(carry.depth, *searcher.answer(stack), spent.visited)
        here = jax.tree.map(lambda a, b: jnp.where(deeper, a, b), answer, here)
        depth = carry.depth + deeper.astype(jnp.int32)
        leaves = goes_on & self._is_done(game, here, depth, spent.visited + deeper.astype(jnp.int32))
        row = carry.row + leaves.astype(jnp.int32)
        root, depth = _take(carry.roots, jnp.minimum(row, size - 1)), jnp.where(leaves, self._first_depth(game), depth)
        stack = searcher.restart(stack, root, depth, deeper | leaves, leaves)
        found = jax.tree.map(lambda all_, one: all_.at[carry.row].set(one, mode="drop"), carry.found, here)
        return Deepening(carry.roots, row, stack, depth, found, carry.units + spent.expanded)

    def _is_done(self, game: Game, found: Found, depth: Array, visited: Array) -> Array:
        """Tell, bool [], whether a position is solved or the limits are reached."""
        certain = found.complete
        if not self.every_move:
            certain |= integer_value.is_decided(found.score)
        deep_enough = depth > min(self.depth, game.max_plies)
        return (found.depth > 0) & (certain | deep_enough | (visited >= self.nodes))

    def finish(self, game: Game, evaluator: Evaluator, carry: Deepening) -> Deepening:
        return lax.while_loop(
            lambda carry: carry.row < _size(carry.roots),
            lambda carry: self.advance(game, evaluator, carry, jnp.int32(UNLIMITED)),
            carry,
        )

    def done(self, game: Game, carry: Deepening) -> Array:
        return jnp.arange(_size(carry.roots), dtype=jnp.int32) < carry.row

    def spent(self, game: Game, carry: Deepening) -> Spent:
        here = jnp.arange(_size(carry.roots), dtype=jnp.int32) == carry.row
        searcher = self.searcher(game, zero_evaluator(game))
        nodes = jnp.where(here, searcher.spending(carry.stack).visited, carry.found.nodes)
        return Spent(carry.units, nodes, nodes, carry.found.depth)

    def result(self, game: Game, carry: Deepening, key: Array) -> SearchResult:
        moves, _, listed = listed_moves(game, carry.roots)
        found = carry.found._replace(moves=carry.found.moves[:, : moves.shape[1]])
        certain = found.moves_complete[:, : moves.shape[1]] | integer_value.is_decided(found.moves)
        if self.every_move or not self.prune:
            # By score, which prefers a nearer win to a later one, and at random between equals.
            values = jnp.where(listed, found.moves.astype(jnp.float32), -jnp.inf)
            chosen = choose_move(game, RootMoves(moves, listed, values, listed & certain), found.nodes, key)
        else:
            is_best = listed & (moves == found.line[:, :1])
            is_exact = is_best | (found.moves < -integer_value.ONE)  # of the others only an upper bound is known
            values = jnp.where(is_best, 0.0, -jnp.inf)
            chosen = choose_move(game, RootMoves(moves, listed, values, listed & certain & is_exact), found.nodes, key)
        values = spread(moves, listed, integer_value.to_value(found.moves), game.num_actions, -jnp.inf)
        return chosen._replace(values=values, value=integer_value.to_value(found.score))

    # --- on the host -----------------------------------------------------------------------------------------------

    def outlook(self, game: Game, carry: Deepening, result: SearchResult, row: int = 0) -> Outlook:
        found = jax.tree.map(lambda x: np.asarray(x)[row], carry.found)
        value, depth, line = int(found.score), int(found.depth), found.line.tolist()
        return Outlook(
            line=line[: line.index(-1)] if -1 in line else line,
            value=max(-1.0, min(1.0, value / integer_value.ONE)),
            proven=abs(value) > integer_value.ONE or bool(found.complete),
            plies=_plies(value, depth),
            plies_of_moves=[_plies(one, depth) for one in found.moves.tolist()],
        )

    def anytime(self) -> AlphaBeta:
        """Make a search that goes deeper ply by ply, and so has an early answer; all depths share its program."""
        return dataclasses.replace(self, depth=MAX_DEPTH, deepen=True)

    @property
    def bounds(self) -> Limit:
        return Limit(depth=self.depth)

    def with_every_move(self) -> AlphaBeta:
        return dataclasses.replace(self, every_move=True)

    def at_a_glance(self, plies: int) -> AlphaBeta:
        return dataclasses.replace(self, depth=min(self.depth, plies), every_move=True)

    @property
    def options(self) -> Mapping[str, Option]:
        found = {"Depth": Option(self.depth, 1, MAX_DEPTH)}
        if self.entries:
            found["Hash"] = Option(max(1, self.entries * ENTRY_BYTES // 2**20), 1, _MOST_HASH)
        return found

    def with_option(self, name: str, value: int) -> AlphaBeta:
        if name == "Depth":
            return dataclasses.replace(self, depth=value)
        return dataclasses.replace(self, entries=2 ** int(math.log2(value * 2**20 / ENTRY_BYTES)))


def _plies(value: int, depth: int) -> int | None:
    """Count the plies to the end of a game by its score; None where the end lies beyond the depth.

    Noisy moves can prove a win beyond the depth, but quiet moves may win sooner.
    """
    plies = integer_value.plies_to_end(value)
    return int(plies) if abs(value) > integer_value.ONE and plies <= depth else None


def _size(states: State) -> int:
    """Give B, the number of states."""
    return jax.tree.leaves(states)[0].shape[0]


def _take(rows: Any, row: Array | int) -> Any:
    """Take one row of every array of a pytree."""
    return jax.tree.map(lambda x: x[row], rows)
