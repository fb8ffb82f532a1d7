"""Depth-first search of one position: minimax, alpha-beta and quiescence are one loop with different settings.

The stack is a set of arrays with a row for each ply. A node is expanded by making all its children at once, which costs
little more than making one. Those whose value is known at once (the game is over, or the depth is used up) are done;
the others are searched one after the other, the likeliest first:

    while the root is not finished:
        expand the chosen child
        until a child that has to be expanded is chosen:
            give the result to the parent, and choose its next child; or the parent is finished, too

Values are those of the side to move; whether they change sign on the way up depends on who moves, since in some games
the same side may move again.
"""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.games import Game, State
from beamzero.search import integer_value
from beamzero.search.alphabeta import transpositions
from beamzero.search.alphabeta.transpositions import AT_LEAST, AT_MOST, EXACT, NO_MOVE, Entry
from beamzero.search.evaluator import Evaluator
from beamzero.search.integer_value import ENDLESS

_WIDTH_AT_ONCE = 16
"""The number of children of a node that are made at a time, in games with many moves."""

_FEW_MOVES = 40
"""The most moves of a game whose children are all made at once."""

_KILLERS_PAY = 64
"""The number of moves of a position above which killer moves help."""

_SPAN = 2**20
"""A number a little above every evaluation."""

_COUNTLESS = np.int32(2**31 - 2**20)
"""The number at which counts stop, so that int32 does not overflow."""

_DONE = np.int32(-1)
"""The order of a child that need not be searched any more."""


Int = Any
"""A number, int32 [], as an array or as a Python int."""


@dataclasses.dataclass(frozen=True)
class Rules:
    """Settings of the loop. Equal ones compile once."""

    max_depth: int
    """The deepest search that the stack has room for, in plies."""
    prune: bool = True
    """Leave out what cannot matter: alpha-beta instead of minimax."""
    order: bool = True
    """Search the likeliest move first, not the first in the game's list."""
    quiet: int = 0
    """Plies beyond the depth in which noisy moves are followed."""
    every_move: bool = False
    """Find the exact score of each move of the root, not only that of the best."""


class Node(NamedTuple):
    """A position that is being searched; packed, int32 [10] in this order."""

    alpha: Int  # the score that the side to move has elsewhere
    beta: Int  # the score from which the other side avoids the position
    best: Int  # the best score so far
    move: Int  # the move that leads there, or NO_MOVE
    depth: Int  # plies still to be searched; not above 0 where only noisy moves are followed
    player: Int  # the side to move
    complete: Int  # 1 while all lines below ended by the rules
    slot: Int  # which child of the node above it is
    key_lo: Int  # the key of the position
    key_hi: Int


class Kids(NamedTuple):
    """The children of a node, int32 [W] each; packed, int32 [4, W] in this order."""

    move: Array
    score: Array  # for the node's side to move: by the rules, or by the evaluation
    player: Array  # the side to move in the child
    order: Array  # the highest is searched first; _DONE where it need not be searched


class At(NamedTuple):
    """The place where a search is; packed, int32 [8] in this order."""

    row: Int  # the row of the current node
    found: Int  # 1 where a result below has not been given to the current node yet
    slot: Int  # its child that is to be expanded; -1: the search is finished
    key_lo: Int  # the key of that child
    key_hi: Int
    hint: Int  # the best move of that child in an earlier search, or NO_MOVE
    visited: Int  # positions that a search which makes one child after the other would have made
    expanded: Int  # nodes that were expanded since `advance` was called


class PackedFrame(NamedTuple):
    """The current node with its children, packed; [R, ...] the nodes above it."""

    node: Array  # int32 [10]
    kids: Array  # int32 [4, W]
    line: Array  # int32 [R] the best line from here on, -1 where it ends


class SearchMemory(NamedTuple):
    """The transposition table and the killer moves."""

    table: Array  # uint32 [T + 1, 4] the last row is never read
    killers: Array  # int32 [R, 2] the two moves of each row that last cut off a node


class Spending(NamedTuple):
    """The work that a search has done."""

    finished: Array  # bool [] whether the root is finished
    visited: Array  # int32 [] positions looked at
    expanded: Array  # int32 [] nodes that were expanded since `advance` was called


class DepthAnswer(NamedTuple):
    """The result of a finished search of one depth."""

    score: Array  # int32 [] for the side to move
    complete: Array  # bool [] whether all lines that decide the score ended by the rules
    line: Array  # int32 [R] the best line, -1 where it ends
    moves: Array  # int32 [W] score of each move, in the order of `Game.moves`; an upper bound except for the best
    moves_complete: Array  # bool [W]


