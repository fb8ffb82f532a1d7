"""The trees of Monte Carlo tree search, and what they say about their roots."""

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
"""In place of a child that is not in the tree."""


class Tree(NamedTuple):
    """The trees of B roots, each with places for N nodes of K moves."""

    states: State  # [B, N, ...]
    moves: Array  # int32 [B, N, K]
    edges: Array  # float32 [B, N, 4, K] of each move: its prior, how often it was tried, the sum of what came of it,
    # and the place of the node it leads to. The prior is -inf in empty slots
    value: Array  # float32 [B, N] for side 0: the score if the game is over there, else what the evaluator says
    sign: Array  # float32 [B, N] +1 where side 0 is to move
    over: Array  # bool [B, N]
    chance: Array  # bool [B, N] whether dice decide there
    parent: Array  # int32 [B, N] -1 for the root
    parent_slot: Array  # int32 [B, N] which move of the parent leads here
    size: Array  # int32 [B] nodes in the tree
    evaluations: Array  # int32 [B] positions that the evaluator was asked about
    noise: Array  # float32 [B, K] Gamma numbers for the root's priors
    done: Array  # int32 [] simulations; -1 where the roots are not in yet


def root_policy(tree: Tree) -> Array:
    """float32 [B, K]: how often each of the root's moves was tried, as a share; 0 in empty slots."""
    visits = tree.edges[:, 0, VISITS]
    return visits / jnp.maximum(jnp.sum(visits, axis=1, keepdims=True), 1.0)


def root_value(tree: Tree) -> Array:
    """float32 [B]: the mean of all that the simulations came to, for the side to move at the root."""
    return node_mean(tree.edges[:, 0, VISITS], tree.edges[:, 0, TOTAL], tree.sign[:, 0] * tree.value[:, 0])


def node_mean(visits: Array, total: Array, own: Array) -> Array:
    """float32 [B]: the mean of what nodes are worth by themselves (`own` [B]) and of all that came of their moves."""
    return (own + jnp.sum(total, axis=1)) / (1.0 + jnp.sum(visits, axis=1))


def edge_means(visits: Array, total: Array, unvisited: Array) -> Array:
    """float32 [B, K]: the mean of what came of each move, for the side to move; `unvisited` [B] where nothing did."""
    return jnp.where(visits > 0, total / jnp.maximum(visits, 1.0), unvisited[:, None])


def best_slot(tree: Tree, unvisited: Array, key: Array) -> Array:
    """int32 [B]: the move that was tried most; of several the best by value; of several by the key."""
    visits = tree.edges[:, 0, VISITS]
    values = edge_means(visits, tree.edges[:, 0, TOTAL], unvisited)
    listed = tree.edges[:, 0, PRIOR] > -jnp.inf
    most = listed & (visits == jnp.max(jnp.where(listed, visits, -1.0), axis=1, keepdims=True))
    best = most & (values == jnp.max(jnp.where(most, values, -jnp.inf), axis=1, keepdims=True))
    return first_highest(jnp.where(best, jax.random.uniform(key, visits.shape), -1.0))


def root_result(game: Game, tree: Tree, unvisited: Array, key: Array) -> SearchResult:
    """The best move, and how often each was tried; `proven` are the moves that end the game."""
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
    return [x[root] for x in (tree.edges, tree.moves, tree.over, tree.chance)]


def expected_line(tree: Tree, root: int = 0) -> list[int]:
    """The moves that the tree of one root expects, on the host: the most tried one after the most tried one."""
    edges, moves, over, chance = jax.device_get(_of_root(tree, root))
    line: list[int] = []
    node = 0
    while not over[node] and not chance[node] and edges[node, VISITS].any():
        # Of moves that were tried as often the one that did best, as the search itself chooses.
        slot = max(range(edges.shape[2]), key=lambda k: (edges[node, VISITS, k], edges[node, TOTAL, k]))
        line.append(int(moves[node, slot]))
        node = int(edges[node, CHILD, slot])
    return line
