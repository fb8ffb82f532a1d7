"""Monte Carlo tree search with a net (PUCT, as in AlphaZero) or with random games (UCT), for a batch of roots at once.

A simulation goes down from the root by the most promising moves to a position that is not in the tree yet, or to one
where the game is over; asks for its value; and adds this to all moves on the way. A move is promising by

    PUCT:  Q + c * P * sqrt(N of all moves) / (1 + N)          P: the prior of the move, softmax of the net's scores
    UCT:   Q + c * sqrt(ln(N of all moves) / N)                moves that were never tried first

where N counts its visits and Q is the mean of their values for the side to move, in [-1, 1]. A move that was never
tried has the Q `unvisited`, or with `relative` the mean value of its node so far plus `unvisited`: where the net is
sure that a side is ahead, 0 would make the search try hardly anything. Of equal moves the first in the game's list is
taken. Where nothing was tried yet, all counts are 0 and the formula says nothing: there 1 stands for the count of all
moves, so that the prior decides.

Layout. A tree's nodes stand in the order in which they were added, the root in place 0; each has K slots for its moves.
Values are for side 0 except in the sums of a node, which are for the side to move there, so a second move of the same
side needs no special case.

Dice. Where chance decides, a node's slots hold the outcomes, and its sums are for side 0. The outcome is taken that
lags most behind its probability, so that visits follow the probabilities as closely as whole numbers can. A simulation
that meets a new event goes on to one outcome of it, since evaluators know decisions only: it adds both nodes. Dice must
not lead straight to other dice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, lax

from beamzero.core.errors import BadInput
from beamzero.core.packing import apply_packed
from beamzero.games import CHANCE, Game, State
from beamzero.games.game import keep_if
from beamzero.search.children import listed_moves, slots_of
from beamzero.search.evaluator import Evaluator, SearchResult, first_highest, side_sign
from beamzero.search.mcts.tree import (
    CHILD,
    NOTHING,
    PRIOR,
    TOTAL,
    VISITS,
    Tree,
    best_slot,
    edge_means,
    expected_line,
    node_mean,
    root_policy,
    root_result,
    root_value,
)
from beamzero.search.memory import state_bytes
from beamzero.search.protocol import Option, Outlook, Search, Spent, outlook_of
from beamzero.search.targets import Pick, TrainingTargets

_Carry = TypeVar("_Carry")

MOST_SIMULATIONS = 100_000
_MOST_C = 1e3

_LEVELS = {"cpu": 1, "gpu": 4}
"""Levels of the tree in one pass of a loop: on a GPU a pass costs the host more than the level costs the device."""


class Leaf(NamedTuple):
    """The place where a simulation leaves the tree, for each of B roots."""

    node: Array  # int32 [B] the last node of the tree on the way
    slot: Array  # int32 [B] the move that leaves the tree at this node; anything where the game is over there


@dataclasses.dataclass(frozen=True)
class MCTS(Search):
    """Monte Carlo tree search, by PUCT or UCT."""

    sims: int = 100
    """Simulations."""
    c: float = 1.5
    """The weight of exploration."""
    uct: bool = False
    """True to choose moves by UCT, without priors."""
    unvisited: float = 0.0
    """Q of a move that was never tried."""
    relative: bool = False
    """True to count `unvisited` from the value of its node so far, not from 0."""
    noise: float = 0.0
    """The share of random noise in the priors of the root; it needs a key."""
    alpha: float = 0.3
    """The parameter of Dirichlet's distribution, which the noise is drawn from."""
    count_node: bool = False
    """True to count a node as one visit more than its moves, as in MuZero: ``sqrt(1 + N of all moves)``."""

    keeps_line = True
    tries_all = False

    def __post_init__(self) -> None:
        if not 1 <= self.sims <= MOST_SIMULATIONS:
            raise BadInput(f"sims is {self.sims}, but a search does 1 to {MOST_SIMULATIONS} simulations")
        if not 0 <= self.c <= _MOST_C:
            raise BadInput(f"c is {self.c:g}, but must be 0 to {_MOST_C:g}")
        if not -1 <= self.unvisited <= 1:
            raise BadInput(f"unvisited is {self.unvisited:g}, but must be -1 to 1")
        if not 0 <= self.noise <= 1:
            raise BadInput(f"noise is {self.noise:g}, but must be 0 to 1")
        if not self.alpha > 0:
            raise BadInput(f"alpha is {self.alpha:g}, but must be more than 0")

    # --- growing ---------------------------------------------------------------------------------------------------

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes of the trees of `roots` roots."""
        return roots * self.bytes_per_root(game)

    def bytes_per_root(self, game: Game) -> int:
        """Count the bytes of the tree of one root: those of each move, each node and the root."""
        width = slots_of(game)
        move, node, root = 5 * 4, 4 * 4 + 2, 2 * 4 + 4 * width
        return root + self._places(game) * (state_bytes(game) + node + width * move)

    def _places(self, game: Game) -> int:
        """Give N, the most nodes of a tree."""
        return 1 + self.sims * (2 if game.num_chance else 1)

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> Tree:
        """Make B empty trees, each with its root's state in the first place; the key draws the noise."""
        key, _ = jax.random.split(key)
        batch, width, places = jax.tree.leaves(states)[0].shape[0], slots_of(game), self._places(game)
        nothing, none_yet = jnp.zeros((batch, places), jnp.int32), jnp.zeros(batch, jnp.int32)
        no_edge = jnp.array([0.0, 0.0, 0.0, NOTHING], jnp.float32)[None, None, :, None]
        noise = jax.random.gamma(key, self.alpha, (batch, width)) if self.noise else jnp.zeros((batch, width))
        return Tree(
            states=jax.tree.map(lambda x: jnp.zeros((batch, places, *x.shape[1:]), x.dtype).at[:, 0].set(x), states),
            moves=jnp.zeros((batch, places, width), jnp.int32),
            edges=jnp.broadcast_to(no_edge, (batch, places, 4, width)),
            value=nothing.astype(jnp.float32),
            sign=nothing.astype(jnp.float32),
            over=nothing.astype(jnp.bool_),
            chance=nothing.astype(jnp.bool_),
            parent=nothing,
            parent_slot=nothing,
            size=none_yet,
            evaluations=none_yet,
            noise=noise,
            done=jnp.int32(-1),
        )

    def advance(self, game: Game, evaluator: Evaluator, tree: Tree, budget: Array | int) -> Tree:
        """Do `budget` more simulations of every root, or as many as there is room for.

        Adding the roots is the first step of the loop, and counts as none.
        """
        done = jnp.maximum(tree.done, 0)
        stop = done + jnp.minimum(budget, self.sims - done)
        return lax.while_loop(lambda tree: tree.done < stop, lambda tree: self._simulate(game, evaluator, tree), tree)

    def _simulate(self, game: Game, evaluator: Evaluator, tree: Tree) -> Tree:
        """Do one more simulation in each of B trees, or add the root of an empty tree, so that rules compile once."""
        leaf = self._descend(tree)
        rows = jnp.arange(tree.size.shape[0], dtype=jnp.int32)
        empty = tree.size == 0
        fresh = empty | ~tree.over[rows, leaf.node]
        roots = jax.tree.map(lambda x: x[:, 0], tree.states)
        states = jax.vmap(keep_if)(empty, roots, _follow(game, tree, leaf))
        tree = self._add(game, evaluator, tree, states, leaf._replace(node=jnp.where(empty, -1, leaf.node)), fresh)
        last = jnp.where(fresh, tree.size - 1, leaf.node)
        if game.num_chance:
            fresh &= tree.chance[rows, last] & ~empty
            own = tree.sign[rows, last] * tree.value[rows, last]
            leaf = Leaf(last, self._choose(tree.edges[rows, last], tree.chance[rows, last], own))
            tree = self._add(game, evaluator, tree, _follow(game, tree, leaf), leaf, fresh)
            last = jnp.where(fresh, tree.size - 1, last)
        return self._back_up(tree, last)._replace(done=tree.done + 1)

    def _descend(self, tree: Tree) -> Leaf:
        """Go down by the most promising moves until they leave the tree or the game is over, in each of B trees."""
        rows = jnp.arange(tree.size.shape[0], dtype=jnp.int32)

        def go_down(carry: tuple[Leaf, Array]) -> tuple[Leaf, Array]:
            leaf, following = carry
            going = following >= 0
            node = jnp.where(going, following, leaf.node)
            edges = tree.edges[rows, node]  # [B, 4, K]
            slot = self._choose(edges, tree.chance[rows, node], tree.sign[rows, node] * tree.value[rows, node])
            child = jnp.take_along_axis(edges[:, CHILD], slot[:, None], axis=1)[:, 0].astype(jnp.int32)
            slot = jnp.where(going, slot, leaf.slot)
            return Leaf(node, slot), jnp.where(going & ~tree.over[rows, node], child, -1)

        start = jnp.zeros_like(rows)
        return lax.while_loop(lambda carry: jnp.any(carry[1] >= 0), _several(go_down), (Leaf(start, start), start))[0]

    def _choose(self, edges: Array, chance: Array, own: Array) -> Array:
        """Choose the most promising slot of each of B nodes, int32 [B], the first of equal ones.

        Where dice decide (`chance` [B]), that is the outcome that lags most behind its probability. `edges` are
        [B, 4, K], and `own` [B] the nodes' own values for the sides to move.
        """
        prior, visits, total = edges[:, PRIOR], edges[:, VISITS], edges[:, TOTAL]
        tried = jnp.sum(visits, axis=1, keepdims=True)
        mean = edge_means(visits, total, self._never_tried(visits, total, own))
        if self.uct:
            doubt = jnp.sqrt(jnp.log(jnp.maximum(tried, 1.0)) / jnp.maximum(visits, 1.0))
            promise = jnp.where(visits > 0, mean + self.c * doubt, jnp.inf)
        else:
            count = tried + 1.0 if self.count_node else jnp.maximum(tried, 1.0)
            promise = mean + self.c * prior * jnp.sqrt(count) / (1.0 + visits)
        promise = jnp.where(chance[:, None], prior * (1.0 + tried) - visits, promise)
        return first_highest(jnp.where(prior > -jnp.inf, promise, -jnp.inf))

    def _never_tried(self, visits: Array, total: Array, own: Array) -> Array:
        """Give the Q of moves that were never tried, float32 [B] for B nodes; `own` [B] are the nodes' own values."""
        if not self.relative:
            return jnp.full_like(own, self.unvisited)
        return jnp.clip(node_mean(visits, total, own) + self.unvisited, -1.0, 1.0)

    def _at_root(self, tree: Tree) -> Array:
        """Give the Q of moves that were never tried, float32 [B], at the roots."""
        return self._never_tried(tree.edges[:, 0, VISITS], tree.edges[:, 0, TOTAL], tree.sign[:, 0] * tree.value[:, 0])

    def _add(self, game: Game, evaluator: Evaluator, tree: Tree, states: State, leaf: Leaf, fresh: Array) -> Tree:
        """Add `states` [B] as nodes, reached from `leaf`, to the trees where `fresh` [B] holds. Returns the trees."""
        batch, places, _, width = tree.edges.shape
        rows = jnp.arange(batch, dtype=jnp.int32)
        over = jax.vmap(game.over)(states)
        chance = (jax.vmap(game.player)(states) == CHANCE) & ~over if game.num_chance else jnp.zeros_like(over)
        moves, _, listed = listed_moves(game, states, ~over)
        ask = fresh & ~over & ~chance
        (said, scores), _ = apply_packed(lambda rows, _: _ask(evaluator, *rows), (states, moves), ask, eighths=(4, 8))
        prior = _priors(scores, listed)
        if self.noise:
            noisy = jnp.where((leaf.node < 0)[:, None], self._mix(prior, tree.noise[:, : game.max_moves]), prior)
            prior = jnp.where(listed, noisy, -jnp.inf)
        if game.num_chance:
            moves, prior = _with_outcomes(game, states, chance, moves, prior)
        sign = jnp.where(chance, 1.0, side_sign(game, states))
        value = jnp.where(over, jax.vmap(game.score)(states), sign * said)
        nothing = jnp.zeros((batch, width), jnp.float32)
        edges = jnp.stack([prior, nothing, nothing, jnp.full_like(nothing, NOTHING)], axis=1)
        place = jnp.where(fresh, tree.size, places)  # past the end where there is none: dropped

        def write(array: Array, node: Array) -> Array:
            return array.at[rows, place].set(node, mode="drop")

        from_node = jnp.where(fresh & (leaf.node >= 0), leaf.node, places)
        joined = tree.edges.at[rows, from_node, CHILD, leaf.slot].set(tree.size.astype(jnp.float32), mode="drop")
        return tree._replace(
            states=jax.tree.map(write, tree.states, states),
            moves=write(tree.moves, moves),
            edges=write(joined, edges),
            value=write(tree.value, value),
            sign=write(tree.sign, sign),
            over=write(tree.over, over),
            chance=write(tree.chance, chance),
            parent=write(tree.parent, leaf.node),
            parent_slot=write(tree.parent_slot, leaf.slot),
            size=tree.size + fresh.astype(jnp.int32),
            evaluations=tree.evaluations + ask.astype(jnp.int32),
        )

    def _back_up(self, tree: Tree, last: Array) -> Tree:
        """Add the value of the node `last` [B] to all moves on the way to it, in each of B trees. Returns the trees."""
        batch, places = tree.parent.shape
        rows = jnp.arange(batch, dtype=jnp.int32)
        value = tree.value[rows, last]
        both = jnp.array([VISITS, TOTAL], jnp.int32)[None]

        def go_up(carry: tuple[Array, Array]) -> tuple[Array, Array]:
            edges, node = carry
            parent, slot = tree.parent[rows, node], tree.parent_slot[rows, node]
            place = jnp.where(parent >= 0, parent, places)
            gained = jnp.stack([jnp.ones_like(value), value * tree.sign[rows, parent]], axis=1)  # [B, 2]
            edges = edges.at[rows[:, None], place[:, None], both, slot[:, None]].add(gained, mode="drop")
            return edges, jnp.where(parent >= 0, parent, 0)

        # The root has no parent, so going up from it changes nothing while other rows are still on their way.
        edges, _ = lax.while_loop(lambda carry: jnp.any(carry[1] > 0), _several(go_up), (tree.edges, last))
        return tree._replace(edges=edges)

    def _mix(self, prior: Array, noise: Array) -> Array:
        """Mix priors [B, K] with `noise` [B, K], scaled to add up to 1 over the listed moves, into float32 [B, K]."""
        gamma = jnp.where(prior > -jnp.inf, noise, 0.0)
        return (1 - self.noise) * prior + self.noise * gamma / jnp.maximum(jnp.sum(gamma, axis=1, keepdims=True), 1e-30)

    # --- what was found --------------------------------------------------------------------------------------------

    def search_targets(
        self, game: Game, evaluator: Evaluator, states: State, key: Array, pick: Pick
    ) -> TrainingTargets:
        """Search B states to the end. Returns training targets: shares of visits, and means of simulations."""
        tree = self.finish(game, evaluator, self.start(game, evaluator, states, key))
        _, key = jax.random.split(key)
        policy = root_policy(tree)[:, : game.max_moves]
        best = best_slot(tree, self._at_root(tree), key)
        rows, slot = jnp.arange(best.shape[0], dtype=jnp.int32), pick(policy, best)
        child = jnp.maximum(tree.edges[rows, 0, CHILD, slot], 0.0).astype(jnp.int32)  # the root where it is over
        return TrainingTargets(
            policy=policy,
            draw=policy,
            best=best,
            after=jax.tree.map(lambda x: x[rows, child], tree.states),
            value=root_value(tree),
            evaluations=tree.evaluations,
        )

    def result(self, game: Game, tree: Tree, key: Array) -> SearchResult:
        """Read the result: the policy is the shares of visits, and the moves that end the game are proven."""
        _, key = jax.random.split(key)
        return root_result(game, tree, self._at_root(tree), key)

    def done(self, game: Game, tree: Tree) -> Array:
        return jnp.broadcast_to(tree.done >= self.sims, tree.size.shape)

    def spent(self, game: Game, tree: Tree) -> Spent:
        return Spent(jnp.maximum(tree.done, 0), tree.size, tree.evaluations, jnp.zeros_like(tree.size))

    def outlook(self, game: Game, tree: Tree, result: SearchResult, row: int = 0) -> Outlook:
        return outlook_of(expected_line(tree, row) or [int(result.action[row])], result, row)

    def nodes_of_unit(self, game: Game) -> int:
        return 2 if game.num_chance else 1

    @property
    def units(self) -> int:
        return self.sims

    @property
    def options(self) -> Mapping[str, Option]:
        return {"Simulations": Option(self.sims, 1, MOST_SIMULATIONS)}

    def with_option(self, name: str, value: int) -> MCTS:
        return dataclasses.replace(self, sims=value)


