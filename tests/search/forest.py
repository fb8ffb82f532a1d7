"""A game that is nothing but a tree, drawn at random: any shape, any values, and either side may move at any node."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial

from beamzero.games import CHANCE, Game
from beamzero.search.evaluator import Evaluator

TREES = 16
NODES = 120


class Shape(NamedTuple):
    """How wide the trees are."""

    actions: int
    moves: int  # the most that a node has
    outcomes: int = 0  # of a chance event; 0: there is none


NARROW = Shape(actions=6, moves=4)
WIDE = Shape(actions=90, moves=24)
"""Most nodes have a few moves out of many actions, some have all 24: children are packed before they are made."""
NARROW_DICE = Shape(actions=6, moves=3, outcomes=5)
WIDE_DICE = Shape(actions=90, moves=10, outcomes=24)
"""More outcomes than moves, so that they say how many slots a node has."""


class Forest(NamedTuple):
    """TREES trees side by side, nodes numbered through: tree t begins at node t * NODES."""

    child: Array  # int32 [N, A] the node that the action leads to; -1 where it is illegal. None: the game is over
    player: Array  # int32 [N]
    score: Array  # float32 [N] for side 0; 0 where the game goes on
    value: Array  # float32 [N] what V says
    scores: Array  # float32 [N, A] what Q says
    odds: Array | None = None  # float32 [N, C] of the outcomes, which lead where actions do; 0 where a side chooses


class ForestState(NamedTuple):
    node: Array  # int32 []


ROOTS = ForestState(np.arange(TREES, dtype=np.int32) * NODES)


@dataclasses.dataclass(frozen=True, eq=False)
class ForestGame(Game):
    """Walk down the tree. Make it inside the function that is compiled, so that the forest is an argument there."""

    forest: Forest
    shape: Shape = NARROW

    name: ClassVar[str] = "forest"
    num_actions = property(lambda self: self.shape.actions)
    max_moves = property(lambda self: self.shape.moves)
    num_chance = property(lambda self: self.shape.outcomes)
    max_plies = NODES
    observation_shape = ()

    def init(self, key: Array) -> ForestState:
        return ForestState(jnp.int32(0))

    def player(self, state: ForestState) -> Array:
        side = self.next_side(state)
        return side if self.forest.odds is None else jnp.where(jnp.any(self.chance(state) > 0), CHANCE, side)

    def next_side(self, state: ForestState) -> Array:
        return self.forest.player[state.node]

    def chance(self, state: ForestState) -> Array:
        return self.forest.odds[state.node]

    def resolve(self, state: ForestState, outcome: Array) -> ForestState:
        return self.step(state, outcome)

    def legal(self, state: ForestState) -> Array:
        return self.forest.child[state.node] >= 0

    def step(self, state: ForestState, action: Array) -> ForestState:
        return ForestState(jnp.where(self.over(state), state.node, self.forest.child[state.node, action]))

    def over(self, state: ForestState) -> Array:
        return jnp.all(self.forest.child[state.node] < 0)

    def score(self, state: ForestState) -> Array:
        return self.forest.score[state.node]

    def observe(self, state: ForestState) -> Array:
        return state.node.astype(jnp.float32)

    def action_name(self, state: ForestState, action: int) -> str:
        return str(action)


@dataclasses.dataclass(frozen=True)
class _Lookup:
    """The row of a table for each state."""

    def __call__(self, table: Array, states: ForestState) -> Array:
        return table[states.node]


def forest_evaluator(forest: Forest) -> Evaluator:
    return Evaluator(Partial(_Lookup(), forest.value), Partial(_Lookup(), forest.scores))


def grow(seed: int, shape: Shape = NARROW) -> Forest:
    """A random forest. Its trees differ in how bushy and deep they are, how soon games end, how many ties they have."""
    rng = np.random.default_rng(seed)
    total, (actions, moves, outcomes) = TREES * NODES, shape
    odds = np.zeros((total, outcomes), np.float32)
    child = np.full((total, actions), -1, np.int32)
    value, scores = np.zeros(total, np.float32), np.zeros((total, actions), np.float32)
    score = np.zeros(total, np.float32)
    for first in range(0, total, NODES):
        bushy = rng.dirichlet(np.ones(moves))  # how likely 1, 2, ... children are
        if shape == WIDE:
            bushy /= np.arange(1, moves + 1) ** 2
            bushy *= 0.97 / bushy.sum()
            bushy[-1] += 1 - bushy.sum()
        ends, depth_first = rng.choice([0.0, 0.1, 0.4]), rng.choice([0.1, 0.9])
        used, tips, choosing = 1, [first], {first}
        while tips:
            tip = tips.pop(-1 if rng.random() < depth_first else int(rng.integers(len(tips))))
            count = 0 if rng.random() < ends else 1 + int(rng.choice(moves, p=bushy))
            count = min(count, NODES - used)
            if outcomes and count and tip not in choosing and rng.random() < 0.5:
                legal = np.sort(rng.permutation(outcomes)[: min(NODES - used, 1 + int(rng.integers(outcomes)))])
                count = len(legal)
                odds[tip, legal] = rng.dirichlet(np.ones(count))
            else:
                legal = np.sort(rng.permutation(actions)[:count])
            child[tip, legal] = first + used + rng.permutation(count)
            tips += [int(node) for node in child[tip, legal]]
            if odds[tip].any():
                choosing |= set(tips[-count:])  # dice never follow dice
            used += count
        levels = rng.choice([1, 2, 4, 1000])  # the fewer, the more ties
        here = slice(first, first + NODES)
        value[here] = np.round(rng.uniform(-levels, levels, NODES)) / levels
        scores[here] = np.round(rng.uniform(-levels, levels, (NODES, actions))) / levels
        score[here] = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], NODES, p=[0.3, 0.1, 0.2, 0.1, 0.3])
    score[(child >= 0).any(axis=1)] = 0
    player = rng.integers(0, 2, total, dtype=np.int32)
    return Forest(child, player, score, value, scores, odds if outcomes else None)


@dataclasses.dataclass(frozen=True)
class ForestRules:
    """The same game in plain Python, for the reference searches; a position is the number of a node."""

    forest: Forest

    def moves(self, node: int) -> list[int]:
        return np.flatnonzero(self.forest.child[node] >= 0).tolist()

    def step(self, node: int, action: int) -> int:
        return int(self.forest.child[node][action])

    def over(self, node: int) -> bool:
        return not self.moves(node)

    def score(self, node: int) -> np.float32:
        return self.forest.score[node]

    def player(self, node: int) -> int:
        return int(self.forest.player[node])

    def value(self, node: int) -> np.float32:
        return self.forest.value[node]

    def scores(self, node: int) -> np.ndarray:
        return self.forest.scores[node]

    def odds(self, node: int) -> dict[int, np.float32]:
        return {outcome: odds for outcome, odds in enumerate(self.forest.odds[node]) if odds > 0}

    def resolve(self, node: int, outcome: int) -> int:
        return self.step(node, outcome)

    def position(self, state: ForestState) -> int:
        return int(state.node)


def on_device(forest: Forest) -> Forest:
    return jax.tree.map(jnp.asarray, forest)
