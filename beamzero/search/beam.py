"""The beam search of PROBS (its paper's Algorithm 1), for a batch of roots at once.

The best-first tree of one root grows by `expand` expansions. An expansion takes the open node of highest priority,
makes all its children, and values those that are not over with V. The root comes first, then all its children (priority
infinity), then nodes by the Q that their parent gave to the move that leads to them; between equal priorities the node
that was made first, which among siblings is the first in the game's list of moves. Q is frozen while it searches. In
the end an expanded node has the value of its best child for the side that moves there.

Depth. Algorithm 1 opens the children of a node at depth d while d < M. So nodes at depth M are expanded too, and leaves
lie up to M + 1 plies below the root: the paper's M = 2 sees three plies. That is the meaning of `depth` here. With
``strict=True`` no leaf lies deeper than `depth` plies.

Dice. A state in which chance decides is a node like any other: V judges it before the roll. Its children are the
outcomes that can come; Q says nothing of them, so each has the Q of the move that led to the roll. In the end its value
is their mean, weighted by probability. A roll is no ply. Roots are states in which a side chooses.

Layout. Children of expansion e stand in slots e*K to e*K + K - 1, so one slice update writes them and nothing is
scattered. Only expanded nodes keep their state, a K-th of all: a chosen child's state is its parent's, one step on.
Values are for side 0 throughout, so a sign is needed only where a side chooses. K is the most moves of a position, or
where that is more, the most outcomes of a roll.

Games with many moves keep this layout, though most slots stay empty there: in chess 31 of 218 hold a move. A slot takes
13 bytes, so the 218 take 2.8 kB beside the 1.1 kB of an expanded state. To share slots between expansions would save
60% at best, and would need a rule for when they run out. No net ever runs on an empty slot: see children.py.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from beamzero.core.errors import BadInput
from beamzero.core.packing import apply_packed
from beamzero.games import Game, State
from beamzero.games.chance import chance_is_next, step_or_resolve
from beamzero.games.game import keep_if
from beamzero.search.children import best_child, listed_moves, listed_outcomes, slots_of, value_children
from beamzero.search.evaluator import (
    Evaluator,
    RootMoves,
    SearchResult,
    choose_move,
    first_highest,
    scores_of_moves,
    side_sign,
)
from beamzero.search.memory import state_bytes
from beamzero.search.protocol import Option, Outlook, Search, Spent, outlook_of

MOST_EXPANSIONS = 100_000


class BeamTree(NamedTuple):
    """The trees of B roots: E expansions, in the order in which they were made, with K slots for children each."""

    states: State  # [B, E, ...] the expanded node; entry 0 is the root
    slot: Array  # int32 [B, E] the slot that the expanded node stands in; -1 for the root
    depth: Array  # int32 [B, E] plies from the root to the expanded node
    sign: Array  # float32 [B, E] +1 where side 0 is to move there, -1 where side 1 is, 0 where chance decides
    children: Array  # int32 [B, E] how many children it has; 0 where nothing was left to expand
    action: Array  # int32 [B, E*K] the move that leads to the child, or the outcome
    value: Array  # float32 [B, E*K] the child's value for side 0: the score if it is over, else V
    over: Array  # bool [B, E*K] whether the game is over there
    priority: Array  # float32 [B, E*K] -inf where there is nothing to expand
    highest: Array  # float32 [B, E] the highest priority among the children of an expansion
    next_slot: Array  # int32 [B] the node to expand next; -1 for the root
    open: Array  # bool [B] whether there is a node to expand next
    evaluations: Array  # int32 [B] positions put to V, and positions put to Q
    ran: Array  # int32 [] positions that V and Q were run on, padding included
    done: Array  # int32 [] expansions made so far
    dice: Dice | None  # None in a game without chance events


class Dice(NamedTuple):
    """The part of a tree that only games with chance events have."""

    scores: Array  # float32 [B, E*K] Q of the move that leads to the child, or of the move before the roll
    probs: Array  # float32 [B, E*K] the probability of an outcome; 0 for moves


@dataclasses.dataclass(frozen=True)
class BeamSearch(Search):
    """The beam search of PROBS: `expand` is the paper's E, `depth` its M."""

    expand: int = 100
    depth: int = 99
    strict: bool = False

    keeps_line = True

    def __post_init__(self) -> None:
        if not 1 <= self.expand <= MOST_EXPANSIONS:
            raise BadInput(f"expand is {self.expand}, but a search expands 1 to {MOST_EXPANSIONS} nodes")
        if self.depth < 1:
            raise BadInput(f"depth is {self.depth}, but a search looks at least 1 ply ahead")

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes of the trees of so many roots."""
        return roots * self.bytes_per_root(game)

    def bytes_per_root(self, game: Game) -> int:
        """Count the bytes of the tree of one root, but for a few."""
        return self.expand * (state_bytes(game) + 20 + (21 if game.num_chance else 13) * slots_of(game))

    def start(
        self, game: Game, evaluator: Evaluator, states: State, key: Array | None = None, wanted: Array | None = None
    ) -> BeamTree:
        """Make trees [B] of roots alone. A root where `wanted` [B] is false, or that is over, is never expanded."""
        over = jax.vmap(game.over)(states)
        batch, slots = over.shape[0], self.expand * slots_of(game)
        nothing = jnp.zeros((batch, slots), jnp.float32)
        return BeamTree(
            states=jax.tree.map(
                lambda x: jnp.zeros((batch, self.expand, *x.shape[1:]), x.dtype).at[:, 0].set(x), states
            ),
            slot=jnp.full((batch, self.expand), -1, jnp.int32),
            depth=jnp.zeros((batch, self.expand), jnp.int32),
            sign=jnp.ones((batch, self.expand), jnp.float32),
            children=jnp.zeros((batch, self.expand), jnp.int32),
            action=jnp.zeros((batch, slots), jnp.int32),
            value=nothing,
            over=jnp.zeros((batch, slots), jnp.bool_),
            priority=jnp.full((batch, slots), -jnp.inf, jnp.float32),
            highest=jnp.full((batch, self.expand), -jnp.inf, jnp.float32),
            next_slot=jnp.full(batch, -1, jnp.int32),
            open=~over if wanted is None else wanted & ~over,
            evaluations=jnp.zeros(batch, jnp.int32),
            ran=jnp.int32(0),
            done=jnp.int32(0),
            dice=Dice(nothing, nothing) if game.num_chance else None,
        )

    def advance(self, game: Game, evaluator: Evaluator, tree: BeamTree, budget: Array | int) -> BeamTree:
        """Expand `budget` more nodes of every root; fewer where E is reached or no root has a node left to expand."""
        stop = tree.done + jnp.minimum(budget, self.expand - tree.done)
        return lax.while_loop(
            lambda tree: (tree.done < stop) & jnp.any(tree.open),
            lambda tree: select(self._expand(game, evaluator, tree)),
            tree,
        )

    def _expand(self, game: Game, evaluator: Evaluator, tree: BeamTree) -> BeamTree:
        """Make and value the children of the next node of each of B trees, and choose no new one yet."""
        node, depth = _next_node(game, tree)
        width = slots_of(game)
        moves, count, listed, probs = _choices(game, node, tree.open)
        children = value_children(game, evaluator, node, moves, listed, functools.partial(step_or_resolve, game))
        ask_value = listed & ~children.over
        opens = depth < (self.depth - 1 if self.strict else self.depth)
        sign, knows_scores = side_sign(game, node), depth == 0
        if probs is not None:
            rolls = jnp.any(probs > 0, axis=1)
            sign = jnp.where(rolls, 0.0, sign)
            # Q is asked about the root's moves too: the outcomes of a roll take their priority from it.
            opens, knows_scores = opens | rolls, rolls
        may_open = ask_value & opens[:, None]
        # The root's children come first whatever Q says, and what no expansion is left for needs no priority.
        waiting = jnp.sum(tree.priority[:, :width] == jnp.inf, axis=1, dtype=jnp.int32)
        ask_scores = jnp.any(may_open, axis=1) & ~knows_scores & (self.expand - 1 - tree.done > waiting)
        # Nearly every root asks, until nearly none does.
        scores, ran = apply_packed(
            lambda rows, _: scores_of_moves(evaluator, *rows), (node, moves), ask_scores, eighths=(1, 8)
        )
        if tree.dice is not None:
            before = jnp.take_along_axis(tree.dice.scores, jnp.maximum(tree.next_slot, 0)[:, None], axis=1)
            scores = jnp.where(rolls[:, None], before, scores)
        priority = jnp.where(may_open, jnp.where((depth == 0)[:, None], jnp.inf, scores), -jnp.inf)
        asked = jnp.sum(ask_value, axis=1, dtype=jnp.int32) + ask_scores.astype(jnp.int32)

        def write_node(array: Array, node: Array) -> Array:
            return lax.dynamic_update_slice_in_dim(array, node[:, None], tree.done, axis=1)

        def write_children(array: Array, children: Array) -> Array:
            return lax.dynamic_update_slice_in_dim(array, children, tree.done * width, axis=1)

        return tree._replace(
            states=jax.tree.map(write_node, tree.states, node),
            slot=write_node(tree.slot, tree.next_slot),
            depth=write_node(tree.depth, depth),
            sign=write_node(tree.sign, sign),
            children=write_node(tree.children, count),
            action=write_children(tree.action, moves),
            value=write_children(tree.value, children.value),
            over=write_children(tree.over, children.over),
            priority=write_children(tree.priority, priority),
            highest=write_node(tree.highest, jnp.max(priority, axis=1)),
            evaluations=tree.evaluations + asked,
            ran=tree.ran + children.ran + ran,
            done=tree.done + 1,
            dice=None if probs is None else jax.tree.map(write_children, tree.dice, Dice(scores, probs)),
        )

    def result(self, game: Game, tree: BeamTree, key: Array) -> SearchResult:
        """Choose a move of each of B roots by what the trees know so far."""
        nodes = 1 + jnp.sum(tree.children, axis=1, dtype=jnp.int32)
        return choose_move(game, self.root_moves(game, tree), nodes, key)

    def done(self, game: Game, tree: BeamTree) -> Array:
        return ~tree.open | (tree.done >= self.expand)

    def spent(self, game: Game, tree: BeamTree) -> Spent:
        nodes = 1 + jnp.sum(tree.children, axis=1, dtype=jnp.int32)
        return Spent(tree.done, nodes, tree.evaluations, jnp.zeros_like(nodes))

    def outlook(self, game: Game, tree: BeamTree, result: SearchResult, row: int = 0) -> Outlook:
        return outlook_of(best_line(game, tree, row) or [int(result.action[row])], result, row)

    @property
    def units(self) -> int:
        return self.expand

    @property
    def options(self) -> Mapping[str, Option]:
        return {"Expansions": Option(self.expand, 1, MOST_EXPANSIONS)}

    def with_option(self, name: str, value: int) -> BeamSearch:
        return dataclasses.replace(self, expand=value)

    def root_moves(self, game: Game, tree: BeamTree) -> RootMoves:
        """Give the value of each move of B roots so far, without choosing one."""
        value, proven = back_up(game, tree)
        width = game.max_moves
        listed = jnp.arange(width, dtype=jnp.int32)[None] < tree.children[:, :1]
        values = jnp.where(listed, tree.sign[:, :1] * value[:, :width], -jnp.inf)
        return RootMoves(tree.action[:, :width], listed, values, listed & proven[:, :width])


def _next_node(game: Game, tree: BeamTree) -> tuple[State, Array]:
    """Find the state [B] and the depth, int32 [B], of each root's next node: one step from its parent, or the root."""
    rows = jnp.arange(tree.next_slot.shape[0], dtype=jnp.int32)
    slot = jnp.maximum(tree.next_slot, 0)
    parent = slot // slots_of(game)
    parents = jax.tree.map(lambda x: x[rows, parent], tree.states)
    children = jax.vmap(functools.partial(step_or_resolve, game))(parents, tree.action[rows, slot])
    is_root = tree.next_slot < 0
    node = jax.vmap(keep_if)(is_root, parents, children)
    ply = 1 if tree.dice is None else (tree.sign[rows, parent] != 0).astype(jnp.int32)
    return node, jnp.where(is_root, 0, tree.depth[rows, parent] + ply)


