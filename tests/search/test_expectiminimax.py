"""Expectiminimax: the exact values of small games with dice, whatever is left out on the way."""

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

from beamzero.core.errors import BadInput
from beamzero.games import CHANCE, Game, make_game
from beamzero.search.evaluator import Evaluator, zero_evaluator
from beamzero.search.expectiminimax import Expectiminimax
from beamzero.search.features import feature_evaluator
from tests.search.test_mcts_chance import GAME as DICE
from tests.search.test_mcts_chance import PLAYERS, ROOTS, TABLES, Plain

KEY = jax.random.key(0)
BACKGAMMON = make_game("backgammon")


@functools.partial(jax.jit, static_argnums=(0, 1))
def think(game: Game, search: Expectiminimax, evaluator: Evaluator, states, key=KEY):
    return search(game, evaluator, states, key)


# --- against plain recursion -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "search",
    [
        Expectiminimax(3, every_move=True),
        pytest.param(Expectiminimax(3, prune=False, entries=0), marks=pytest.mark.slow),
        pytest.param(Expectiminimax(3, entries=0, every_move=True), marks=pytest.mark.slow),
        pytest.param(Expectiminimax(3, prune=False), marks=pytest.mark.slow),
    ],
)
def test_it_finds_the_exact_value_of_every_move(search):
    result = think(DICE, search, zero_evaluator(DICE), ROOTS)
    for table in range(TABLES):
        plain, sign = Plain(table), 1 - 2 * int(PLAYERS[table, 0, 0])
        wanted = [sign * plain.value(1, move) for move in range(3)]
        assert np.asarray(result.values[table]) == pytest.approx(wanted, abs=1e-5)
        assert float(result.value[table]) == pytest.approx(max(wanted), abs=1e-5)
        assert int(result.action[table]) == int(np.argmax(wanted))


def test_leaving_out_what_cannot_matter_makes_fewer_positions():
    whole, pruned = (
        think(DICE, Expectiminimax(3, prune=prune, entries=0), zero_evaluator(DICE), ROOTS) for prune in (False, True)
    )
    assert int(jnp.sum(pruned.nodes)) < 0.9 * int(jnp.sum(whole.nodes))
    assert np.allclose(pruned.value, whole.value) and np.array_equal(pruned.action, whole.action)
    assert (np.asarray(pruned.values) >= np.asarray(whole.values) - 1e-5).all(), "of worse moves a bound"


@pytest.mark.slow
def test_with_a_limit_of_nodes_the_deepest_search_that_ended_counts():
    shallow = think(DICE, Expectiminimax(1, entries=64), zero_evaluator(DICE), ROOTS)
    stopped = think(DICE, Expectiminimax(3, nodes=1, entries=64), zero_evaluator(DICE), ROOTS)
    ended = think(DICE, Expectiminimax(3, nodes=10_000, entries=64), zero_evaluator(DICE), ROOTS)
    assert np.array_equal(stopped.values, shallow.values)
    wanted = [max((1 - 2 * PLAYERS[t, 0, 0]) * Plain(t).value(1, move) for move in range(3)) for t in range(TABLES)]
    assert np.asarray(ended.value) == pytest.approx(wanted, abs=1e-5)


# --- a game whose values are known in closed form --------------------------------------------------------------------


class BankState(NamedTuple):
    lead: Array  # float32 [] what side 0 has more than side 1
    turn: Array  # int32 [] turns taken
    face: Array  # int32 [] of the die; -1 before it is thrown


