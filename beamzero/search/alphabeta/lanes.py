"""Alpha-beta in lanes: one tree, of which many nodes are expanded in each step of one compiled loop.

A step of a compiled loop costs as much for one position as for a hundred, so a step here takes L entries at once from a
stack of moves that are to be searched:

    while the root is not finished:
        take the last L entries of the stack, and make their positions
        answer those that the table knows; make all children of the others
        a node whose children are all known, or one of which is good enough, is finished; the others become open nodes
        while there are finished nodes: give their results to their parents, some of which are finished now
        each open node that waits for nothing puts its next children on the stack, the deepest nodes last

The last entries are the deepest, so that the tree is searched depth first, and few nodes are open at any time. Young
brothers wait: the first child of a node is searched alone, since it may be good enough; where it is not, the others are
searched at once. Where a node is finished, what was begun below it is dropped.

Each node is searched with the bounds that its parent had when its turn came. They are never narrower than those of a
search one by one at its end, so results are as exact as there, whatever the number of lanes.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.core.packing import apply_in_chunks, chunk_rows, pack, take_rows
from beamzero.games import State
from beamzero.search import integer_value
from beamzero.search.alphabeta import transpositions
from beamzero.search.alphabeta.lane_tree import (
    ALL_NODE,
    COLUMNS,
    CUT_NODE,
    PV_NODE,
    SUPER_ROOT,
    Brood,
    LaneTree,
    Listed,
    OpenNode,
    Result,
    nodes_at,
)
from beamzero.search.alphabeta.negamax import DepthAnswer, DepthSearcher, SearchMemory, Spending
from beamzero.search.alphabeta.transpositions import AT_LEAST, AT_MOST, EXACT, NO_MOVE, Entry
from beamzero.search.children import is_narrow
from beamzero.search.integer_value import ENDLESS
from beamzero.search.memory import state_bytes

_OPEN_ROWS = 24
"""Plies in which every lane may have an open node; where more are open, fewer lanes go on."""

_ROWS_AT_ONCE = 16
"""Nodes whose next children are chosen at once."""

_COUNTLESS = np.int32(2**30)
"""The number at which counts stop, so that int32 does not overflow."""


@dataclasses.dataclass(frozen=True)
class LaneSearcher(DepthSearcher):
    """A searcher that expands up to `lanes` nodes in a step."""

    lanes: int = 64

    @property
    def places(self) -> int:
        """Give N, the most open nodes."""
        return 1 + self.lanes * min(self.rows, _OPEN_ROWS) + 2 * self.rows

    @property
    def width(self) -> int:
        """Give W, the slots for children."""
        return self.game.max_moves

    @property
    def _stack_size(self) -> int:
        """Give S, the room for entries; where it is nearly full, one lane goes on alone."""
        return (2 * self.lanes * min(self.rows, _OPEN_ROWS) + self.rows + self.lanes) * min(self.width, 16) + (
            self.lanes + self.rows
        ) * self.width

    def bytes_needed(self) -> int:
        """Count the bytes of a search under way, about, but for its table."""
        of_node = state_bytes(self.game) + 4 * (len(OpenNode._fields) + len(Brood._fields) * self.width + self.rows)
        return self.places * of_node + 12 * (self.lanes + self._stack_size)

    # --- beginning and going on ------------------------------------------------------------------------------------

    def new_search(self, root: State, memory: SearchMemory) -> LaneTree:
        number, width = self.places, self.width

        def zeros(*shape: int) -> Array:
            return jnp.zeros(shape, jnp.int32)

        return LaneTree(
            nodes=zeros(number, len(OpenNode._fields)),
            children=Brood(*(zeros(number, width) for _ in Brood._fields)),
            lines=zeros(number, self.rows),
            states=jax.tree.map(lambda x: jnp.zeros((number, *x.shape), x.dtype), root),
            stack=zeros(self.lanes + self._stack_size, 3),
            top=jnp.int32(0),
            free=zeros(number),
            num_free=jnp.int32(0),
            visited=jnp.int32(0),
            expanded=jnp.int32(0),
            root=zeros(width, 2),
            scratch=zeros(number),
            memory=memory,
        )

    def restart(self, search: LaneTree, root: State, depth: Array, begins: Array, forgets: Array) -> LaneTree:
        player = self.game.player(root)
        fields: dict[str, Any] = dict.fromkeys(OpenNode._fields, 0) | {
            "player": player, "alpha": -ENDLESS, "beta": ENDLESS, "best": -ENDLESS, "move": NO_MOVE,
            "depth": depth + 1, "complete": 1, "begun": 1, "under_way": 1, "is_open": 1,
        }  # fmt: skip
        packed = jnp.stack([jnp.asarray(fields[name], jnp.int32) for name in OpenNode._fields])
        nodes = search.nodes.at[:, COLUMNS.is_open].set(jnp.where(begins, 0, search.nodes[:, COLUMNS.is_open]))
        nodes = nodes.at[SUPER_ROOT].set(jnp.where(begins, packed, search.nodes[SUPER_ROOT]))
        entry = jnp.where(begins, jnp.array([0, 0, 0], jnp.int32), search.stack[self.lanes])
        number, children = self.places, search.children
        order = children.order.at[SUPER_ROOT].set(jnp.where(begins, -1, children.order[SUPER_ROOT]))
        return search._replace(
            nodes=nodes,
            children=children._replace(order=order),
            lines=search.lines.at[SUPER_ROOT].set(jnp.where(begins, -1, search.lines[SUPER_ROOT])),
            states=jax.tree.map(
                lambda all_, x: all_.at[SUPER_ROOT].set(jnp.where(begins, x, all_[SUPER_ROOT])), search.states, root
            ),
            stack=search.stack.at[self.lanes].set(entry),
            top=jnp.where(begins, 1, search.top),
            free=jnp.where(begins, np.minimum(np.arange(1, number + 1), number - 1).astype(np.int32), search.free),
            num_free=jnp.where(begins, number - 1, search.num_free),
            visited=jnp.where(forgets, 0, search.visited),
        )

    def advance(self, search: LaneTree, expansions: Array, nodes: Array) -> LaneTree:
        def more(search: LaneTree) -> Array:
            is_open = search.nodes[SUPER_ROOT, COLUMNS.is_open] == 1
            return is_open & (search.expanded < expansions) & (search.visited < nodes)

        def body(search: LaneTree) -> LaneTree:
            search = self._make_room(search)
            search, finished, touched = self._expand(search, expansions - search.expanded)
            search, touched = self._go_up(search, finished, touched)
            return self._choose_children(search, touched)

        return lax.while_loop(more, body, search._replace(expanded=jnp.int32(0)))

    def spending(self, search: LaneTree) -> Spending:
        finished = (search.nodes[SUPER_ROOT, COLUMNS.is_open] == 0) & (search.visited > 0)
        return Spending(finished, search.visited, search.expanded)

    def answer(self, search: LaneTree) -> DepthAnswer:
        node = nodes_at(search.nodes, jnp.int32(SUPER_ROOT))
        return DepthAnswer(
            score=node.best,
            complete=node.complete == 1,
            line=jnp.concatenate([search.lines[SUPER_ROOT, 1:], jnp.full(1, -1, jnp.int32)]),
            moves=search.root[:, 0],
            moves_complete=search.root[:, 1] == 1,
        )

    # --- expanding -------------------------------------------------------------------------------------------------

    def _expand(self, search: LaneTree, most: Array) -> tuple[LaneTree, Result, Array]:
        """Take entries of the stack, at most `most`, and make their children.

        Returns the nodes that are finished by that, and the places of those that were opened, int32 [L], N elsewhere.
        """
        game, rules, memory = self.game, self.rules, search.memory
        entries, count, alive = self._take(search, most)
        owner, slot = entries[:, 0], entries[:, 1]
        parent = nodes_at(search.nodes, owner)
        came_by, standing = search.children.move[owner, slot], search.children.score[owner, slot]
        above = take_rows(search.states, owner)
        is_root = owner == SUPER_ROOT
        states = _choose(is_root, above, jax.vmap(game.step)(above, came_by))
        player, depth, row = jax.vmap(game.player)(states), parent.depth - 1, parent.row + 1
        same = player == parent.player
        alpha, beta = self._bounds(parent, same)
        standing = jnp.where(same, standing, -standing)
        must_answer = jax.vmap(game.must_answer)(states) if rules.quiet else jnp.zeros(self.lanes, bool)

        key, known, value, complete, hint = self._answers(memory, states, depth, row, alpha, beta)
        if rules.quiet:
            stands = (depth <= 0) & (standing >= beta) & ~must_answer
            value, complete, known = jnp.where(stands, standing, value), complete & ~stands, known | stands
        known &= ~is_root & alive
        expands = alive & ~known

        moves, number = jax.vmap(game.moves)(states)
        number = jnp.where(expands, number, 0)
        fits = jnp.cumsum(number) <= self._most_moves  # the rest stays on the stack; one always fits
        count, alive, known, expands = jnp.minimum(count, jnp.sum(fits)), alive & fits, known & fits, expands & fits
        listed = self._list_moves(moves, jnp.where(expands, number, 0))
        wanted = listed.real
        if rules.quiet:
            wanted &= self._of_moves(game.noisy, states, moves, listed) | listed.spread((depth > 0) | must_answer)
        scores, decided = self._value_children(states, player, row, listed, wanted)
        priority = self._priorities(states, moves, listed, hint, memory.killers[row])

        # What is known of a node by its children alone.
        done = wanted & (decided | listed.spread(depth - 1 <= -rules.quiet))
        best = listed.highest(jnp.where(done, scores, -ENDLESS), -ENDLESS)
        if rules.quiet:
            best = jnp.maximum(best, jnp.where((depth <= 0) & ~must_answer, standing, -ENDLESS))
        action = listed.highest(jnp.where(done & (scores == listed.spread(best)), listed.move, -1), -1)
        left = wanted & ~done
        finished = listed.total(left) == 0
        counted = done
        if rules.prune:
            finished |= best >= beta
            # Of the known ones, those up to the first that ends the search of this node are counted.
            first_cut = listed.highest(jnp.where(done & (scores >= listed.spread(beta)), priority, -1), -1)
            counted = done & (priority >= listed.spread(first_cut))
        by_rules = listed.total(done & ~decided) == 0
        found = Result(
            on=known | (expands & finished),
            learn=expands & (depth > 0),
            parent=owner, slot=slot, came_by=came_by, row=row, depth=depth, player=player, alpha=alpha, beta=beta,
            best=jnp.where(known, value, best),
            move=jnp.where(action >= 0, action, NO_MOVE),
            complete=jnp.where(known, complete, by_rules & (depth > 0)).astype(jnp.int32),
            key_lo=key[:, 0].astype(jnp.int32), key_hi=key[:, 1].astype(jnp.int32),
            line=jnp.where((np.arange(self.rows) == 0)[None] & ~known[:, None], action[:, None], -1),
        )  # fmt: skip
        of_root = jnp.where((listed.lane == 0) & is_root[0] & alive[0] & listed.real, listed.slot, self.width)
        search = search._replace(
            top=search.top - count,
            visited=jnp.minimum(search.visited, _COUNTLESS)
            + jnp.sum(counted, dtype=jnp.int32)
            + jnp.sum(alive, dtype=jnp.int32),
            expanded=search.expanded + jnp.sum(expands, dtype=jnp.int32),
            root=_set(search.root, of_root, jnp.stack([scores, decided.astype(jnp.int32)], axis=1)),
        )
        order = jnp.where(left, self._rank(priority, scores), -1)
        kind = self._kind(parent, same, is_root)
        search, places = self._open(search, expands & ~finished, found, kind, states, listed, scores, order)
        return search, found, places

    @property
    def _most_moves(self) -> int:
        """Give M, the room for the moves of all lanes of a step: in most games there are far fewer than slots."""
        return self.lanes * self.width if is_narrow(self.game) else max(self.width, self.lanes * self.width // 4)

    def _list_moves(self, moves: Array, number: Array) -> Listed:
        """List the first `number` [L] of `moves` [L, W]: as they are where few slots are empty, else packed."""
        lanes = jnp.arange(self.lanes, dtype=jnp.int32)
        if is_narrow(self.game):
            slots = jnp.tile(jnp.arange(self.width, dtype=jnp.int32), self.lanes)
            each = jnp.repeat(lanes, self.width)
            return Listed(each, slots, moves.reshape(-1), jnp.less(slots, number[each]), self.lanes, True)
        lane = jnp.repeat(lanes, number, total_repeat_length=self._most_moves)
        first = jnp.cumsum(number) - number
        flat = jnp.arange(self._most_moves, dtype=jnp.int32)
        slot = jnp.clip(flat - first[lane], 0, self.width - 1)
        return Listed(lane, slot, moves[lane, slot], flat < jnp.sum(number), self.lanes, False)

    def _of_moves(self, rule: Any, states: State, moves: Array, listed: Listed) -> Array:
        """Ask a rule about `moves` [L, W], and give its answers for the listed ones, [M].

        What the rule finds of a position alone is found once for all moves.
        """
        return jax.vmap(jax.vmap(rule, (None, 0)))(states, moves)[listed.lane, listed.slot]

    def _priorities(self, states: State, moves: Array, listed: Listed, hint: Array, killers: Array) -> Array:
        """Order moves before their children are made, int32 [M], as one search after the other does."""
        last = self.width - 1 - listed.slot
        if not self.rules.order:
            return last
        first = jnp.where(listed.move == hint[listed.lane], 3, 0)
        if self._uses_killers:
            one, other = killers[listed.lane, 0], killers[listed.lane, 1]
            killer = jnp.where(listed.move == one, 2, jnp.where(listed.move == other, 1, 0))
            first = jnp.maximum(first, killer)
        order = self._of_moves(self.game.order, states, moves, listed)
        return (first * 256 + order) * self.width + last

    def _take(self, search: LaneTree, most: Array) -> tuple[Array, Array, Array]:
        """Read the last entries of the stack, int32 [L, 3], the last one first; how many; and which of them count.

        Those below a node that is finished, or whose place another node has now, do not.
        """
        lane = jnp.arange(self.lanes, dtype=jnp.int32)
        is_full = search.top + (self.lanes + self.rows) * self.width > self._stack_size
        room = jnp.where(is_full, 1, jnp.maximum(search.num_free - self.rows, 1))
        count = jnp.minimum(jnp.minimum(search.top, room), jnp.minimum(most, self.lanes))
        entries = lax.dynamic_slice(search.stack, (search.top, 0), (self.lanes, 3))[::-1]
        entries = jnp.where((lane < count)[:, None], entries, 0)
        owner = entries[:, 0]
        nodes = search.nodes
        alive = (lane < count) & (nodes[owner, COLUMNS.generation] == entries[:, 2])

        def up(carry: tuple[Array, Array]) -> tuple[Array, Array]:
            place, alive = carry
            return nodes[place, COLUMNS.parent], alive & (nodes[place, COLUMNS.is_open] == 1)

        def below_root(carry: tuple[Array, Array]) -> Array:
            place, alive = carry
            return jnp.any(alive & (place != SUPER_ROOT))

        return entries, count, lax.while_loop(below_root, up, (owner, alive))[1]

    def _bounds(self, parent: OpenNode, same: Array) -> tuple[Array, Array]:
        """Give alpha and beta of children, int32 [L] each; `same` tells where the same side moves."""
        if not self.rules.prune:
            return jnp.full(self.lanes, -ENDLESS), jnp.full(self.lanes, ENDLESS)
        low, high = jnp.maximum(parent.alpha, parent.best), parent.beta
        if self.rules.every_move:
            low = jnp.where(parent.row == 1, -ENDLESS, low)
        return jnp.where(same, low, -high), jnp.where(same, high, -low)

    def _kind(self, parent: OpenNode, same: Array, is_root: Array) -> Array:
        """Tell what is expected of children, int32 [L]."""
        first = (parent.begun == 1) | is_root
        below_pv = jnp.where(first, PV_NODE, jnp.where(same, ALL_NODE, CUT_NODE))
        below_cut = jnp.where(same, CUT_NODE, ALL_NODE)
        below_all = jnp.where(same, ALL_NODE, CUT_NODE)
        kind = jnp.where(parent.kind == PV_NODE, below_pv, jnp.where(parent.kind == CUT_NODE, below_cut, below_all))
        if self.rules.every_move:
            kind = jnp.where(parent.row == 1, PV_NODE, kind)
        return kind

    def _answers(
        self, memory: SearchMemory, states: State, depth: Array, row: Array, alpha: Array, beta: Array
    ) -> tuple[Array, Array, Array, Array, Array]:
        """Look positions up in the table.

        Returns their keys, uint32 [L, 2]; whether the table knows enough; its score and whether that is complete; and
        the best moves of earlier searches, or NO_MOVE.
        """
        nothing = jnp.zeros(self.lanes, jnp.int32)
        if not self._has_table(memory):
            key = jnp.zeros((self.lanes, 2), jnp.uint32)
            return key, nothing == 1, nothing, nothing == 1, nothing + NO_MOVE
        key = jax.vmap(self.game.hash)(states)
        place = jax.vmap(functools.partial(transpositions.place_of, memory.table))(key)
        entry = jax.vmap(transpositions.read)(memory.table[place], key)
        value = integer_value.seen_later(entry.score, 1 - row)
        if self.rules.prune:
            enough = (entry.bound != AT_MOST) & (value >= beta) | (entry.bound != AT_LEAST) & (value <= alpha)
        else:
            enough = entry.bound == EXACT
        known = transpositions.serves(entry, depth) & (depth > 0) & enough
        return key, known, value, entry.complete, jnp.where(entry.there, entry.move, NO_MOVE)

    def _value_children(
        self, states: State, player: Array, row: Array, listed: Listed, wanted: Array
    ) -> tuple[Array, Array]:
        """Make the children by the listed moves where `wanted` [M], and value them for the side to move above.

        Returns their scores, int32 [M], and whether the rules or a table of endings decide them, bool [M].
        """

        def make(rows: tuple[Array, Array], _: Array) -> tuple[Array, Array]:
            parent, move = rows
            children = jax.vmap(self.game.step)(take_rows(states, parent), move)
            return self._scores(children, player[parent], row[parent])

        rows = listed.lane, listed.move
        if listed.by_slot:
            return make(rows, jnp.int32(0))
        return apply_in_chunks(make, rows, *pack(wanted), chunk_rows(wanted.size, parts=2))[0]

    def _scores(self, children: State, player: Array, row: Array) -> tuple[Array, Array]:
        """Value children [C], whose parents are in `row` [C] with `player` [C] to move, for that side."""
        sign = (1 - 2 * player).astype(jnp.float32)
        over, score = jax.vmap(self.game.over)(children), jax.vmap(self.game.score)(children) * sign
        mover = jax.vmap(self.game.player)(children)
        value = self.evaluator.value(children)
        value = integer_value.from_value(jnp.where(mover == player, value, -value))
        value = jnp.where(over, integer_value.from_score(score, row), value)
        if self.evaluator.exact is not None:
            known, result = self.evaluator.exact(children)
            result = integer_value.from_score(jnp.where(mover == player, result, -result), row + integer_value.LATER)
            value, over = jnp.where(known & ~over, result, value), over | known
        return value, over

    def _open(
        self,
        search: LaneTree,
        opens: Array,
        found: Result,
        kind: Array,
        states: State,
        listed: Listed,
        scores: Array,
        order: Array,
    ) -> tuple[LaneTree, Array]:
        """Give places to the nodes where `opens` [L]. Returns also the places, int32 [L], N elsewhere."""
        rank = jnp.cumsum(opens.astype(jnp.int32)) - 1
        place = jnp.where(opens, search.free[jnp.maximum(search.num_free - 1 - rank, 0)], self.places)
        nodes, children, nothing = search.nodes, search.children, jnp.zeros(self.lanes, jnp.int32)
        given = found._asdict() | {
            "kind": kind,
            "begun": nothing,
            "under_way": nothing,
            "left": listed.total(order >= 0),
            "is_open": nothing + 1,
            "generation": nodes[jnp.minimum(place, self.places - 1), COLUMNS.generation] + 1,
        }
        owner = jnp.where(listed.real, place[listed.lane], self.places)

        def by_move(all_: Array, numbers: Array) -> Array:
            return all_.at[owner, listed.slot].set(numbers, mode="drop")

        search = search._replace(
            nodes=_set(nodes, place, jnp.stack([given[name] for name in OpenNode._fields], axis=1)),
            children=Brood(
                move=by_move(children.move, listed.move),
                score=by_move(children.score, scores),
                order=by_move(_set(children.order, place, jnp.full((self.lanes, self.width), -1)), order),
            ),
            lines=_set(search.lines, place, found.line),
            states=jax.tree.map(lambda all_, x: _set(all_, place, x), search.states, states),
            num_free=search.num_free - rank[-1] - 1,
        )
        return search, place

    # --- going up --------------------------------------------------------------------------------------------------

    def _go_up(self, search: LaneTree, finished: Result, touched: Array) -> tuple[LaneTree, Array]:
        """Give results to parents, as long as that finishes nodes.

        Returns also `touched`, int32 [L], with the places of parents that are not finished yet, N in other lanes.
        """
        # The loop carries no more than it changes.
        carry = search.nodes, search.lines, search.root, search.scratch, search.memory, finished, touched
        nodes, lines, root, scratch, memory, _, touched = lax.while_loop(
            lambda carry: jnp.any(carry[5].on), self._go_up_once, carry
        )
        return search._replace(nodes=nodes, lines=lines, root=root, scratch=scratch, memory=memory), touched

    def _go_up_once(self, carry: Any) -> Any:
        nodes, lines, root, scratch, memory, below, touched = carry
        lane, nowhere = jnp.arange(self.lanes, dtype=jnp.int32), self.places
        memory = self._learn_all(memory, below)
        before = nodes_at(nodes, below.parent)
        on = below.on & (before.is_open == 1)
        place = jnp.where(on, below.parent, nowhere)

        given = jnp.where(below.player == before.player, below.best, -below.best)
        nodes = nodes.at[place, COLUMNS.best].max(given, mode="drop")
        nodes = nodes.at[place, COLUMNS.complete].min(below.complete, mode="drop")
        nodes = nodes.at[place, COLUMNS.under_way].add(-1, mode="drop")
        better = on & (given > before.best) & (given == nodes[below.parent, COLUMNS.best])
        scratch = _set(scratch, jnp.where(better, place, nowhere), lane)
        better &= scratch[below.parent] == lane  # one of those that are equal
        improved = jnp.where(better, place, nowhere)
        lines = _set(lines, improved, jnp.concatenate([below.came_by[:, None], below.line[:, :-1]], axis=1))
        nodes = nodes.at[improved, COLUMNS.move].set(below.came_by, mode="drop")
        root_slot = jnp.where(on & (before.row == 1), below.slot, self.width)
        root = _set(root, root_slot, jnp.stack([given, below.complete], axis=1))

        # One lane goes on with each parent.
        scratch = _set(scratch, place, lane)
        on &= scratch[below.parent] == lane
        node = nodes_at(nodes, below.parent)
        finished = on & (node.under_way == 0) & (node.left == 0)
        if self.rules.prune:
            finished |= on & (node.best >= node.beta)
        touched = jnp.where(on & ~finished, below.parent, touched)
        nodes = nodes.at[jnp.where(finished, place, nowhere), COLUMNS.is_open].set(0, mode="drop")
        goes_on = finished & (below.parent != SUPER_ROOT)
        fields = node._asdict() | {
            "on": goes_on, "learn": goes_on & (node.depth > 0), "line": lines[below.parent]
        }  # fmt: skip
        return nodes, lines, root, scratch, memory, Result(*(fields[name] for name in Result._fields)), touched

    def _learn_all(self, memory: SearchMemory, node: Result) -> SearchMemory:
        """Write finished nodes into the table, and their best moves among the killers."""
        wanted = node.on & node.learn
        if self._has_table(memory):
            key = jnp.stack([node.key_lo, node.key_hi], axis=1).astype(jnp.uint32)
            bound = jnp.where(node.best >= node.beta, AT_LEAST, jnp.where(node.best <= node.alpha, AT_MOST, EXACT))
            value = integer_value.seen_later(node.best, node.row - 1)
            entry = Entry(jnp.ones(self.lanes, bool), value, bound, node.complete == 1, node.depth, node.move)
            place = jax.vmap(functools.partial(transpositions.place_of, memory.table))(key)
            place = jnp.where(wanted, place, memory.table.shape[0])
            memory = memory._replace(table=_set(memory.table, place, jax.vmap(transpositions.write)(key, entry)))
        if self._uses_killers:
            killers = memory.killers[node.row]
            fresh = wanted & (node.best >= node.beta) & (node.move != killers[:, 0])
            row = jnp.where(fresh, node.row, memory.killers.shape[0])
            memory = memory._replace(killers=_set(memory.killers, row, jnp.stack([node.move, killers[:, 0]], axis=1)))
        return memory

    # --- choosing --------------------------------------------------------------------------------------------------

    def _choose_children(self, search: LaneTree, touched: Array) -> LaneTree:
        """Put children of the nodes in `touched` [L] on the stack, where they wait for nothing else."""
        lane, nodes, children = jnp.arange(self.lanes, dtype=jnp.int32), search.nodes, search.children
        scratch = _set(search.scratch, touched, lane)
        node = nodes_at(nodes, touched)
        wants = (touched < self.places) & (scratch.at[touched].get(mode="clip") == lane) & (node.is_open == 1)
        wants &= (node.under_way == 0) & (node.left > 0)
        # The first child of a node is searched alone, then one more where one good move is expected, then all others.
        alone = (node.begun == 0) | ((node.begun == 1) & (node.kind == CUT_NODE))
        number = jnp.where(wants, jnp.where(alone, 1, node.left), 0)
        chosen = jnp.where(wants, touched, self.places)
        # Some of `left` come to be `under_way`.
        moved = jnp.stack([number, number, -number], axis=1)
        columns = np.array([COLUMNS.begun, COLUMNS.under_way, COLUMNS.left])
        nodes = nodes.at[chosen[:, None], columns].add(moved, mode="drop")

        # The deepest nodes last, and of a node the likeliest child last: they are taken first.
        by_depth = jnp.argsort(jnp.where(wants, node.row, 2**20)).astype(jnp.int32)
        chosen, number = (jnp.pad(x[by_depth], (0, _ROWS_AT_ONCE)) for x in (chosen, number))
        rows = jnp.sum(wants, dtype=jnp.int32)

        def some(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
            start, order, stack, top = carry
            here, few = (lax.dynamic_slice(x, (start,), (_ROWS_AT_ONCE,)) for x in (chosen, number))
            few = jnp.where(np.arange(_ROWS_AT_ONCE) + start < rows, few, 0)
            orders = order.at[here].get(mode="clip")
            ranked = jnp.sort(orders, axis=1)
            column = jnp.arange(self.width, dtype=jnp.int32)[None] - (self.width - few)[:, None]
            place = jnp.where(column >= 0, self.lanes + top + (jnp.cumsum(few) - few)[:, None] + column, stack.shape[0])
            slot = self.width - 1 - ranked % self.width  # the order ends with it
            fields = here[:, None], slot, nodes.at[here, COLUMNS.generation].get(mode="clip")[:, None]
            entries = jnp.stack([jnp.broadcast_to(x, slot.shape) for x in fields], axis=2)
            least = jnp.take_along_axis(ranked, jnp.clip(self.width - few, 0, self.width - 1)[:, None], axis=1)
            order = _set(order, jnp.where(few > 0, here, self.places), jnp.where(orders >= least, -1, orders))
            stack = stack.at[place.reshape(-1)].set(entries.reshape(-1, 3), mode="drop")
            return start + _ROWS_AT_ONCE, order, stack, top + jnp.sum(few, dtype=jnp.int32)

        begun = jnp.int32(0), children.order, search.stack, search.top
        _, order, stack, top = lax.while_loop(lambda carry: carry[0] < rows, some, begun)
        return search._replace(
            nodes=nodes, children=children._replace(order=order), stack=stack, top=top, scratch=scratch
        )

    def _make_room(self, search: LaneTree) -> LaneTree:
        """Free the places of finished nodes, and of all that was begun below them, where few are left."""

        def free_places(search: LaneTree) -> tuple[Array, Array, Array]:
            alive, parent = search.nodes[:, COLUMNS.is_open] == 1, search.nodes[:, COLUMNS.parent]
            for _ in range(max(1, (self.rows - 1).bit_length())):
                alive, parent = alive & alive[parent], parent[parent]
            places, count = pack(~alive)
            return alive.astype(jnp.int32), jnp.minimum(places, self.places - 1), count

        def keep(search: LaneTree) -> tuple[Array, Array, Array]:
            return search.nodes[:, COLUMNS.is_open], search.free, search.num_free

        needs = search.num_free < self.lanes + self.rows
        is_open, free, number = lax.cond(needs, free_places, keep, search)
        return search._replace(nodes=search.nodes.at[:, COLUMNS.is_open].set(is_open), free=free, num_free=number)


def _choose(condition: Array, first: Any, second: Any) -> Any:
    """Choose rows of two pytrees by a condition, bool [L]."""
    return jax.tree.map(lambda a, b: jnp.where(condition.reshape(-1, *(1,) * (a.ndim - 1)), a, b), first, second)


def _set(all_: Array, places: Array, rows: Array) -> Array:
    """Write rows [L, ...] at places [L]; those past the end are left out."""
    return all_.at[places].set(rows.astype(all_.dtype), mode="drop")
