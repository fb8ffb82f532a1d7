"""Depth-first search of one position: minimax, alpha-beta and quiescence are one loop with different settings.

The stack is a set of arrays with a row for each ply. A node is expanded by making all its children at once, which costs
little more than making one. Those whose value is known then and there (the game is over, or the depth is used up) are
done with; the others are searched one after the other, the likeliest first:

    while the root is not finished:
        expand the chosen child
        until a child that has to be expanded is chosen:
            give what was found to the node above, and choose its next child; or that node is finished in its turn

Values are those of the side to move; whether they change sign on the way up depends on who moves, since in some games
the same side may move again.
"""

from __future__ import annotations

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
"""Children of a node that are made at a time, where there can be many."""

_FEW_MOVES = 40
"""Up to so many, they are all made at once."""

_KILLERS_PAY = 64
"""Moves of a position above which killers help."""

_SPAN = 2**20
"""A little more than any evaluation is score."""

_COUNTLESS = np.int32(2**31 - 2**20)
"""Where counts stop, so that they do not run over."""

_DONE = np.int32(-1)
"""The order of a child that need not be searched any more."""


Int = Any
"""int32 [], as an array or as a number of Python's."""


@dataclasses.dataclass(frozen=True)
class Rules:
    """How to search. Equal ones compile once."""

    max_depth: int
    """The deepest search that the stack has room for."""
    prune: bool = True
    """Leave out what cannot matter: alpha-beta instead of minimax."""
    order: bool = True
    """Search the likeliest move first, instead of taking them as they come."""
    quiet: int = 0
    """How many plies beyond the depth noisy moves are followed."""
    every_move: bool = False
    """Find the exact value of each move of the root, not only that of the best."""


class Node(NamedTuple):
    """A position that is being searched, as it is packed: numbers in a row."""

    alpha: Int  # what the side to move is sure of elsewhere
    beta: Int  # what the other side will not allow
    best: Int  # the best found so far
    move: Int  # the move that leads there, or NO_MOVE
    depth: Int  # plies still to be searched; not above 0 where only noisy moves are followed
    player: Int  # the side to move
    complete: Int  # 1 while everything below was played to the end
    slot: Int  # which child of the node above it is
    key_lo: Int  # the key of the position
    key_hi: Int


class Kids(NamedTuple):
    """What is known of the children of a node, as it is packed: int32 [W] each."""

    move: Array
    score: Array  # for the node's side to move: its score, or what the evaluation says
    player: Array  # who is to move in it
    order: Array  # which to search first, the highest; _DONE where it need not be searched


class At(NamedTuple):
    """Where a search is, as it is packed: numbers in a row."""

    row: Int  # of the current node
    found: Int  # 1 where there is something found below that the current node has not been given yet
    slot: Int  # its child that is to be expanded; -1: the search is finished
    key_lo: Int  # the key of that child
    key_hi: Int
    hint: Int  # what was its best move in an earlier search, or NO_MOVE
    visited: Int  # positions that a search of one child after the other would have looked at
    expanded: Int  # nodes that were expanded since `advance` was called


class PackedFrame(NamedTuple):
    """The current node with its children, or [R, ...] those above it."""

    node: Array  # int32 [10]
    kids: Array  # int32 [4, W]
    line: Array  # int32 [R] the best line from here on, -1 where it ends


class SearchMemory(NamedTuple):
    """What helps to search the likeliest move first, and not to search the same position twice."""

    table: Array  # uint32 [T + 1, 4] the last row is for nothing
    killers: Array  # int32 [R, 2] by row: the moves that cut off its nodes last


class Stack(NamedTuple):
    """A search under way. Row 0 is no position: its only child is the root, in row 1.

    What is above the current node is written only when a node is expanded and read only when one is finished, so that
    the compiler can leave these arrays where they are.
    """

    at: Array  # int32 [8]
    current: PackedFrame
    below: Array  # int32 [10] what was found last: a node that is finished
    below_line: Array  # int32 [R]
    chosen: State  # the child that is to be expanded
    above: PackedFrame  # [R, ...]
    states: State  # [R, W, ...] the children of each row's node
    root: Array  # int32 [W + 1, 2] what each move of the root is score, and if it was played to the end
    memory: SearchMemory


