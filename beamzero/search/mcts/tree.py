"""The trees of Monte Carlo tree search, and the results at their roots."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.games import Game, State
from beamzero.search.evaluator import SearchResult, first_highest, spread

PRIOR, VISITS, TOTAL, CHILD = range(4)
"""The rows of `Tree.edges`."""

NOTHING = -1.0
"""The place of a child that is not in the tree."""


class Tree(NamedTuple):
    """The trees of B roots, each with places for N nodes of K moves."""

    states: State  # [B, N, ...]
    moves: Array  # int32 [B, N, K]
    edges: Array  # float32 [B, N, 4, K] of each move: its prior, its visits, the sum of their values, and the place of
    # the node it leads to. The prior is -inf in empty slots
    value: Array  # float32 [B, N] for side 0: the score if the game is over there, else the evaluator's value
    sign: Array  # float32 [B, N] +1 where side 0 is to move
    over: Array  # bool [B, N]
    chance: Array  # bool [B, N] whether dice decide there
    parent: Array  # int32 [B, N] -1 for the root
    parent_slot: Array  # int32 [B, N] which move of the parent leads here
    size: Array  # int32 [B] nodes in the tree
    evaluations: Array  # int32 [B] positions put to the evaluator
    noise: Array  # float32 [B, K] Gamma numbers for the root's priors
    done: Array  # int32 [] simulations; -1 before the roots are added


def root_policy(tree: Tree) -> Array:
    """Give the share of visits of each move of B roots, float32 [B, K]; 0 in empty slots."""
    visits = tree.edges[:, 0, VISITS]
    return visits / jnp.maximum(jnp.sum(visits, axis=1, keepdims=True), 1.0)


def root_value(tree: Tree) -> Array:
    """Average the values of all simulations for the side to move at each of B roots, float32 [B]."""
    return node_mean(tree.edges[:, 0, VISITS], tree.edges[:, 0, TOTAL], tree.sign[:, 0] * tree.value[:, 0])


def node_mean(visits: Array, total: Array, own: Array) -> Array:
    """Average the own value of each node, `own` [B], and the values of all visits of its moves. Returns float32 [B].

    `visits` and `total` are [B, K].
    """
    return (own + jnp.sum(total, axis=1)) / (1.0 + jnp.sum(visits, axis=1))


def edge_means(visits: Array, total: Array, unvisited: Array) -> Array:
    """Average the values of the visits of each move, float32 [B, K], for the side to move; `unvisited` [B] without."""
    return jnp.where(visits > 0, total / jnp.maximum(visits, 1.0), unvisited[:, None])


def best_slot(tree: Tree, unvisited: Array, key: Array) -> Array:
    """Find the most visited slot of each of B roots, int32 [B]; of several the best value, then one by the key."""
    visits = tree.edges[:, 0, VISITS]
    values = edge_means(visits, tree.edges[:, 0, TOTAL], unvisited)
    listed = tree.edges[:, 0, PRIOR] > -jnp.inf
    most = listed & (visits == jnp.max(jnp.where(listed, visits, -1.0), axis=1, keepdims=True))
    best = most & (values == jnp.max(jnp.where(most, values, -jnp.inf), axis=1, keepdims=True))
    return first_highest(jnp.where(best, jax.random.uniform(key, visits.shape), -1.0))


def root_result(game: Game, tree: Tree, unvisited: Array, key: Array) -> SearchResult:
    """Make the result of B trees: the policy is the shares of visits, and the moves that end the game are proven."""
    moves, child = tree.moves[:, 0], tree.edges[:, 0, CHILD]
    listed = tree.edges[:, 0, PRIOR] > -jnp.inf
    slot = best_slot(tree, unvisited, key)
    rows = jnp.arange(moves.shape[0], dtype=jnp.int32)
    ended = tree.over[rows[:, None], jnp.maximum(child, 0.0).astype(jnp.int32)] & (child >= 0)

    def by_action(numbers: Array, fill: float) -> Array:
        return spread(moves, listed, numbers, game.num_actions, fill)

    return SearchResult(
        action=moves[rows, slot],
        values=by_action(edge_means(tree.edges[:, 0, VISITS], tree.edges[:, 0, TOTAL], unvisited), -jnp.inf),
        policy=by_action(root_policy(tree), 0.0),
        value=root_value(tree),
        nodes=tree.size,
        proven=by_action(ended, False),
    )


@jax.jit
def _of_root(tree: Tree, root: int | Array) -> list[Array]:
    """Take edges, moves, ends and chance nodes of one tree: [N, 4, K], [N, K], [N] and [N]."""
    return [x[root] for x in (tree.edges, tree.moves, tree.over, tree.chance)]


def expected_line(tree: Tree, root: int = 0) -> list[int]:
    """List the moves that the tree of one root expects: the most visited one, then the most visited one after it."""
    edges, moves, over, chance = jax.device_get(_of_root(tree, root))
    line: list[int] = []
    node = 0
    while not over[node] and not chance[node] and edges[node, VISITS].any():
        # Of moves with equal visits the one with the best value, as the search itself chooses.
        slot = max(range(edges.shape[2]), key=lambda k: (edges[node, VISITS, k], edges[node, TOTAL, k]))
        line.append(int(moves[node, slot]))
        node = int(edges[node, CHILD, slot])
    return line