def _choices(game: Game, node: State, wanted: Array) -> tuple[Array, Array, Array, Array | None]:
    """List the moves of B nodes, or the outcomes where chance decides; none where `wanted` [B] is false.

    Returns them, int32 [B, K]; how many there are, int32 [B]; which slots hold one, bool [B, K]; and the probabilities
    of outcomes, float32 [B, K], 0 for moves. The last is None in a game without chance events.
    """
    moves, count, listed = listed_moves(game, node, wanted)
    if not game.num_chance:
        return moves, count, listed, None
    rolls = jax.vmap(functools.partial(chance_is_next, game))(node)
    outcomes, possible, probs = listed_outcomes(game, node)
    count = jnp.where(rolls & wanted, possible, count)

    def widen(x: Array) -> Array:
        return jnp.pad(x, ((0, 0), (0, slots_of(game) - x.shape[1])))

    choices = jnp.where(rolls[:, None], widen(outcomes), widen(moves))
    listed = jnp.arange(slots_of(game), dtype=jnp.int32)[None] < count[:, None]
    return choices, count, listed, jnp.where(rolls[:, None], widen(probs), 0.0)


def select(tree: BeamTree) -> BeamTree:
    """Choose in each of B trees the open node of highest priority, the first of equal ones, and close it.

    Two steps, the expansion and then its child, compare E + K numbers instead of E * K.
    """
    batch, expansions = tree.highest.shape
    width = tree.priority.shape[1] // expansions
    rows = jnp.arange(batch, dtype=jnp.int32)
    parent = first_highest(tree.highest)
    slots = parent[:, None] * width + jnp.arange(width, dtype=jnp.int32)[None]
    priorities = jnp.take_along_axis(tree.priority, slots, axis=1)  # [B, K]
    child = first_highest(priorities)
    slot = parent * width + child
    others = jnp.where(jnp.arange(width, dtype=jnp.int32)[None] == child[:, None], -jnp.inf, priorities)
    return tree._replace(
        priority=tree.priority.at[rows, slot].set(-jnp.inf),
        highest=tree.highest.at[rows, parent].set(jnp.max(others, axis=1)),
        next_slot=slot,
        open=tree.open & (jnp.max(priorities, axis=1) > -jnp.inf),
    )


