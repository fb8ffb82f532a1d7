"""Tree search where dice decide: outcomes come as often as they should, and values are what comes on average."""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from jax.tree_util import Partial

from beamzero.games import CHANCE, Game
from beamzero.search.evaluator import Evaluator
from beamzero.search.mcts.mcts import MCTS
from beamzero.search.mcts.rollouts import rollout_evaluator
from beamzero.search.mcts.tree import Tree

# --- a game with dice --------------------------------------------------------------------------------------------

TABLES = 12
MOVES, OUTCOMES, STAGES = 3, 4, 5
"""A move, dice, a move, dice, a move; each is the next digit of the position, to base 4."""

_RNG = np.random.default_rng(0)
SCORES = np.round(_RNG.uniform(-1, 1, (TABLES, 4**STAGES)), 2).astype(np.float32)
PLAYERS = _RNG.integers(0, 2, (TABLES, STAGES, OUTCOMES)).astype(np.int32)
"""Who moves at a stage, by what the dice showed last."""
ODDS = _RNG.dirichlet(np.full(OUTCOMES, 0.7), (TABLES, STAGES)).astype(np.float32)
ODDS[:, :, 1] = 0  # which never comes
ODDS /= ODDS.sum(axis=2, keepdims=True)
ENDS = 3
"""The outcome of the first dice that ends the game."""


class DiceState(NamedTuple):
    table: Array  # int32 [] which scores, odds and players count
    stage: Array  # int32 []
    digits: Array  # int32 [] what was played and thrown


@dataclasses.dataclass(frozen=True)
class Dice(Game):
    name: ClassVar[str] = "dice"
    num_actions = max_moves = MOVES
    num_chance = OUTCOMES
    max_plies = STAGES
    observation_shape = ()

    def init(self, key: Array) -> DiceState:
        return DiceState(jnp.int32(0), jnp.int32(0), jnp.int32(0))

    def player(self, state: DiceState) -> Array:
        mover = jnp.asarray(PLAYERS)[state.table, state.stage, state.digits % 4]
        return jnp.where(state.stage % 2 == 1, CHANCE, mover)

    def legal(self, state: DiceState) -> Array:
        """The first side has all moves at the beginning, later ones have two."""
        return jnp.arange(MOVES) < jnp.where(state.stage == 0, 3, 2)

    def step(self, state: DiceState, action: Array) -> DiceState:
        on = ~self.over(state)
        digits = jnp.where(on, 4 * state.digits + jnp.asarray(action, jnp.int32), state.digits)
        return DiceState(state.table, state.stage + on.astype(jnp.int32), digits)

    def chance(self, state: DiceState) -> Array:
        return jnp.asarray(ODDS)[state.table, state.stage]

    resolve = step

    def over(self, state: DiceState) -> Array:
        return (state.stage == STAGES) | ((state.stage == 2) & (state.digits % 4 == ENDS))

    def score(self, state: DiceState) -> Array:
        return jnp.where(self.over(state), jnp.asarray(SCORES)[state.table, state.digits], 0.0)

    def observe(self, state: DiceState) -> Array:
        return state.digits.astype(jnp.float32)

    def action_name(self, state: DiceState, action: int) -> str:
        return str(action)


GAME = Dice()
_ZEROS = np.zeros(TABLES, np.int32)
ROOTS = DiceState(np.arange(TABLES, dtype=np.int32), _ZEROS, _ZEROS)


class Plain:
    """The same game as numbers of digits, for one table."""

    def __init__(self, table: int) -> None:
        self.table = table

    def kind(self, stage: int, digits: int) -> str:
        if stage == STAGES or (stage == 2 and digits % 4 == ENDS):
            return "over"
        return "dice" if stage % 2 else "move"

    def followers(self, stage: int, digits: int) -> list[tuple[int, int]]:
        return [(stage + 1, 4 * digits + move) for move in range(3 if stage == 0 else 2)]

    def value(self, stage: int, digits: int, at_random: bool = False) -> float:
        """What a position is worth to side 0 with best play, or with moves drawn at random."""
        kind = self.kind(stage, digits)
        if kind == "over":
            return float(SCORES[self.table, digits])
        if kind == "dice":
            odds = ODDS[self.table, stage]
            return sum(float(p) * self.value(stage + 1, 4 * digits + o, at_random) for o, p in enumerate(odds) if p > 0)
        values = [self.value(*follower, at_random) for follower in self.followers(stage, digits)]
        best = max if PLAYERS[self.table, stage, digits % 4] == 0 else min
        return sum(values) / len(values) if at_random else best(values)


