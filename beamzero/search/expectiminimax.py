"""Expectiminimax: minimax with chance events, as a depth-first search of one position.

A turn is all that a side does between two chance events, however many moves that is; the depth counts turns. Where it
is used up, the state in which chance would decide next is evaluated as it is, for the side that chooses after it.

Every value is one for side 0, in [-1, 1]: side 0 takes the highest, side 1 the lowest, chance the mean. A node is
expanded by making all its children at once. Those whose value is known at once are done; the others are searched one
after the other. Nothing is searched that cannot matter:

- a side leaves out what the other side would not allow (alpha-beta);
- at a chance event, once the outcomes that are left could not bring the mean back into the window even if all of them
  were won or lost outright (Star1, Ballard 1983).

The moves of a turn can be made in any order, so that the same position is met many times: a table remembers the exact
values of positions.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.core.errors import BadInput
from beamzero.games import CHANCE, Game, State
from beamzero.search.children import listed_moves
from beamzero.search.evaluator import Evaluator, RootMoves, SearchResult, choose_move, side_sign
from beamzero.search.protocol import Option, Search, Spent

LOW, HIGH = np.float32(-1), np.float32(1)
"""Bounds of values."""

MOST_TURNS = 8
"""The deepest search, in turns."""
_LONGEST_TURN = 6
"""The most moves of one turn that are followed; after these the position is evaluated as it is."""

_OUTSIDE, _MARGIN = np.float32(2), np.float32(1e-6)
NO_NODE_LIMIT = 2**31 - 1
"""As the number of nodes: no limit. The searches then go to the full depth at once."""
_ENDLESS = np.int32(2**30)
"""Nodes that no search of one depth expands."""


class Frame(NamedTuple):
    """A node that is being searched, with its W children; [R, ...] on the path from the root."""

    kids: State  # [W, ...] its children
    values: Array  # float32 [W] the values of children that are known so far, for side 0
    todo: Array  # bool [W] children that are still to be searched
    probs: Array  # float32 [W] of the outcomes, where chance decides
    sign: Array  # float32 [] 1 where side 0 chooses, -1 where side 1 does, 0 where chance does
    best: Array  # float32 [] the best value so far; where chance decides, the weighted sum of the known ones
    rest: Array  # float32 [] the total probability of outcomes that are not known yet
    low: Array  # float32 [] values up to this do not matter
    high: Array  # float32 [] values from this on do not matter
    turns: Array  # int32 [] turns still to be searched
    slot: Array  # int32 [] the child that is being searched
    key: Array  # uint32 [2] the key of the position


class Path(NamedTuple):
    """A search of one position to one depth."""

    frames: Frame  # [R, ...]
    row: Array  # int32 [] the row of the current node; -1: the search is finished
    table: Array  # uint32 [T, 4] two words of a key, the turns left, the bits of the exact value
    nodes: Array  # int32 [] positions made
    expanded: Array  # int32 [] nodes whose children were made


class Turns(NamedTuple):
    """A search of B positions, one after the other."""

    roots: State  # [B, ...]
    seeds: Array  # uint32 [B] seeds by which outcomes are drawn
    row: Array  # int32 [] the position that is searched; B: all are
    path: Path
    depth: Array  # int32 [] the turns of the search under way
    values: Array  # float32 [B, W] of the moves, for side 0, by the deepest search that came to its end
    found: Array  # int32 [B] the turns of the deepest search that came to its end; 0: there was none yet
    nodes: Array  # int32 [B] positions made, by all searches
    units: Array  # int32 [] nodes expanded, of all positions together


@dataclasses.dataclass(frozen=True)
class Expectiminimax(Search):
    """Expectiminimax some turns deep."""

    depth: int = 2
    """Turns: with 1 the search ends with the mover's own turn, with 2 with each answer to each roll."""
    nodes: int = NO_NODE_LIMIT
    """Positions after which the search of a depth is given up, and that of one turn less counts; one turn is always
    searched."""
    prune: bool = True
    """Leave out what cannot matter."""
    rolls: int = 0
    """The number of outcomes of a chance event that are followed, drawn by probability without repetition; 0 for all.

    All events of a search at one depth draw the same ones, so that moves are compared by the same luck.
    """
    entries: int = 2**14
    """Places in the table of positions, a power of two; 0 for no table."""
    every_move: bool = False
    """Find the exact value of each move, not only of the best one."""

    one_by_one = True

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= MOST_TURNS:
            raise BadInput(f"depth is {self.depth}, but must be 1 to {MOST_TURNS} turns")
        if not 1 <= self.nodes <= NO_NODE_LIMIT:
            raise BadInput(f"nodes is {self.nodes}, but must be 1 or more")
        if self.rolls < 0:
            raise BadInput(f"rolls is {self.rolls}, but must be 0 for all, or more")
        if self.entries & (self.entries - 1) or not 0 <= self.entries <= 2**28:
            raise BadInput(f"a table of {self.entries} entries is not possible: 0 or a power of two up to {2**28}")

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> Turns:
        """Begin with the first of B positions."""
        size = jax.tree.leaves(states)[0].shape[0]
        seeds = jax.random.bits(key, (size,), jnp.uint32)
        depth, none = jnp.int32(self._first_depth), jnp.zeros(size, jnp.int32)
        path = self._begin(game, evaluator, _take(states, 0), seeds[0], depth, jnp.int32(0))
        values = jnp.zeros((size, path.frames.values.shape[1]), jnp.float32)
        return Turns(states, seeds, jnp.int32(0), path, depth, values, none, none, jnp.int32(0))

    @property
    def _first_depth(self) -> int:
        """Give the turns of the first search: with a limit of nodes it is one turn, then two and so on."""
        return 1 if self.nodes < NO_NODE_LIMIT else self.depth

    def advance(self, game: Game, evaluator: Evaluator, carry: Turns, budget: Array | int) -> Turns:
        """Expand up to `budget` more nodes, until a depth of the current position has come to its end, or was given up.

        The first depth of a position is searched to its end whatever the budget is.
        """
        size = carry.found.shape[0]
        place, goes_on = jnp.minimum(carry.row, size - 1), carry.row < size
        is_first = carry.found[place] == 0
        until = carry.path.expanded + jnp.where(goes_on, jnp.where(is_first & (budget > 0), _ENDLESS, budget), 0)
        path = lax.while_loop(
            lambda now: (now.row >= 0) & (now.expanded < until) & ((now.nodes < self.nodes) | is_first),
            functools.partial(self._step, game, evaluator, carry.seeds[place]),
            carry.path,
        )
        deeper = goes_on & (path.row < 0)
        depth = carry.depth + deeper.astype(jnp.int32)
        enough = (depth > self.depth) | (path.nodes >= self.nodes)
        leaves = goes_on & (deeper | ~is_first) & enough
        row = carry.row + leaves.astype(jnp.int32)
        depth = jnp.where(leaves, self._first_depth, depth)
        following = jnp.minimum(row, size - 1)

        def begin() -> Path:
            nodes = jnp.where(leaves, 0, path.nodes)
            return self._begin(game, evaluator, _take(carry.roots, following), carry.seeds[following], depth, nodes)

        made = jnp.where(goes_on, path.nodes, carry.nodes[place])
        root_values = jnp.where(deeper, path.frames.values[0], carry.values[place])
        return Turns(
            roots=carry.roots,
            seeds=carry.seeds,
            row=row,
            path=lax.cond(deeper | leaves, begin, lambda: path),
            depth=depth,
            values=carry.values.at[carry.row].set(root_values, mode="drop"),
            found=carry.found.at[carry.row].set(jnp.where(deeper, carry.depth, carry.found[place]), mode="drop"),
            nodes=carry.nodes.at[carry.row].set(made, mode="drop"),
            units=carry.units + path.expanded - carry.path.expanded,
        )

    def finish(self, game: Game, evaluator: Evaluator, carry: Turns) -> Turns:
        return lax.while_loop(
            lambda carry: carry.row < carry.found.shape[0],
            lambda carry: self.advance(game, evaluator, carry, jnp.int32(_ENDLESS)),
            carry,
        )

    def done(self, game: Game, carry: Turns) -> Array:
        return jnp.arange(carry.found.shape[0], dtype=jnp.int32) < carry.row

    def spent(self, game: Game, carry: Turns) -> Spent:
        return Spent(carry.units, carry.nodes, carry.nodes, carry.found)

    def result(self, game: Game, carry: Turns, key: Array) -> SearchResult:
        moves, _, listed = listed_moves(game, carry.roots)
        own = jnp.where(listed, side_sign(game, carry.roots)[:, None] * carry.values[:, : game.max_moves], -jnp.inf)
        return choose_move(game, RootMoves(moves, listed, own, jnp.zeros(listed.shape, jnp.bool_)), carry.nodes, key)

    def anytime(self) -> Expectiminimax:
        """Make a search that goes deeper turn by turn, and so has an early answer."""
        return dataclasses.replace(self, nodes=min(self.nodes, NO_NODE_LIMIT - 1))

    def with_every_move(self) -> Expectiminimax:
        return dataclasses.replace(self, every_move=True)

    @property
    def options(self) -> Mapping[str, Option]:
        return {"Depth": Option(self.depth, 1, MOST_TURNS)}

    def with_option(self, name: str, value: int) -> Expectiminimax:
        return dataclasses.replace(self, depth=value)

    # --- one step at a time ----------------------------------------------------------------------------------------

    def _begin(self, game: Game, evaluator: Evaluator, root: State, seed: Array, depth: Array, nodes: Array) -> Path:
        """Begin to search a position in which a side chooses; shallower searches of it have made `nodes` positions."""
        rows = self.depth * (_LONGEST_TURN + 1)
        table = jnp.zeros((max(1, self.entries), 4), jnp.uint32)
        first, made = self._expand(game, evaluator, seed, root, game.hash(root), depth, -_OUTSIDE, _OUTSIDE)
        frames = jax.tree.map(lambda x: jnp.zeros((rows, *x.shape), x.dtype).at[0].set(x), first)
        return Path(frames, jnp.int32(0), table, nodes + made, jnp.int32(0))

    def _step(self, game: Game, evaluator: Evaluator, seed: Array, now: Path) -> Path:
        """Expand the next child of the current node, or take its value from the table; or give a value to the parent.

        One frame is written, and `cond` returns only that: large arrays would be copied.
        """
        frame = jax.tree.map(lambda x: x[now.row], now.frames)
        goes_on = jnp.any(frame.todo) & ~(self.prune & (now.row > 0) & _is_cut(frame))
        slot = jnp.where(goes_on, _likeliest(frame), frame.slot).astype(jnp.int32)
        child = jax.tree.map(lambda x: x[slot], frame.kids)
        turns = frame.turns - (game.player(child) == CHANCE).astype(jnp.int32)
        key = game.hash(child)
        known, remembered = self._recall(now.table, key, turns)
        known &= goes_on
        value = jnp.where(known, remembered, _result(frame))
        written, made = lax.cond(
            goes_on & ~known,
            lambda: self._child(game, evaluator, seed, now, frame, slot, child, key, turns),
            lambda: (self._with_child_value(now, known, slot, value), jnp.int32(0)),
        )
        table = self._remember(now.table, frame, value, ~goes_on)
        here = now.frames._replace(
            todo=now.frames.todo.at[now.row, slot].set(False),
            slot=now.frames.slot.at[now.row].set(slot),
        )
        row = now.row + jnp.where(known, 0, jnp.where(goes_on, 1, -1)).astype(jnp.int32)
        frames = jax.tree.map(lambda x, new: x.at[jnp.maximum(row, 0)].set(new), here, written)
        return Path(frames, row, table, now.nodes + made, now.expanded + (made > 0).astype(jnp.int32))

    def _child(
        self, game: Game, evaluator: Evaluator, seed: Array, now: Path, frame: Frame, slot: Array,
        child: State, key: Array, turns: Array,
    ) -> tuple[Frame, Array]:  # fmt: skip
        """Expand the `child` in `slot`. Returns its frame, and how many children it has."""
        low, high = self._window(frame, slot, now.row == 0)
        room = now.frames.turns.shape[0] - 2 - now.row
        return self._expand(game, evaluator, seed, child, key, turns, low, high, room)

    def _with_child_value(self, now: Path, known: Array, slot: Array, value: Array) -> Frame:
        """Give the current node the value of its child in `slot`, if `known`; else give its own value to its parent.

        Returns the node that got it; the root as it is where there is no parent.
        """
        node = jax.tree.map(lambda x: x[jnp.where(known, now.row, jnp.maximum(now.row - 1, 0))], now.frames)
        node = node._replace(todo=node.todo & ~(known & (jnp.arange(node.todo.shape[0]) == slot)))
        updated = _add_child_value(node, jnp.where(known, slot, node.slot), value)
        return jax.tree.map(lambda new, old: jnp.where(known | (now.row > 0), new, old), updated, node)

    def _window(self, frame: Frame, slot: Array, is_root: Array) -> tuple[Array, Array]:
        """Give the bounds, float32 [] each, between which the child in `slot` has to be known exactly."""
        if not self.prune:
            return jnp.float32(-_OUTSIDE), jnp.float32(_OUTSIDE)
        probs, chosen = frame.probs[slot], frame.sign != 0
        others = frame.rest - probs
        # Where chance decides: bounds of the mean, if all other outcomes were lost or won.
        by_chance = (frame.low - frame.best - others * HIGH) / probs, (frame.high - frame.best - others * LOW) / probs
        low = jnp.where(frame.sign > 0, jnp.maximum(frame.low, frame.best), frame.low)
        high = jnp.where(frame.sign < 0, jnp.minimum(frame.high, frame.best), frame.high)
        low, high = jnp.where(chosen, low, by_chance[0]), jnp.where(chosen, high, by_chance[1])
        if self.every_move:
            return jnp.where(is_root, -_OUTSIDE, low), jnp.where(is_root, _OUTSIDE, high)
        # Moves that are as good as the best must be known to be so.
        margin = jnp.where(is_root, _MARGIN, np.float32(0))
        return low - margin, high + margin

    def _remember(self, table: Array, frame: Frame, value: Array, finished: Array) -> Array:
        """Write the value of a `finished` node into the table, uint32 [T, 4], if that is exact. Returns the table."""
        if not self.entries:
            return table
        exact = finished & (frame.low < value) & (value < frame.high) & ~jnp.any(frame.todo)
        place = _place(frame.key, frame.turns, self.entries)
        bits = lax.bitcast_convert_type(value, jnp.uint32)
        entry = jnp.stack([frame.key[0], frame.key[1], frame.turns.astype(jnp.uint32), bits])
        return table.at[place].set(jnp.where(exact, entry, table[place]))

    def _recall(self, table: Array, key: Array, turns: Array) -> tuple[Array, Array]:
        """Look up a position. Returns whether the table has it, bool [], and its value, float32 []."""
        if not self.entries:
            return jnp.bool_(False), jnp.float32(0)
        entry = table[_place(key, turns, self.entries)]
        same = jnp.all(entry[:2] == key) & (entry[2] == turns.astype(jnp.uint32))
        return same, lax.bitcast_convert_type(entry[3], jnp.float32)

    # --- nodes -----------------------------------------------------------------------------------------------------

    def _expand(
        self, game: Game, evaluator: Evaluator, seed: Array, state: State, key: Array, turns: Array,
        low: Array | np.float32, high: Array | np.float32, room: Array | int = 1,
    ) -> tuple[Frame, Array]:  # fmt: skip
        """Make a node with all its children. Returns its frame and how many there are, int32 [].

        Without `room` for frames below it, all children are evaluated as they are.
        """
        at_chance = game.player(state) == CHANCE
        kids, listed, probs = lax.cond(
            at_chance,
            lambda: self._outcomes(game, state, turns, seed),
            lambda: _moves(game, state),
        )
        over = jax.vmap(game.over)(kids)
        waits = jax.vmap(game.player)(kids) == CHANCE
        leaf = (waits & (turns <= 1)) | (room <= 0)
        sides = _sign(jax.vmap(game.next_side)(kids))
        guessed = sides * jnp.clip(evaluator.value(kids), LOW, HIGH)
        values = jnp.where(over, jax.vmap(game.score)(kids), guessed)
        known = over | leaf
        sign = jnp.where(at_chance, 0.0, _sign(game.player(state))).astype(jnp.float32)
        done = listed & known
        by_choice = jnp.where(done, sign * values, -_OUTSIDE).max() * sign
        frame = Frame(
            kids=kids, values=values, todo=listed & ~known, probs=probs, sign=sign,
            best=jnp.where(at_chance, jnp.sum(jnp.where(done, probs * values, 0.0)), by_choice),
            rest=jnp.sum(jnp.where(listed & ~known, probs, 0.0)),
            low=jnp.float32(low), high=jnp.float32(high), turns=turns, slot=jnp.int32(0), key=key,
        )  # fmt: skip
        return frame, jnp.sum(listed, dtype=jnp.int32)

    def _outcomes(self, game: Game, state: State, turns: Array, seed: Array) -> tuple[State, Array, Array]:
        """Make the states [W] after the outcomes of a chance event. Returns them, bool [W] the followed, and probs."""
        probs = game.chance(state)
        if 0 < self.rolls < game.num_chance:
            # The highest log probabilities plus Gumbel noise are a sample without repetition.
            noise = jax.random.gumbel(jax.random.fold_in(jax.random.key(seed), turns), probs.shape)
            marks = jnp.log(probs) + noise
            chosen = marks >= jnp.sort(marks)[-self.rolls]
            probs = jnp.where(chosen, probs, 0.0)
            probs = probs / jnp.sum(probs)
        kids = jax.vmap(lambda outcome: game.resolve(state, outcome))(jnp.arange(game.num_chance, dtype=jnp.int32))
        return _widen(game, (kids, probs > 0, probs))