class Stack(NamedTuple):
    """A search under way. Row 0 is no position: its only child is the root, in row 1.

    The rows above the current node are written only when a node is expanded, and read only when one is finished, so
    that the compiler need not copy these arrays.
    """

    at: Array  # int32 [8]
    current: PackedFrame
    below: Array  # int32 [10] the node that was finished last
    below_line: Array  # int32 [R] its best line
    chosen: State  # the child that is to be expanded
    above: PackedFrame  # [R, ...]
    states: State  # [R, W, ...] the children of each row's node
    root: Array  # int32 [W + 1, 2] the score of each move of the root, and 1 if all its lines ended by the rules
    memory: SearchMemory


@dataclasses.dataclass(frozen=True)
class DepthSearcher(abc.ABC):
    """A game, an evaluator and the rules of a search to a depth: all that does not change during it.

    Its subclasses go through the tree in different ways, and find the same scores.
    """

    game: Game
    evaluator: Evaluator
    rules: Rules

    @property
    def rows(self) -> int:
        """Give R, the most plies of a line, and one more."""
        return self.rules.max_depth + self.rules.quiet + 2

    @property
    @abc.abstractmethod
    def width(self) -> int:
        """Give W, the slots for children."""

    def new_memory(self, entries: int) -> SearchMemory:
        """Make an empty table of so many entries, and no killer moves."""
        return SearchMemory(
            table=transpositions.empty_table(entries),
            killers=jnp.full((self.rows, 2), NO_MOVE, jnp.int32),
        )

    def bytes_needed(self) -> int:
        """Count the bytes of a search under way, about, but for its table; 0 for very few."""
        return 0

    @abc.abstractmethod
    def new_search(self, root: State, memory: SearchMemory) -> Any:
        """Make the arrays for a search of `root`; `restart` begins it."""

    @abc.abstractmethod
    def restart(self, search: Any, root: State, depth: Array, begins: Array, forgets: Array) -> Any:
        """Begin to search `root` to `depth` plies, int32 [], if `begins`; count positions anew if `forgets`."""

    @abc.abstractmethod
    def advance(self, search: Any, expansions: Array, nodes: Array) -> Any:
        """Search on for `expansions` nodes, or until `nodes` positions in all, or until the root is finished."""

    @abc.abstractmethod
    def spending(self, search: Any) -> Spending:
        """Tell how far a search is."""

    @abc.abstractmethod
    def answer(self, search: Any) -> DepthAnswer:
        """Read the result of a search that is finished."""

    def _rank(self, priority: Array, value: Array) -> Array:
        """Order children that are made, int32 [W]: the highest first.

        The hint and the killer moves that `_priority` sets first stay first. The others go by the score of their
        positions, and a little by the game's own order of moves.
        """
        if not self.rules.order:
            return priority
        first, order = priority // (256 * self.width), priority // self.width % 256
        value_rank = (jnp.clip(value, -_SPAN, _SPAN) + _SPAN) // 32  # 0 to 2**16
        return (first * 2**17 + value_rank + 13 * order) * self.width + priority % self.width

    @property
    def _uses_killers(self) -> bool:
        """Tell whether a move that cut off another node of the same row is tried early.

        That saves nodes where there are many moves, as in chess; where there are few, the evaluation is better.
        """
        return self.rules.order and self.rules.prune and self.game.max_moves > _KILLERS_PAY

    def _has_table(self, memory: SearchMemory) -> bool:
        """Tell whether the table has any entries."""
        return memory.table.shape[0] > 1

    def _key(self, memory: SearchMemory, state: State) -> Array:
        """Give the key of a state, uint32 [2]; zeros where there is no table to use it."""
        return self.game.hash(state) if self._has_table(memory) else jnp.zeros(2, jnp.uint32)


