"""The arrays of a search in lanes: open nodes and their children, the moves of a step, and what was finished."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from beamzero.games import State
from beamzero.search.alphabeta.negamax import SearchMemory

PV_NODE, CUT_NODE, ALL_NODE = 0, 1, 2
"""Kinds of nodes by what is expected: a score between their bounds; one good move; no good move."""

SUPER_ROOT = 0
"""The place of the node above the root, whose only child is the root."""


class OpenNode(NamedTuple):
    """A node whose children are being searched, or L of them; N of them are packed, int32 [N, fields] in this order.

    The one in place 0 is no position: its only child is the root.
    """

    parent: Array
    slot: Array  # which child of its parent it is
    came_by: Array  # the move that leads to it
    row: Array  # plies from the super-root: 1 is the root
    depth: Array  # plies still to be searched; not above 0 where only noisy moves are followed
    player: Array  # the side to move
    alpha: Array
    beta: Array
    best: Array  # the best score so far
    move: Array  # the move that leads there, or NO_MOVE
    complete: Array  # 1 while all lines below ended by the rules
    kind: Array  # what is expected of it
    begun: Array  # children that were put on the stack
    under_way: Array  # those of them that are not finished
    left: Array  # children that wait
    is_open: Array  # 1; 0 where the node is finished, or the place is free
    generation: Array  # how often the place was taken, so that old entries of the stack are known
    key_lo: Array
    key_hi: Array


COLUMNS = OpenNode(*range(len(OpenNode._fields)))
"""The column of each field in packed nodes."""


class Brood(NamedTuple):
    """The children of N nodes, in W slots each."""

    move: Array  # int32 [N, W]
    score: Array  # int32 [N, W] for the node's side to move: by the rules, or by the evaluation
    order: Array  # int32 [N, W] the highest is searched first; -1 where it was begun, or need not be searched


class Listed(NamedTuple):
    """M moves of the nodes of L lanes."""

    lane: Array  # int32 [M]
    slot: Array  # int32 [M] the place of the move among those of its node
    move: Array  # int32 [M]
    real: Array  # bool [M]
    lanes: int  # L
    by_slot: bool
    """True if every lane has as many."""

    def spread(self, numbers: Array) -> Array:
        """Give each move the number of its lane, of `numbers` [L]. Returns [M]."""
        return numbers[self.lane]

    def highest(self, numbers: Array, least: Any) -> Array:
        """Find the highest of `numbers` [M] in each lane, [L]; `least` where there are none."""
        if self.by_slot:
            return jnp.max(numbers.reshape(self.lanes, -1), axis=1)
        lane = jnp.where(self.real, self.lane, self.lanes)
        return jnp.full(self.lanes, least, numbers.dtype).at[lane].max(numbers, mode="drop")

    def total(self, mask: Array) -> Array:
        """Count where `mask` [M] holds in each lane, int32 [L]."""
        if self.by_slot:
            return jnp.sum(mask.reshape(self.lanes, -1), axis=1, dtype=jnp.int32)
        lane = jnp.where(self.real, self.lane, self.lanes)
        return jnp.zeros(self.lanes, jnp.int32).at[lane].add(mask.astype(jnp.int32), mode="drop")


class Result(NamedTuple):
    """L nodes that were finished, and wait until their parents have the results."""

    on: Array  # bool [L] whether the lane has one
    learn: Array  # bool [L] whether the table shall keep it
    parent: Array  # int32 [L]
    slot: Array
    came_by: Array
    row: Array
    depth: Array
    player: Array
    alpha: Array
    beta: Array
    best: Array
    move: Array
    complete: Array
    key_lo: Array
    key_hi: Array
    line: Array  # int32 [L, R] the best line from there on, -1 where it ends


class LaneTree(NamedTuple):
    """A search under way."""

    nodes: Array  # int32 [N, fields of OpenNode]
    children: Brood
    lines: Array  # int32 [N, R] the best line from each node on
    states: State  # [N, ...]
    stack: Array  # int32 [L + S, 3] the children to be searched: node, slot, generation; the first L rows are none
    top: Array  # int32 [] entries of the stack
    free: Array  # int32 [N] free places, the first `num_free`
    num_free: Array  # int32 []
    visited: Array  # int32 [] positions that a search which makes one child after the other would have made
    expanded: Array  # int32 [] nodes that were expanded since `advance` was called
    root: Array  # int32 [W, 2] the score of each move of the root, and 1 if all its lines ended by the rules
    scratch: Array  # int32 [N] to find one of several lanes that name the same node
    memory: SearchMemory


def nodes_at(nodes: Array, places: Array) -> OpenNode:
    """Read packed nodes, int32 [N, fields], at places [L]; a place past the end gives the last one."""
    rows = nodes.at[places].get(mode="clip")
    return OpenNode(*(rows[..., field] for field in range(len(OpenNode._fields))))