def _take(rows: Any, row: Array | int) -> Any:
    return jax.tree.map(lambda x: x[row], rows)


def _sign(player: Array) -> Array:
    """Give 1 for side 0 and -1 for side 1, float32 of the same shape."""
    return (1 - 2 * player).astype(jnp.float32)


def _place(key: Array, turns: Array, entries: int) -> Array:
    """Find the row, int32 [], of a position with so many turns left in a table of `entries` rows."""
    return ((key[0] ^ turns.astype(jnp.uint32) * np.uint32(0x9E3779B9)) & np.uint32(entries - 1)).astype(jnp.int32)


def _moves(game: Game, state: State) -> tuple[State, Array, Array]:
    """Make the states [W] after each move. Returns them, bool [W] the real ones, and ones in place of probabilities."""
    moves, count = game.moves(state)
    kids = jax.vmap(lambda action: game.step(state, action))(moves)
    return _widen(game, (kids, jnp.arange(game.max_moves) < count, jnp.ones(game.max_moves, jnp.float32)))


def _widen(game: Game, tree: Any) -> Any:
    """Pad children, and what belongs to them, to the width W of a node, with copies of the first child."""
    width = max(game.max_moves, game.num_chance)
    kids, listed, probs = tree

    def pad(x: Array) -> Array:
        return jnp.concatenate([x, jnp.broadcast_to(x[:1], (width - x.shape[0], *x.shape[1:]))])

    empty = (0, width - listed.shape[0])
    return jax.tree.map(pad, kids), jnp.pad(listed, empty), jnp.pad(probs, empty)


