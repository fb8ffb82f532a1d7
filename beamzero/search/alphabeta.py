"""Minimax and alpha-beta as a way to choose moves: deeper and deeper, until a limit is reached."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from beamzero.errors import BadInput
from beamzero.games import Game, State
from beamzero.search import worth
from beamzero.search.children import listed_moves
from beamzero.search.evaluator import Evaluator, RootMoves, SearchResult, choose_move, spread
from beamzero.search.limit import MAX_DEPTH, Limit
from beamzero.search.negamax import At, Memory, Node, Rules, Search, Searcher, unpack
from beamzero.search.transpositions import ENTRY_BYTES

UNLIMITED = 2**31 - 2**20
"""Positions that no search looks at."""


class Found(NamedTuple):
    """What the deepest search that came to its end says, in one position."""

    depth: Array  # int32 [] plies; 0: there was none yet
    worth: Array  # int32 [] for the side to move
    complete: Array  # bool [] whether every line that counts was played to the end
    line: Array  # int32 [R] the best line, -1 where it ends
    moves: Array  # int32 [W] worth of each move, in the order of `Game.moves`; of others than the best an upper bound
    moves_complete: Array  # bool [W]
    nodes: Array  # int32 [] positions looked at, those of shallower searches included


class Deepening(NamedTuple):
    """A search of one position, a ply deeper each time."""

    root: State
    search: Search
    depth: Array  # int32 [] the plies of the search under way
    found: Found


@dataclasses.dataclass(frozen=True)
class AlphaBeta:
    """Search a position some plies deep. Without pruning, order and table it is minimax as it stands in the books."""

    depth: int = MAX_DEPTH
    """Plies."""
    nodes: int = UNLIMITED
    """Positions after which no more are looked at; the first ply is always searched."""
    prune: bool = True
    """Leave out what cannot matter (alpha-beta)."""
    order: bool = True
    """Look at likely moves first."""
    quiet: int = 0
    """Plies beyond the depth that noisy moves are followed (quiescence search)."""
    entries: int = 2**16
    """Places in the table of positions, a power of two; 0 for no table."""
    deepen: bool = True
    """Search one ply, then two and so on; what was best before is looked at first."""
    every_move: bool = False
    """Find out exactly what each move is worth, not only the best one."""

    def __post_init__(self) -> None:
        Limit(depth=self.depth, nodes=min(self.nodes, UNLIMITED - 1))
        if self.entries & (self.entries - 1) or not 0 <= self.entries <= 2**28:
            raise BadInput(f"a table of {self.entries} entries is not possible: 0 or a power of two up to {2**28}")
        if not 0 <= self.quiet <= 64:
            raise BadInput(f"quiet is {self.quiet}, but must be 0 to 64 plies")

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes of the table of positions, which all roots share: they are searched one after the other."""
        return self.entries * ENTRY_BYTES

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        """Search a batch, one position after the other; what is remembered of one serves the next."""

        def one(memory: Memory, state: State) -> tuple[Memory, Found]:
            found, memory = self._solve(game, evaluator, state, memory)
            return memory, found

        _, found = lax.scan(one, self.new_memory(game, evaluator), states)
        return self.choose(game, states, found, key)

    def _solve(self, game: Game, evaluator: Evaluator, state: State, memory: Memory) -> tuple[Found, Memory]:
        progress = self.start(game, evaluator, state, memory)
        progress = lax.while_loop(
            lambda progress: ~self.is_done(game, progress),
            lambda progress: self.advance(game, evaluator, progress, jnp.int32(UNLIMITED)),
            progress,
        )
        return progress.found, progress.search.memory

    # --- in slices, for a clock ------------------------------------------------------------------------------------

    def searcher(self, game: Game, evaluator: Evaluator) -> Searcher:
        rules = Rules(min(self.depth, game.max_plies), self.prune, self.order, self.quiet, self.every_move)
        return Searcher(game, evaluator, rules)

    def new_memory(self, game: Game, evaluator: Evaluator) -> Memory:
        return self.searcher(game, evaluator).new_memory(self.entries)

    def start(self, game: Game, evaluator: Evaluator, root: State, memory: Memory) -> Deepening:
        """A search of `root` that has not begun."""
        searcher = self.searcher(game, evaluator)
        depth = jnp.int32(1 if self.deepen else searcher.rules.max_depth)
        search = searcher.begin(searcher.new_search(root, memory), root, depth)
        return Deepening(root, search, depth, self.nothing_found(game, evaluator))

    def nothing_found(self, game: Game, evaluator: Evaluator) -> Found:
        """What is known before the first depth is done."""
        searcher, zero = self.searcher(game, evaluator), jnp.int32(0)
        line, moves = jnp.zeros(searcher.rows, jnp.int32), jnp.zeros(searcher.width, jnp.int32)
        return Found(zero, zero, jnp.bool_(False), line, moves, moves == 1, zero)

    def advance(
        self, game: Game, evaluator: Evaluator, progress: Deepening, expansions: Array, nodes: Array | int = UNLIMITED
    ) -> Deepening:
        """The search after some more expansions; or as soon as one more depth has come to its end.

        `nodes` may limit this one search further than the settings do.
        """
        searcher = self.searcher(game, evaluator)
        nodes = jnp.where(progress.found.depth == 0, jnp.int32(2**31 - 1), jnp.minimum(nodes, self.nodes))
        search = searcher.advance(progress.search, expansions, nodes)
        done = unpack(At, search.at).slot < 0
        found = _if(done, _found(search, progress.depth), progress.found)
        deeper = progress.depth + done.astype(jnp.int32)
        begun = searcher.begin(search, progress.root, deeper)
        # Only what `begin` changes is chosen: the rest is large, and would be copied.
        fresh = {name: _if(done, getattr(begun, name), getattr(search, name)) for name in ("at", "current", "chosen")}
        return Deepening(progress.root, search._replace(**fresh), deeper, found)

    def is_done(self, game: Game, progress: Deepening, nodes: Array | int = UNLIMITED) -> Array:
        """bool []: whether nothing more is to be found, or the limits are reached."""
        found, visited = progress.found, unpack(At, progress.search.at).visited
        certain = found.complete
        if not self.every_move:
            certain |= worth.is_decided(found.worth)
        deep_enough = progress.depth > min(self.depth, game.max_plies)
        return (found.depth > 0) & (certain | deep_enough | (visited >= jnp.minimum(nodes, self.nodes)))

    def choose(self, game: Game, states: State, found: Found, key: Array) -> SearchResult:
        """The result for [B] positions."""
        moves, _, listed = listed_moves(game, states)
        found = found._replace(moves=found.moves[:, : moves.shape[1]])
        certain = found.moves_complete[:, : moves.shape[1]] | worth.is_decided(found.moves)
        if self.every_move or not self.prune:
            # By worth, which prefers a nearer win to a later one, and at random between equals.
            values = jnp.where(listed, found.moves.astype(jnp.float32), -jnp.inf)
            chosen = choose_move(game, RootMoves(moves, listed, values, listed & certain), found.nodes, key)
        else:
            is_best = listed & (moves == found.line[:, :1])
            is_exact = is_best | (found.moves < -worth.ONE)  # of the others only an upper bound is known
            values = jnp.where(is_best, 0.0, -jnp.inf)
            chosen = choose_move(game, RootMoves(moves, listed, values, listed & certain & is_exact), found.nodes, key)
        values = spread(moves, listed, worth.to_value(found.moves), game.num_actions, -jnp.inf)
        return chosen._replace(values=values, value=worth.to_value(found.worth))


def _if(condition: Array, first: Any, second: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), first, second)


def _found(search: Search, depth: Array) -> Found:
    node, at = unpack(Node, search.below), unpack(At, search.at)
    return Found(
        depth=depth,
        worth=node.best,
        complete=node.complete == 1,
        line=jnp.concatenate([search.below_line[1:], jnp.full(1, -1, jnp.int32)]),
        moves=search.root[:-1, 0],
        moves_complete=search.root[:-1, 1] == 1,
        nodes=at.visited,
    )