def back_up(game: Game, tree: BeamTree) -> tuple[Array, Array]:
    """Back up values. Returns each child's value for side 0, float32 [B, E*K], and whether it is proven, bool [B, E*K].

    A node is made after its parent, so one pass over the expansions, last first, meets children before their parents.
    """
    width = slots_of(game)
    rows = jnp.arange(tree.slot.shape[0], dtype=jnp.int32)

    def body(i: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        value, proven = carry
        e = tree.done - 1 - i
        slot, count, sign = (
            lax.dynamic_index_in_dim(x, e, 1, keepdims=False) for x in (tree.slot, tree.children, tree.sign)
        )
        below = lax.dynamic_slice_in_dim(value, e * width, width, axis=1)
        best, certain = best_child(below, lax.dynamic_slice_in_dim(proven, e * width, width, axis=1), count, sign)
        if tree.dice is not None:
            probs = lax.dynamic_slice_in_dim(tree.dice.probs, e * width, width, axis=1)
            best = jnp.where(sign == 0, jnp.sum(probs * below, axis=1), best)
        place = jnp.where(count > 0, slot, value.shape[1])  # past the end where nothing was expanded: dropped
        return value.at[rows, place].set(best, mode="drop"), proven.at[rows, place].set(certain, mode="drop")

    return lax.fori_loop(0, tree.done - 1, body, (tree.value, tree.over))


_back_up = jax.jit(back_up, static_argnums=0)
"""`back_up`, compiled, for callers on the host: a bare loop would be traced and compiled at each call."""


def best_line(game: Game, tree: BeamTree, root: int = 0) -> list[int]:
    """List the moves that the tree of one root expects: the best child, its best child, and so on up to a roll."""
    tree, value = jax.device_get((tree, _back_up(game, tree)[0]))
    # A row that has nothing left to expand while others go on still gets entries, of no children.
    expanded_as = {int(slot): e for e, slot in enumerate(tree.slot[root]) if tree.children[root, e] > 0}
    line: list[int] = []
    e: int | None = 0
    while e is not None and int(tree.children[root, e]) > 0 and tree.sign[root, e]:
        first, count = e * slots_of(game), int(tree.children[root, e])
        slot = first + int(np.argmax(float(tree.sign[root, e]) * value[root, first : first + count]))
        line.append(int(tree.action[root, slot]))
        e = expanded_as.get(slot)
    return line