@dataclasses.dataclass(frozen=True)
class Bank(Game):
    """Take what the die shows, or `safe` instead: with best play, the mean of the larger one, turn after turn."""

    turns: int = 3
    safe: float = 0.4

    name: ClassVar[str] = "bank"
    faces: ClassVar[tuple[float, ...]] = (0.0, 0.3, 1.0)
    odds: ClassVar[tuple[float, ...]] = (0.5, 0.2, 0.3)
    num_chance: ClassVar[int] = 3
    num_actions: ClassVar[int] = 2
    max_moves: ClassVar[int] = 2
    observation_shape: ClassVar[tuple[int, ...]] = ()

    @property
    def max_plies(self) -> int:
        return self.turns

    def init(self, key: Array) -> BankState:
        return BankState(jnp.float32(0), jnp.int32(0), jnp.int32(0))

    def player(self, state: BankState) -> Array:
        return jnp.where(state.face < 0, CHANCE, state.turn % 2)

    def next_side(self, state: BankState) -> Array:
        return state.turn % 2

    def legal(self, state: BankState) -> Array:
        return jnp.ones(2, jnp.bool_)

    def step(self, state: BankState, action: Array) -> BankState:
        gain = jnp.where(
            jnp.asarray(action) == 0, jnp.asarray(self.faces, jnp.float32)[state.face], np.float32(self.safe)
        )
        sign = jnp.where(state.turn % 2 == 0, 1.0, -1.0).astype(jnp.float32)
        return BankState(state.lead + sign * gain, state.turn + 1, jnp.int32(-1))

    def chance(self, state: BankState) -> Array:
        return jnp.asarray(self.odds, jnp.float32)

    def resolve(self, state: BankState, outcome: Array) -> BankState:
        return state._replace(face=jnp.asarray(outcome, jnp.int32))

    def over(self, state: BankState) -> Array:
        return state.turn >= self.turns

    def score(self, state: BankState) -> Array:
        return jnp.where(self.over(state), state.lead / self.turns, 0.0)

    def observe(self, state: BankState) -> Array:
        return state.lead

    def action_name(self, state: BankState, action: int) -> str:
        return ("die", "safe")[action]