@dataclasses.dataclass(frozen=True)
class Searcher(DepthSearcher):
    """A searcher that expands one node after the other."""

    @property
    def width(self) -> int:
        """Give W, the slots for children: a multiple of `part`."""
        return -(-self.game.max_moves // self.part) * self.part

    @property
    def part(self) -> int:
        """Give the number of children that are made at a time: all where there are never many."""
        slots = self.game.max_moves
        return slots if slots <= _FEW_MOVES else _WIDTH_AT_ONCE

    # --- beginning and going on ------------------------------------------------------------------------------------

    def new_search(self, root: State, memory: SearchMemory) -> Stack:
        rows, width = self.rows, self.width
        empty = PackedFrame(
            node=jnp.zeros(len(Node._fields), jnp.int32),
            kids=jnp.zeros((len(Kids._fields), width), jnp.int32),
            line=jnp.zeros(rows, jnp.int32),
        )
        return Stack(
            at=jnp.zeros(len(At._fields), jnp.int32),
            current=empty,
            below=empty.node,
            below_line=empty.line,
            chosen=root,
            above=jax.tree.map(lambda x: jnp.zeros((rows, *x.shape), x.dtype), empty),
            states=jax.tree.map(lambda x: jnp.zeros((rows, width, *x.shape), x.dtype), root),
            root=jnp.zeros((width + 1, 2), jnp.int32),
            memory=memory,
        )

    def restart(self, search: Stack, root: State, depth: Array, begins: Array, forgets: Array) -> Stack:
        begun = self._begin(search._replace(at=jnp.where(forgets, 0, search.at)), root, depth)
        # Only what `_begin` changes is chosen: the rest is large, and would be copied.
        parts = ("at", "current", "chosen")
        fresh = {name: _if(begins, getattr(begun, name), getattr(search, name)) for name in parts}
        return search._replace(**fresh)

    def _begin(self, search: Stack, root: State, depth: Array) -> Stack:
        player, key, table = self.game.player(root), self._key(search.memory, root), search.memory.table
        node = Node(
            alpha=-ENDLESS, beta=ENDLESS, best=-ENDLESS, move=NO_MOVE, depth=depth + 1, player=player, complete=1,
            slot=0, key_lo=0, key_hi=0,
        )  # fmt: skip
        nothing = jnp.zeros(self.width, jnp.int32)
        kids = Kids(nothing, nothing, jnp.full_like(nothing, player), jnp.full_like(nothing, _DONE))
        entry = transpositions.read(table[transpositions.place_of(table, key)], key)
        at = unpack(At, search.at)._replace(
            row=0, found=0, slot=0, key_lo=_signed(key)[0], key_hi=_signed(key)[1],
            hint=jnp.where(entry.there, entry.move, NO_MOVE),
        )  # fmt: skip
        return search._replace(
            at=_pack(at._replace(visited=at.visited + 1)),
            current=PackedFrame(_pack(node), _pack(kids), jnp.full(self.rows, -1, jnp.int32)),
            chosen=root,
        )

    def advance(self, search: Stack, expansions: Array, nodes: Array) -> Stack:
        def more(search: Stack) -> Array:
            at = unpack(At, search.at)
            return (at.slot >= 0) & (at.expanded < expansions) & (at.visited < nodes)

        def body(search: Stack) -> Stack:
            return self._go_up(self._expand(search))

        begun = unpack(At, search.at)._replace(expanded=0)
        return lax.while_loop(more, body, search._replace(at=_pack(begun)))

    def spending(self, search: Stack) -> Spending:
        at = unpack(At, search.at)
        return Spending(at.slot < 0, at.visited, at.expanded)

    def answer(self, search: Stack) -> DepthAnswer:
        node = unpack(Node, search.below)
        return DepthAnswer(
            score=node.best,
            complete=node.complete == 1,
            line=jnp.concatenate([search.below_line[1:], jnp.full(1, -1, jnp.int32)]),
            moves=search.root[:-1, 0],
            moves_complete=search.root[:-1, 1] == 1,
        )

    # --- expanding -------------------------------------------------------------------------------------------------

    def _expand(self, search: Stack) -> Stack:
        """Make the children of the chosen child, which becomes the current node, or is finished at once."""
        rules, at, state, memory = self.rules, unpack(At, search.at), search.chosen, search.memory
        parent, row = unpack(Node, search.current.node), at.row + 1
        _, standing, player, _ = _child(search.current.kids, at.slot)
        same = player == parent.player
        alpha, beta = self._window(parent, same, at.row)
        depth = parent.depth - 1

        moves, count = self._followed(state, depth)
        priority = self._priority(state, moves, at.hint, memory.killers[row])
        kids, states = self._make_children(search.states, row, state, player, moves, count)
        move, value, mover, order = unpack(Kids, kids)
        real = np.arange(self.width, dtype=np.int32) < count
        decided = order == _DONE  # by the rules
        known = real & (decided | (depth - 1 <= -rules.quiet))
        best = jnp.max(jnp.where(known, value, -ENDLESS))
        if rules.quiet:
            standing = jnp.where(same, standing, -standing)
            best = jnp.maximum(best, jnp.where((depth <= 0) & ~self.game.must_answer(state), standing, -ENDLESS))
        action = jnp.max(jnp.where(known & (value == best), move, -1))
        left = real & ~known
        finished = ~jnp.any(left)
        if rules.prune:
            finished |= best >= beta
        node = _pack(
            Node(
                alpha, beta, best, jnp.where(action >= 0, action, NO_MOVE), depth, player,
                complete=jnp.all(~known | decided) & (depth > 0), slot=at.slot, key_lo=at.key_lo, key_hi=at.key_hi,
            )
        )  # fmt: skip
        ordered = Kids(move, value, mover, jnp.where(left, self._rank(priority, value), _DONE))
        line = jnp.where(np.arange(self.rows) == 0, action, -1)
        # Of the known ones, those up to the first that ends the search of this node.
        cuts = known & (value >= beta) if rules.prune else jnp.zeros_like(known)
        counted = jnp.sum(known & (priority >= jnp.max(jnp.where(cuts, priority, -1))), dtype=jnp.int32)
        at = at._replace(
            row=jnp.where(finished, at.row, row),
            found=finished,
            visited=jnp.minimum(at.visited, _COUNTLESS) + counted,
            expanded=at.expanded + 1,
        )
        made = PackedFrame(node, _pack(ordered), line)
        return search._replace(
            at=_pack(at),
            current=jax.tree.map(lambda a, b: jnp.where(finished, a, b), search.current, made),
            below=node,
            below_line=line,
            above=jax.tree.map(lambda all_, x: _put(all_, x[None], row - 1), search.above, search.current),
            states=states,
            root=jnp.where(
                row == 1, jnp.pad(jnp.stack([value, decided.astype(jnp.int32)], 1), ((0, 1), (0, 0))), search.root
            ),
        )

    def _window(self, parent: Node, same: Array, row: Array) -> tuple[Array, Array]:
        """Give alpha and beta of a child, int32 [] each; `same` says whether the same side moves there."""
        if not self.rules.prune:
            return jnp.int32(-ENDLESS), jnp.int32(ENDLESS)
        low, high = jnp.maximum(parent.alpha, parent.best), parent.beta
        if self.rules.every_move:
            low = jnp.where(row == 1, -ENDLESS, low)
        return jnp.where(same, low, -high), jnp.where(same, high, -low)

    def _followed(self, state: State, depth: Array) -> tuple[Array, Array]:
        """List the moves to search, int32 [K], packed, and their number: all, or beyond the depth the noisy ones."""
        moves, count = self.game.moves(state)
        if not self.rules.quiet:
            return moves, count
        slots = jnp.arange(moves.shape[0], dtype=jnp.int32)
        noisy = jax.vmap(self.game.noisy, (None, 0))(state, moves)
        wanted = (slots < count) & (noisy | (depth > 0) | self.game.must_answer(state))
        order = jnp.sort(jnp.where(wanted, slots, moves.shape[0]))
        return moves.at[order].get(mode="clip"), jnp.sum(wanted, dtype=jnp.int32)

    def _make_children(
        self, states: State, row: Array, state: State, player: Array, moves: Array, count: Array
    ) -> tuple[Array, State]:
        """Make the children by the first `count` of `moves`, and write their states into `row` of `states`.

        Returns the packed children, int32 [4, W], with the order _DONE where the rules decide them, and the states.
        """
        moves = jnp.pad(moves, (0, self.width - moves.shape[0]))
        sign = (1 - 2 * player).astype(jnp.float32)

        def make_part(number: Array, made: tuple[Array, State]) -> tuple[Array, State]:
            start = number * self.part
            some = lax.dynamic_slice(moves, (start,), (self.part,))
            kids = jax.vmap(self.game.step, (None, 0))(state, some)
            over, score = jax.vmap(self.game.over)(kids), jax.vmap(self.game.score)(kids) * sign
            mover = jax.vmap(self.game.player)(kids)
            value = self.evaluator.value(kids)
            value = integer_value.from_value(jnp.where(mover == player, value, -value))
            value = jnp.where(over, integer_value.from_score(score, row), value)
            if self.evaluator.exact is not None:
                known, result = self.evaluator.exact(kids)
                result = integer_value.from_score(
                    jnp.where(mover == player, result, -result), row + integer_value.LATER
                )
                value, over = jnp.where(known & ~over, result, value), over | known
            packed = _pack(Kids(some, value, mover, jnp.where(over, _DONE, 0)))
            return (
                lax.dynamic_update_slice(made[0], packed, (0, start)),
                jax.tree.map(lambda all_, here: _put(all_, here[None], row, start), made[1], kids),
            )

        made = jnp.zeros((len(Kids._fields), self.width), jnp.int32), states
        if self.part >= self.width:
            return make_part(jnp.int32(0), made)
        return lax.fori_loop(0, -(-count // self.part), make_part, made)

    # --- order -----------------------------------------------------------------------------------------------------

    def _priority(self, state: State, moves: Array, hint: Array, killers: Array) -> Array:
        """Order moves before their children are made, int32 [W]: the highest first, not negative, all different."""
        slots = np.arange(self.width, dtype=np.int32)
        if not self.rules.order:
            return jnp.asarray(slots[::-1])
        first = jnp.where(moves == hint, 3, 0)
        if self._uses_killers:
            killer = jnp.where(moves == killers[0], 2, jnp.where(moves == killers[1], 1, 0))
            first = jnp.maximum(first, killer)
        order = first * 256 + jax.vmap(self.game.order, (None, 0))(state, moves)
        return jnp.pad(order, (0, self.width - order.shape[0])) * self.width + jnp.asarray(slots[::-1])

    # --- going up --------------------------------------------------------------------------------------------------

    def _go_up(self, search: Stack) -> Stack:
        """Give results to parents and choose children, until one has to be expanded or the root is finished."""

        def body(carry: tuple[Array, Stack]) -> tuple[Array, Stack]:
            return self._go_up_once(carry[1])

        return lax.while_loop(lambda carry: ~carry[0], body, (jnp.bool_(False), search))[1]

    def _go_up_once(self, search: Stack) -> tuple[Array, Stack]:
        """Give the last result to the current node, and choose its next child. Returns whether to stop, bool []."""
        rules, at, memory = self.rules, unpack(At, search.at), search.memory
        current, row = search.current, at.row
        node, below = unpack(Node, current.node), unpack(Node, search.below)
        found = at.found == 1

        # The current node gets the result from below.
        given = jnp.where(below.player == node.player, below.best, -below.best)
        better = found & (given > node.best)
        came_by = _child(current.kids, below.slot)[0]
        node = node._replace(
            best=jnp.where(better, given, node.best),
            move=jnp.where(better, came_by, node.move),
            complete=jnp.where(found, node.complete & below.complete, node.complete),
        )
        line = jnp.where(better, jnp.concatenate([came_by[None], search.below_line[:-1]]), current.line)
        root_slot = jnp.where(found & (row == 1), below.slot, self.width)
        root = _put(search.root, jnp.stack([given, below.complete])[None], root_slot)
        memory = self._learn(memory, below, row + 1, found & (below.depth > 0))

        # Its next child is chosen, if there is a point in that.
        order = current.kids[Kids._fields.index("order")]
        top = jnp.max(order)
        finished = top == _DONE
        if rules.prune:
            finished |= node.best >= node.beta
        slots = np.arange(self.width, dtype=np.int32)
        slot = jnp.max(jnp.where(order == top, slots, 0))
        state = _at(search.states, row, slot)
        key = self._key(memory, state)
        child = _child(current.kids, slot)
        answer, hint = self._look_up(memory, node, child, state, key, row)
        known = (answer.complete >= 0) & ~finished
        answer = answer._replace(slot=slot)

        # The current node is finished, and its parent gets the result; or the child is known; or it is chosen.
        node = _pack(node)
        ended = finished & (row == 0)
        at = At(
            row=jnp.where(finished, row - 1, row),
            found=finished | known,
            slot=jnp.where(ended, -1, slot),
            key_lo=_signed(key)[0],
            key_hi=_signed(key)[1],
            hint=hint,
            visited=at.visited + jnp.where(finished, 0, 1),
            expanded=at.expanded,
        )
        crossed = current.kids.at[Kids._fields.index("order")].set(jnp.where(slots == slot, _DONE, order))
        parent = jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, row - 1, keepdims=False), search.above)
        current = jax.tree.map(lambda a, b: jnp.where(finished, a, b), parent, PackedFrame(node, crossed, line))
        search = search._replace(
            at=_pack(at),
            current=current,
            below=jnp.where(finished, node, _pack(answer)),
            below_line=jnp.where(finished, line, -1),
            chosen=state,
            root=root,
            memory=memory,
        )
        return ended | ~(finished | known), search

    def _look_up(
        self, memory: SearchMemory, node: Node, child: Kids, state: State, key: Array, row: Array
    ) -> tuple[Node, Array]:
        """Look up a child in the table, or let it stand by its evaluation beyond the depth.

        Returns it as a finished node, whose `complete` is -1 if it has to be searched, and the best move of an earlier
        search, or NO_MOVE.
        """
        rules = self.rules
        same = child.player == node.player
        alpha, beta = self._window(node, same, row)
        complete, value, hint = jnp.int32(-1), jnp.int32(0), jnp.int32(NO_MOVE)
        if self._has_table(memory):
            place = transpositions.place_of(memory.table, key)
            entry = transpositions.read(lax.dynamic_index_in_dim(memory.table, place, keepdims=False), key)
            value = integer_value.seen_later(entry.score, -row)
            if rules.prune:
                enough = (entry.bound != AT_MOST) & (value >= beta) | (entry.bound != AT_LEAST) & (value <= alpha)
            else:
                enough = entry.bound == EXACT
            known = transpositions.serves(entry, node.depth - 1) & (node.depth > 1) & enough
            complete = jnp.where(known, entry.complete.astype(jnp.int32), -1)
            hint = jnp.where(entry.there, entry.move, NO_MOVE)
        if rules.quiet:
            standing = jnp.where(same, child.score, -child.score)
            stands = (node.depth <= 1) & (standing >= beta) & ~self.game.must_answer(state)
            value, complete = jnp.where(stands, standing, value), jnp.where(stands, 0, complete)
        answer = Node(0, 0, value, NO_MOVE, 0, child.player, complete, 0, 0, 0)
        return answer, hint

    def _learn(self, memory: SearchMemory, node: Node, row: Array, wanted: Array) -> SearchMemory:
        """Write a finished node into the table, and its best move among the killers, where `wanted`. Returns both."""
        if self._has_table(memory):
            key = jnp.stack([node.key_lo, node.key_hi]).astype(jnp.uint32)
            bound = jnp.where(node.best >= node.beta, AT_LEAST, jnp.where(node.best <= node.alpha, AT_MOST, EXACT))
            value = integer_value.seen_later(node.best, row - 1)
            entry = Entry(jnp.bool_(True), value, bound, node.complete == 1, node.depth, node.move)
            place = jnp.where(wanted, transpositions.place_of(memory.table, key), memory.table.shape[0] - 1)
            memory = memory._replace(table=_put(memory.table, transpositions.write(key, entry)[None], place))
        if self._uses_killers:
            killers = lax.dynamic_index_in_dim(memory.killers, row, keepdims=False)
            fresh = wanted & (node.best >= node.beta) & (node.move != killers[0])
            killers = jnp.where(fresh, jnp.stack([node.move, killers[0]]), killers)
            memory = memory._replace(killers=_put(memory.killers, killers[None], row))
        return memory


def _if(condition: Array, first: Any, second: Any) -> Any:
    """Choose between two pytrees by a condition, bool []."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), first, second)


def _pack(fields: Any) -> Array:
    """Stack the fields of a NamedTuple as int32 [fields, ...]."""
    return jnp.stack([jnp.asarray(x).astype(jnp.int32) for x in fields])


def unpack(kind: Any, rows: Array) -> Any:
    """Turn packed `rows` back into a NamedTuple of the class `kind`."""
    return kind(*(rows[i] for i in range(len(kind._fields))))


def _signed(key: Array) -> tuple[Array, Array]:
    """Split a key, uint32 [2], into two numbers, int32 []."""
    return key[0].astype(jnp.int32), key[1].astype(jnp.int32)


def _child(kids: Array, slot: Array) -> Kids:
    """Take the child in one slot of packed children, int32 [4, W]."""
    return unpack(Kids, lax.dynamic_index_in_dim(kids, slot, axis=1, keepdims=False))


def _at(tree: Any, row: Array, slot: Array) -> Any:
    """Take the state in one slot of one row of a pytree [R, W, ...]."""

    def take(x: Array) -> Array:
        start = [row, slot] + [np.int32(0)] * (x.ndim - 2)
        return lax.dynamic_slice(x, start, (1, 1, *x.shape[2:])).reshape(x.shape[2:])

    return jax.tree.map(take, tree)


def _put(all_: Array, here: Array, *place: Array) -> Array:
    """Write `here` into `all_` at a place, whose further coordinates are 0. Returns the array."""
    return lax.dynamic_update_slice(all_, here.astype(all_.dtype), (*place, *[0] * (all_.ndim - len(place))))