def _several(level: Callable[[_Carry], _Carry]) -> Callable[[_Carry], _Carry]:
    """Repeat `level` as often as one pass of a loop does; a level too many must change nothing."""

    def trip(carry: _Carry) -> _Carry:
        for _ in range(_LEVELS["gpu" if jax.default_backend() == "gpu" else "cpu"]):
            carry = level(carry)
        return carry

    return trip


def _follow(game: Game, tree: Tree, leaf: Leaf) -> State:
    """Make the states [B] after the moves of the leaves."""
    rows = jnp.arange(tree.size.shape[0], dtype=jnp.int32)
    before = jax.tree.map(lambda x: x[rows, leaf.node], tree.states)
    move = tree.moves[rows, leaf.node, leaf.slot]
    after = jax.vmap(game.step)(before, move)
    if not game.num_chance:
        return after
    return jax.vmap(keep_if)(tree.chance[rows, leaf.node], jax.vmap(game.resolve)(before, move), after)


def _ask(evaluator: Evaluator, states: State, moves: Array) -> tuple[Array, Array]:
    """Ask the evaluator for the values of B states, float32 [B], and the scores of their `moves`, float32 [B, K]."""
    value, scores = evaluator.value_and_scores(states)
    return value, jnp.take_along_axis(scores, moves, axis=1)


def _priors(scores: Array, listed: Array) -> Array:
    """Give the softmax of the scores of the listed moves, float32 [B, K]; -inf in empty slots."""
    some = jnp.any(listed, axis=1, keepdims=True)  # the softmax of nothing is no number
    share = jax.nn.softmax(jnp.where(listed | ~some, scores, -jnp.inf), axis=1)
    return jnp.where(listed, share, -jnp.inf)


def _with_outcomes(game: Game, states: State, chance: Array, moves: Array, prior: Array) -> tuple[Array, Array]:
    """Put outcomes and their probabilities in place of moves and priors, [B, K], where dice decide (`chance` [B])."""
    width = slots_of(game)
    probs = jax.vmap(game.chance)(states)

    def widen(x: Array, fill: float) -> Array:
        return jnp.pad(x, ((0, 0), (0, width - x.shape[1])), constant_values=fill)

    outcomes = jnp.broadcast_to(jnp.arange(width, dtype=jnp.int32)[None], (chance.shape[0], width))
    possible = widen(jnp.where(probs > 0, probs, -jnp.inf), -jnp.inf)
    here = chance[:, None]
    return jnp.where(here, outcomes, widen(moves, 0)), jnp.where(here, possible, widen(prior, -jnp.inf))