@pytest.mark.parametrize("turns", [1, 4])
def test_the_bank_pays_what_the_formula_says(turns):
    game = Bank(turns)
    mean = sum(odds * max(face, game.safe) for odds, face in zip(game.odds, game.faces, strict=True))
    later = sum((-1) ** turn * mean for turn in range(1, turns))
    first = BankState(np.zeros(3, np.float32), np.zeros(3, np.int32), np.arange(3, dtype=np.int32))
    result = think(game, Expectiminimax(4, every_move=True), zero_evaluator(game), first)
    wanted = [[(gain + later) / turns for gain in (shown, game.safe)] for shown in game.faces]
    np.testing.assert_allclose(result.values, wanted, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_a_sample_of_the_outcomes_is_right_on_average_and_exact_when_it_is_all_of_them():
    game = Bank(2)
    many = BankState(np.zeros(400, np.float32), np.zeros(400, np.int32), np.full(400, 2, np.int32))
    # What all rolls say, and a sample of two in each of many searches.
    exact = think(game, Expectiminimax(2, entries=64), zero_evaluator(game), many).value
    all_three = think(game, Expectiminimax(2, rolls=3, entries=64), zero_evaluator(game), many).value
    some = np.asarray(think(game, Expectiminimax(2, rolls=2, entries=64), zero_evaluator(game), many).value)
    assert np.array_equal(exact, all_three)
    assert len(np.unique(some)) == 3, "there are three pairs of outcomes"
    assert some.mean() == pytest.approx(float(exact[0]), abs=0.05)


def test_moves_are_compared_by_the_same_sample():
    """After either move the die pays the same, so that what differs is the first gain alone, whatever was drawn."""
    game = Bank(3)
    many = BankState(np.zeros(50, np.float32), np.zeros(50, np.int32), np.full(50, 1, np.int32))
    found = think(game, Expectiminimax(3, rolls=1, every_move=True), zero_evaluator(game), many)
    values = np.asarray(found.values)
    assert len(np.unique(values[:, 0].round(5))) > 1, "other searches draw other rolls"
    assert values[:, 1] - values[:, 0] == pytest.approx((game.safe - game.faces[1]) / 3, abs=1e-6)


# --- the lecture's warning -------------------------------------------------------------------------------------------


class BetState(NamedTuple):
    choice: Array  # int32 [] 0: a coin decides between 0 and 0.9; 1: 0.5 for sure
    stage: Array  # int32 [] a choice, a coin, a move that changes nothing, and a coin that nobody sees
    face: Array  # int32 [] of the coin


@dataclasses.dataclass(frozen=True)
class Bet(Bank):
    """One choice between a risk and a sure thing."""

    name: ClassVar[str] = "bet"
    num_chance: ClassVar[int] = 2

    def init(self, key: Array) -> BetState:
        return BetState(jnp.int32(0), jnp.int32(0), jnp.int32(0))

    def player(self, state: BetState) -> Array:
        return jnp.where(state.stage % 2 == 1, CHANCE, state.stage // 2)

    def next_side(self, state: BetState) -> Array:
        return jnp.int32(0)

    def step(self, state: BetState, action: Array) -> BetState:
        choice = jnp.where(state.stage == 0, jnp.asarray(action, jnp.int32), state.choice)
        return state._replace(choice=choice, stage=state.stage + 1)

    def chance(self, state: BetState) -> Array:
        return jnp.full(2, 0.5, jnp.float32)

    def resolve(self, state: BetState, outcome: Array) -> BetState:
        return state._replace(stage=state.stage + 1, face=jnp.asarray(outcome, jnp.int32))

    def over(self, state: BetState) -> Array:
        return state.stage >= 4

    def score(self, state: BetState) -> Array:
        return jnp.float32(0)


@dataclasses.dataclass(frozen=True)
class _Gain:
    """What was won, to a power: positions are in the same order for each."""

    power: int

    def __call__(self, states: BetState) -> Array:
        return jnp.where(states.choice == 1, 0.5, 0.9 * states.face.astype(jnp.float32)) ** self.power


def test_an_evaluation_in_the_same_order_can_change_the_best_move():
    """Where chance decides, it matters by how much a position is better, and not only that it is."""
    game = Bet()
    first = jax.tree.map(lambda x: x[None], game.init(KEY))
    values = {
        power: think(
            game, Expectiminimax(2, every_move=True), zero_evaluator(game)._replace(value=Partial(_Gain(power))), first
        )
        for power in (1, 3)
    }
    assert np.asarray(values[1].values[0]) == pytest.approx([0.45, 0.5])
    assert np.asarray(values[3].values[0]) == pytest.approx([0.9**3 / 2, 0.5**3])
    assert [int(values[power].action[0]) for power in (1, 3)] == [1, 0]


# --- backgammon ------------------------------------------------------------------------------------------------------


FEW_CHECKERS = "--AA-B---------b-a---a----:0:0:1:31", "-A---AA----a-------a--a-A-:0:0:-1:64"
"""Few ways to play, in which checkers can still be hit."""
MANY_CHECKERS = "-b----E-C---eE---c-e----B-:0:0:1:5*1", "-b----E-C---eE---c-e----B-:0:0:-1:3*2"


def positions(*texts: str):
    return jax.tree.map(lambda *rows: np.stack(rows), *map(BACKGAMMON.read_position, texts))


def slow_value(state, turns: int, evaluator: Evaluator) -> float:
    """For side 0, by plain recursion over the game itself."""
    over, score, player, odds = jax.device_get(_facts(state))
    if over:
        return float(score)
    if player == CHANCE:
        if turns == 1:
            value = float(_value(evaluator, state))
            return value if int(state.side) == 0 else -value
        return sum(float(p) * slow_value(_resolve(state, o), turns - 1, evaluator) for o, p in enumerate(odds))
    best = max if int(state.side) == 0 else min
    return best(slow_value(_step(state, a), turns, evaluator) for a in BACKGAMMON.legal_actions(state))


_facts = jax.jit(lambda state: [getattr(BACKGAMMON, ask)(state) for ask in ("over", "score", "player", "chance")])
_step = jax.jit(lambda state, action: BACKGAMMON.step(state, jnp.int32(action)))
_resolve = jax.jit(lambda state, outcome: BACKGAMMON.resolve(state, jnp.int32(outcome)))
_value = jax.jit(lambda evaluator, state: evaluator.value(jax.tree.map(lambda x: x[None], state))[0])


@pytest.mark.slow
def test_in_backgammon_one_turn_is_the_best_of_all_plays():
    states, evaluator = positions(*FEW_CHECKERS, *MANY_CHECKERS), feature_evaluator(BACKGAMMON)
    result = think(BACKGAMMON, Expectiminimax(1, every_move=True), evaluator, states)
    for row in range(4):
        state = jax.tree.map(lambda x, row=row: x[row], states)
        sign = 1 - 2 * int(state.side)
        for action in BACKGAMMON.legal_actions(state):
            wanted = sign * slow_value(_step(state, action), 1, evaluator)
            assert float(result.values[row, action]) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.slow
def test_in_backgammon_pruning_changes_no_value_of_two_turns():
    states, evaluator = positions(*FEW_CHECKERS), feature_evaluator(BACKGAMMON)
    whole = think(BACKGAMMON, Expectiminimax(2, prune=False, entries=0), evaluator, states)
    every = think(BACKGAMMON, Expectiminimax(2, every_move=True), evaluator, states)
    assert np.allclose(whole.values, every.values, atol=1e-5)
    assert np.sum(every.nodes) < np.sum(whole.nodes)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"depth": 0}, "depth is 0, but must be 1 to 8 turns"),
        ({"nodes": 0}, "nodes is 0"),
        ({"rolls": -1}, "rolls is -1"),
        ({"entries": 3}, "a table of 3 entries"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, why):
    with pytest.raises(BadInput, match=why):
        Expectiminimax(**settings)