def _likeliest(frame: Frame) -> Array:
    """Choose the child to search next, int32 []: the one with the best evaluation, or the likeliest outcome."""
    promise = jnp.where(frame.sign == 0, frame.probs, frame.sign * frame.values)
    return jnp.argmax(jnp.where(frame.todo, promise, -_OUTSIDE))


def _is_cut(frame: Frame) -> Array:
    """Tell, bool [], whether no child that is left can bring the value back into the window."""
    by_chance = (frame.best + frame.rest * HIGH <= frame.low) | (frame.best + frame.rest * LOW >= frame.high)
    by_choice = jnp.where(frame.sign > 0, frame.best >= frame.high, frame.best <= frame.low)
    return jnp.where(frame.sign == 0, by_chance, by_choice)


def _result(frame: Frame) -> Array:
    """Give the value of a node, float32 []; outside its window a bound: an upper one below it, a lower one above it."""
    highest = frame.best + frame.rest * HIGH
    by_chance = jnp.where(highest <= frame.low, highest, frame.best + frame.rest * LOW)
    return jnp.where(frame.sign == 0, by_chance, frame.best)


def _add_child_value(parent: Frame, slot: Array, value: Array) -> Frame:
    """Add to a node the value of its child in `slot`. Returns the node."""
    probs = parent.probs[slot]
    chosen = jnp.where(parent.sign > 0, jnp.maximum(parent.best, value), jnp.minimum(parent.best, value))
    at_chance = parent.sign == 0
    return parent._replace(
        values=parent.values.at[slot].set(value),
        best=jnp.where(at_chance, parent.best + probs * value, chosen),
        rest=jnp.where(at_chance, parent.rest - probs, parent.rest),
    )