@dataclasses.dataclass(frozen=True)
class _Says:
    """Numbers for decisions; no number where dice decide or the game is over, which nobody may ask."""

    width: int | None

    def __call__(self, states: DiceState) -> Array:
        wrong = jax.vmap(lambda state: GAME.over(state) | (GAME.player(state) == CHANCE))(states)
        said = jnp.where(wrong, jnp.nan, jnp.sin(states.digits.astype(jnp.float32)))
        return said if self.width is None else said[:, None] * jnp.linspace(0, 1, self.width)[None]


EVALUATOR = Evaluator(Partial(_Says(None)), Partial(_Says(MOVES)))

# --- the search --------------------------------------------------------------------------------------------------

SEARCH = MCTS(3000, c=2.0)
KEY = jax.random.key(0)
_advance = jax.jit(lambda tree, budget: SEARCH.advance(GAME, EVALUATOR, tree, budget))


@functools.cache
def start() -> Tree:
    """Trees with their roots in."""
    return _advance(jax.jit(lambda states: SEARCH.start(GAME, EVALUATOR, states, KEY))(ROOTS), jnp.int32(0))


@functools.cache
def grown() -> Tree:
    return jax.device_get(_advance(start(), jnp.int32(SEARCH.sims)))


def nodes(tree: Tree):
    """Every node of every tree, as (table, place)."""
    return [(table, place) for table in range(TABLES) for place in range(int(tree.size[table]))]


@pytest.mark.slow
def test_outcomes_come_as_often_as_they_should():
    tree = grown()
    met = 0
    for table, place in nodes(tree):
        if tree.chance[table, place]:
            odds = ODDS[table, tree.states.stage[table, place]]
            _, visits, _, child = tree.edges[table, place]
            assert np.abs(visits - odds * visits.sum()).max() <= 1
            assert visits[1] == 0 and child[1] == -1, "what never comes is not tried"
            met += visits.sum() > 20
    assert met > 5 * TABLES


def test_what_a_node_is_worth_is_the_sum_of_what_came_after_it():
    """Every simulation through a node ends there once, or goes on; dice always go on."""
    tree = grown()
    for table, place in nodes(tree):
        parent, slot = tree.parent[table, place], tree.parent_slot[table, place]
        if parent < 0:
            continue
        _, visits, total, child = tree.edges[table, parent, :, slot]
        assert child == place
        sign, below = tree.sign[table, place], tree.edges[table, place]
        own = 0.0 if tree.chance[table, place] else tree.value[table, place]
        times = visits if tree.over[table, place] else 1 - int(tree.chance[table, place])
        assert visits == below[1].sum() + times
        expected = sign * below[2].sum() + times * own
        assert tree.sign[table, parent] * total == pytest.approx(expected, abs=1e-4 * float(visits))


def test_values_approach_those_of_expectiminimax_and_the_best_move_is_found():
    tree = grown()
    result = jax.device_get(jax.jit(lambda tree: SEARCH.result(GAME, tree, KEY))(tree))
    for table in range(TABLES):
        plain = Plain(table)
        sign = 1 - 2 * PLAYERS[table, 0, 0]
        values = [sign * plain.value(*follower) for follower in plain.followers(0, 0)]
        assert result.values[table].max() == pytest.approx(max(values), abs=0.08)
        assert result.value[table] == pytest.approx(max(values), abs=0.12)
        assert result.action[table] == np.argmax(values)
        assert result.policy[table].sum() == pytest.approx(1)


def test_a_simulation_adds_one_node_or_dice_and_one_outcome_of_theirs():
    tree = start()
    before = np.asarray(tree.size)
    added_two = 0
    for simulation in range(1, 41):
        tree = _advance(tree, jnp.int32(1))
        after, chance, over = (np.asarray(x) for x in (tree.size, tree.chance, tree.over))
        for table in range(TABLES):
            new = range(before[table], after[table])
            assert [bool(chance[table, place]) for place in new] in ([], [False], [True, False])
            added_two += len(new) == 2
        asked = np.sum(~(chance | over) & (np.arange(chance.shape[1])[None] < after[:, None]), axis=1)
        np.testing.assert_array_equal(tree.evaluations, asked)
        before = after
        assert int(tree.done) == simulation
    assert added_two > TABLES


def test_random_games_throw_the_dice_by_their_odds():
    keys = jax.random.split(KEY, 3000)
    seeds = jax.vmap(lambda key: jax.random.bits(key, (), jnp.uint32))(keys)
    values = jax.jit(jax.vmap(lambda seed: rollout_evaluator(GAME, seed).value(ROOTS)))(seeds)  # [3000, TABLES]
    for table in range(TABLES):
        games = np.asarray(values[:, table]) * (1 - 2 * PLAYERS[table, 0, 0])
        expected = Plain(table).value(0, 0, at_random=True)
        assert abs(games.mean() - expected) < 4 * games.std() / np.sqrt(len(games))