@dataclasses.dataclass(frozen=True)
class Searcher:
    """A game, an evaluation and the rules of searching: everything that does not change on the way."""

    game: Game
    evaluator: Evaluator
    rules: Rules

    @property
    def rows(self) -> int:
        return self.rules.max_depth + self.rules.quiet + 2

    @property
    def width(self) -> int:
        """W: slots for children, a whole number of parts."""
        return -(-self.game.max_moves // self.part) * self.part

    @property
    def part(self) -> int:
        """Children that are made at a time: all where there are never many."""
        slots = self.game.max_moves
        return slots if slots <= _FEW_MOVES else _WIDTH_AT_ONCE

    # --- beginning and going on ------------------------------------------------------------------------------------

    def new_memory(self, entries: int) -> SearchMemory:
        return SearchMemory(
            table=transpositions.empty_table(entries),
            killers=jnp.full((self.rows, 2), NO_MOVE, jnp.int32),
        )

    def new_search(self, root: State, memory: SearchMemory) -> Stack:
        """Room for a search of `root`; `begin` begins it."""
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

    def begin(self, search: Stack, root: State, depth: Array) -> Stack:
        """The root, about to be searched `depth` plies deep."""
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
        """The same search after some more expansions, or after so many nodes in all; or finished."""

        def more(search: Stack) -> Array:
            at = unpack(At, search.at)
            return (at.slot >= 0) & (at.expanded < expansions) & (at.visited < nodes)

        def body(search: Stack) -> Stack:
            return self._go_up(self._expand(search))

        begun = unpack(At, search.at)._replace(expanded=0)
        return lax.while_loop(more, body, search._replace(at=_pack(begun)))

    # --- expanding -------------------------------------------------------------------------------------------------

    def _expand(self, search: Stack) -> Stack:
        """Make the children of the chosen child. It is the current node then, or found already."""
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
        """Alpha and beta of a child."""
        if not self.rules.prune:
            return jnp.int32(-ENDLESS), jnp.int32(ENDLESS)
        low, high = jnp.maximum(parent.alpha, parent.best), parent.beta
        if self.rules.every_move:
            low = jnp.where(row == 1, -ENDLESS, low)
        return jnp.where(same, low, -high), jnp.where(same, high, -low)

    def _followed(self, state: State, depth: Array) -> tuple[Array, Array]:
        """The moves to be searched, packed: all of them, or beyond the depth the noisy ones."""
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
        """int32 [4, W]: the children by `count` of `moves`, their order _DONE where the rules decide them.

        And the stack of states with them in `row`.
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
        """int32 [W], not negative, all different: by what is known of the moves before their children are made."""
        slots = np.arange(self.width, dtype=np.int32)
        if not self.rules.order:
            return jnp.asarray(slots[::-1])
        first = jnp.where(moves == hint, 3, 0)
        if self._uses_killers:
            killer = jnp.where(moves == killers[0], 2, jnp.where(moves == killers[1], 1, 0))
            first = jnp.maximum(first, killer)
        order = first * 256 + jax.vmap(self.game.order, (None, 0))(state, moves)
        return jnp.pad(order, (0, self.width - order.shape[0])) * self.width + jnp.asarray(slots[::-1])

    def _rank(self, priority: Array, value: Array) -> Array:
        """int32 [W]: the order in which to search children that are made.

        The moves that `_priority` sets first stay there. Of the others those come first whose positions look best; what
        the game says of the moves counts for a little.
        """
        if not self.rules.order:
            return priority
        first, order = priority // (256 * self.width), priority // self.width % 256
        value_rank = (jnp.clip(value, -_SPAN, _SPAN) + _SPAN) // 32  # 0 to 2**16
        return (first * 2**17 + value_rank + 13 * order) * self.width + priority % self.width

    @property
    def _uses_killers(self) -> bool:
        """Whether a move that cut off another node of the same row is tried early.

        Where there are many moves, as in chess, that saves some; where there are few, the evaluation knows better.
        """
        return self.rules.order and self.rules.prune and self.game.max_moves > _KILLERS_PAY

    # --- settling --------------------------------------------------------------------------------------------------

    def _go_up(self, search: Stack) -> Stack:
        """Hand up what was found and choose children, until one has to be expanded or the root is finished."""

        def body(carry: tuple[Array, Stack]) -> tuple[Array, Stack]:
            return self._go_up_once(carry[1])

        return lax.while_loop(lambda carry: ~carry[0], body, (jnp.bool_(False), search))[1]

    def _go_up_once(self, search: Stack) -> tuple[Array, Stack]:
        rules, at, memory = self.rules, unpack(At, search.at), search.memory
        current, row = search.current, at.row
        node, below = unpack(Node, current.node), unpack(Node, search.below)
        found = at.found == 1

        # What was found below is given to the current node.
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

        # Either the current node is finished, and found by the one above; or the child is found; or it is chosen.
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
        """What is known of a child without expanding it, as a node that is finished; its `complete` is -1 if nothing.

        And what was its best move, if it has been searched before.
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
        """The memory with what was found of a node."""
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

    def _has_table(self, memory: SearchMemory) -> bool:
        return memory.table.shape[0] > 1

    def _key(self, memory: SearchMemory, state: State) -> Array:
        """uint32 [2]: the key of a state; nothing where there is no table to use it."""
        return self.game.hash(state) if self._has_table(memory) else jnp.zeros(2, jnp.uint32)


def _pack(fields: Any) -> Array:
    return jnp.stack([jnp.asarray(x).astype(jnp.int32) for x in fields])


def unpack(kind: Any, rows: Array) -> Any:
    """What was packed in `rows`, as a NamedTuple of this kind."""
    return kind(*(rows[i] for i in range(len(kind._fields))))


def _signed(key: Array) -> tuple[Array, Array]:
    return key[0].astype(jnp.int32), key[1].astype(jnp.int32)


def _child(kids: Array, slot: Array) -> Kids:
    """What is known of one child."""
    return unpack(Kids, lax.dynamic_index_in_dim(kids, slot, axis=1, keepdims=False))


def _at(tree: Any, row: Array, slot: Array) -> Any:
    """The state in one slot of one row."""

    def take(x: Array) -> Array:
        start = [row, slot] + [np.int32(0)] * (x.ndim - 2)
        return lax.dynamic_slice(x, start, (1, 1, *x.shape[2:])).reshape(x.shape[2:])

    return jax.tree.map(take, tree)


def _put(all_: Array, here: Array, *place: Array) -> Array:
    """`all_` with `here` at a place, whose further coordinates are 0."""
    return lax.dynamic_update_slice(all_, here.astype(all_.dtype), (*place, *[0] * (all_.ndim - len(place))))
