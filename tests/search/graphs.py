"""A game that is nothing but a random graph, in which many paths lead to the same position, in circles too."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial

from beamzero.games import Game
from beamzero.games.hashing import hash_words
from beamzero.search.evaluator import Evaluator, zero_evaluator

GRAPHS = 16
NODES = 24


class Shape(NamedTuple):
    """How wide the graphs are."""

    actions: int
    moves: int  # the most that a node has


NARROW = Shape(actions=5, moves=4)
WIDE = Shape(actions=80, moves=70)
"""Most nodes have a few moves, some have all 70: more than a search makes at a time."""


class Graph(NamedTuple):
    """GRAPHS graphs side by side, nodes numbered through: graph g begins at node g * NODES, where its game begins."""

    child: Array  # int32 [N, A] the node that the action leads to; -1 where it is illegal. None: the game is over
    player: Array  # int32 [N]
    score: Array  # float32 [N] for side 0; 0 where the game goes on
    value: Array  # float32 [N] what the evaluation says
    noisy: Array  # bool [N, A]
    must_answer: Array  # bool [N]
    order: Array  # int32 [N, A]
    solved: Array  # bool [N] whether a table of solved positions has it
    result: Array  # float32 [N] what this table says, for the side to move


class GraphState(NamedTuple):
    node: Array  # int32 []
    ply: Array  # int32 [] which nothing depends on, so that the key of a position leaves it out


ROOTS = GraphState(np.arange(GRAPHS, dtype=np.int32) * NODES, np.zeros(GRAPHS, np.int32))


@dataclasses.dataclass(frozen=True, eq=False)
class GraphGame(Game):
    """Walk along the graph. Make it inside the function that is compiled, so that the graph is an argument there."""

    graph: Graph
    shape: Shape = NARROW

    name: ClassVar[str] = "graph"
    num_actions = property(lambda self: self.shape.actions)
    max_moves = property(lambda self: self.shape.moves)
    max_plies = 1000
    observation_shape = ()

    def init(self, key: Array) -> GraphState:
        return GraphState(jnp.int32(0), jnp.int32(0))

    def player(self, state: GraphState) -> Array:
        return self.graph.player[state.node]

    def legal(self, state: GraphState) -> Array:
        return self.graph.child[state.node] >= 0

    def step(self, state: GraphState, action: Array) -> GraphState:
        node = jnp.where(self.over(state), state.node, self.graph.child[state.node, action])
        return GraphState(node, state.ply + 1)

    def over(self, state: GraphState) -> Array:
        return jnp.all(self.graph.child[state.node] < 0)

    def score(self, state: GraphState) -> Array:
        return self.graph.score[state.node]

    def observe(self, state: GraphState) -> Array:
        return state.node.astype(jnp.float32)

    def noisy(self, state: GraphState, action: Array) -> Array:
        return self.graph.noisy[state.node, action]

    def must_answer(self, state: GraphState) -> Array:
        return self.graph.must_answer[state.node]

    def order(self, state: GraphState, action: Array) -> Array:
        return self.graph.order[state.node, action]

    def hash(self, state: GraphState) -> Array:
        return hash_words(state.node.astype(jnp.uint32))

    def action_name(self, state: GraphState, action: int) -> str:
        return str(action)


@dataclasses.dataclass(frozen=True)
class _Lookup:
    """The entry of a table for each state."""

    def __call__(self, table: Array, states: GraphState) -> Array:
        return table[states.node]


@dataclasses.dataclass(frozen=True)
class _LookupTwo:
    """The same in two tables."""

    def __call__(self, tables: tuple[Array, Array], states: GraphState) -> tuple[Array, Array]:
        return tables[0][states.node], tables[1][states.node]


def graph_evaluator(game: GraphGame) -> Evaluator:
    """Without the table of solved positions where none is solved."""
    graph = game.graph
    evaluator = zero_evaluator(game)._replace(value=Partial(_Lookup(), graph.value))
    return (
        evaluator
        if graph.solved is None
        else evaluator._replace(exact=Partial(_LookupTwo(), (graph.solved, graph.result)))
    )


def draw(seed: int, shape: Shape = NARROW, solved: bool = False) -> Graph:
    """Random graphs; with `solved`, a table has some of their positions.

    They differ in how bushy they are, if there are circles, how soon games end, how many ties and noisy moves they
    have, and how often the same side moves again.
    """
    rng = np.random.default_rng(seed)
    total, (actions, moves) = GRAPHS * NODES, shape
    graph = Graph(
        child=np.full((total, actions), -1, np.int32),
        player=np.zeros(total, np.int32),
        score=rng.choice(np.array([-1, -0.5, 0, 0.5, 1], np.float32), total, p=[0.3, 0.1, 0.2, 0.1, 0.3]),
        value=np.zeros(total, np.float32),
        noisy=np.zeros((total, actions), bool),
        must_answer=np.zeros(total, bool),
        order=rng.integers(0, 256, (total, actions)).astype(np.int32),
        solved=rng.random(total) < 0.2 if solved else None,
        result=rng.choice(np.array([-1, 0, 1], np.float32), total) if solved else None,
    )
    for first in range(0, total, NODES):
        here = slice(first, first + NODES)
        most, circles, ends = int(rng.integers(1, 5)), rng.random() < 0.4, rng.choice([0.05, 0.2, 0.5])
        for i in range(NODES):
            later = np.arange(first, first + NODES) if circles else np.arange(first + i + 1, first + NODES)
            if len(later) == 0 or (i > 0 and rng.random() < ends):
                continue
            count = int(rng.integers(1, most + 1)) if rng.random() < 0.9 else moves
            near = later[: int(rng.integers(1, len(later) + 1))]
            graph.child[first + i, rng.permutation(actions)[:count]] = rng.choice(near, count)
        levels = rng.choice([1, 3, 1000])  # the fewer, the more ties
        graph.value[here] = np.round(rng.uniform(-levels, levels, NODES)) / levels
        graph.player[here] = rng.random(NODES) < rng.choice([0.0, 0.5])
        if rng.random() < 0.5:
            graph.player[here] = np.arange(NODES) % 2
        graph.noisy[here] = rng.random((NODES, actions)) < rng.choice([0.1, 0.5, 1.0])
        graph.must_answer[here] = rng.random(NODES) < rng.choice([0.0, 0.3, 0.8])
        if rng.random() < 0.3:
            graph.order[here] = 0
    graph.score[(graph.child >= 0).any(axis=1)] = 0
    return graph


@dataclasses.dataclass(frozen=True)
class GraphRules:
    """The same game in plain Python; a position is the number of a node."""

    graph: Graph

    def moves(self, node: int) -> list[int]:
        return np.flatnonzero(self.graph.child[node] >= 0).tolist()

    def step(self, node: int, action: int) -> int:
        return int(self.graph.child[node][action])

    def over(self, node: int) -> bool:
        return not self.moves(node)

    def score(self, node: int) -> float:
        return float(self.graph.score[node])

    def player(self, node: int) -> int:
        return int(self.graph.player[node])

    def value(self, node: int) -> int:
        return int(np.round(self.graph.value[node] * np.float32(1_000_000)))

    def noisy(self, node: int, action: int) -> bool:
        return bool(self.graph.noisy[node, action])

    def must_answer(self, node: int) -> bool:
        return bool(self.graph.must_answer[node])

    def solved(self, node: int) -> float | None:
        return float(self.graph.result[node]) if self.graph.solved is not None and self.graph.solved[node] else None
