"""A search under the driver: always an answer, never much over the time, and the same one for the same limits."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from beamzero.core.compiler import CompilationCount
from beamzero.core.errors import BadInput
from beamzero.games import Game, State, make_game
from beamzero.search import drive, integer_value
from beamzero.search.alphabeta.alphabeta import AlphaBeta, _plies
from beamzero.search.alphabeta.negamax import At
from beamzero.search.drive import Snapshot, think
from beamzero.search.evaluator import Evaluator, zero_evaluator
from beamzero.search.features import feature_evaluator
from beamzero.search.limit import Limit
from tests.search.plain import mixed_evaluator, random_positions, rows

KEY = jax.random.key(0)
FOUR, KALAH = make_game("connect_four"), make_game("kalah")
FEATURES = feature_evaluator(FOUR)
SEARCH = AlphaBeta(entries=2**12)
FIVE = AlphaBeta(5, entries=2**8)
MILLISECOND = 0.001


def positions(game: Game, number: int) -> list[State]:
    states = random_positions(game, number, seed=5, plies=20)
    return [rows(states, i) for i in range(number)]


def deepen(game: Game, evaluator: Evaluator, search: AlphaBeta, state: State, **limits: float) -> list[Snapshot]:
    """What is told of each depth."""
    told: list[Snapshot] = []
    last = think(search, game, evaluator, state, KEY, Limit(**limits), watch=told.append)
    assert last.depth == told[-1].depth and last.line == told[-1].line
    return told


class Clock:
    """A clock that goes on by a millisecond for each node that is expanded, and for nothing else."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, expansion: float = MILLISECOND) -> None:
        self.now, self.units, advance = 0.0, 0, drive._advance

        def ticking(*given):
            found = advance(*given)
            units = int(found[2].units)
            self.now += expansion * (units - self.units if units >= self.units else units)
            self.units = units
            return found

        monkeypatch.setattr(drive, "_advance", ticking)
        monkeypatch.setattr(drive.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(drive.time, "perf_counter", lambda: self.now)


def without_time(depths: list[Snapshot]) -> list[tuple]:
    return [(d.depth, d.value, d.outlook.proven, d.outlook.plies, d.outlook.line, d.nodes) for d in depths]


# --- an answer is always ready ---------------------------------------------------------------------------------------


def test_there_is_a_first_depth_however_little_time_there_is():
    state = FOUR.init(KEY)
    first = deepen(FOUR, FEATURES, SEARCH, state, seconds=1e-9)
    assert [d.depth for d in first] == [1]
    assert len(first[0].line) == 1 and first[0].nodes == 8


def test_there_is_a_first_depth_however_few_nodes_are_allowed():
    depths = deepen(FOUR, FEATURES, SEARCH, FOUR.init(KEY), nodes=1)
    assert [d.depth for d in depths] == [1] and len(depths[0].line) == 1 and depths[0].nodes == 8


# --- the clock -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [0.05, 0.3, 2.0])
def test_it_stops_close_to_the_time(monkeypatch, seconds):
    clock = Clock(monkeypatch)
    depths = deepen(FOUR, FEATURES, SEARCH, FOUR.init(KEY), seconds=seconds)
    assert seconds <= clock.now <= seconds + 0.1
    assert depths[-1].seconds <= clock.now
    assert [d.depth for d in depths] == list(range(1, len(depths) + 1))


class CorridorState(NamedTuple):
    ply: Array  # int32 []
    path: Array  # uint32 [] all moves so far


@dataclasses.dataclass(frozen=True)
class Corridor(Game):
    """One move for `length` plies, and then four."""

    length: int = 24

    name: ClassVar[str] = "corridor"
    num_actions = 4
    max_moves = 4
    max_plies = 1000
    observation_shape = ()

    def init(self, key: Array) -> CorridorState:
        return CorridorState(jnp.int32(0), jnp.uint32(0))

    def player(self, state: CorridorState) -> Array:
        return state.ply & 1

    def legal(self, state: CorridorState) -> Array:
        return (np.arange(4) == 0) | (state.ply >= self.length)

    def step(self, state: CorridorState, action: Array) -> CorridorState:
        return CorridorState(state.ply + 1, state.path * np.uint32(5) + jnp.asarray(action, jnp.uint32))

    def over(self, state: CorridorState) -> Array:
        return jnp.bool_(False)

    def score(self, state: CorridorState) -> Array:
        return jnp.float32(0)

    def observe(self, state: CorridorState) -> Array:
        return state.ply.astype(jnp.float32)

    def action_name(self, state: CorridorState, action: int) -> str:
        return str(action)


def test_many_depths_that_take_no_time_do_not_make_it_blind_to_the_clock(monkeypatch):
    """Depths of a forced line are done at once; where the lines begin to branch, the clock still has to be seen."""
    game = Corridor()
    clock = Clock(monkeypatch)
    search = AlphaBeta(31, prune=False, order=False, entries=0)  # its last depth alone takes five seconds
    depths = deepen(game, zero_evaluator(game), search, game.init(KEY), seconds=1.0)
    assert depths[-1].depth >= game.length
    assert clock.now <= 1.1


def test_how_often_it_looks_at_the_clock_changes_nothing(monkeypatch):
    state = positions(FOUR, 1)[0]
    found = []
    for expansion in (0.0, MILLISECOND, 1.0):  # slices grow, grow a little, stay as they are
        with monkeypatch.context() as patch:
            Clock(patch, expansion)
            found.append(without_time(deepen(FOUR, FEATURES, FIVE, state)))
    assert found[0] == found[1] == found[2]


# --- other limits ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_number_of_nodes_is_kept_to():
    """One node more is expanded at most; of a depth that is not finished nothing is told.

    Whoever says it, the settings or the call.
    """
    state, reached = FOUR.init(KEY), []
    search = dataclasses.replace(SEARCH, nodes=3000)
    for settings, nodes in ((SEARCH, 100), (search, 3000)):
        depths = deepen(FOUR, FEATURES, settings, state, nodes=nodes if settings == SEARCH else 2**30)
        told = depths[-1].nodes
        assert told <= nodes + 2 * FOUR.max_moves
        reached.append(depths[-1].depth)
    assert 1 < reached[0] < reached[1]
    states = jax.tree.map(lambda x: x[None], state)
    assert jax.jit(search, static_argnums=0)(FOUR, FEATURES, states, KEY).nodes == told


def test_the_depth_is_kept_to_and_proven_positions_end_it_sooner():
    depths = deepen(FOUR, FEATURES, FIVE, FOUR.init(KEY))
    assert [d.depth for d in depths] == [1, 2, 3, 4, 5] and not depths[-1].outlook.proven
    game = make_game("tic_tac_toe")
    depths = deepen(game, zero_evaluator(game), AlphaBeta(64), game.init(KEY))
    assert (depths[-1].depth, depths[-1].value, depths[-1].outlook.proven, depths[-1].outlook.plies) == (
        9,
        0.0,
        True,
        None,
    )


def test_a_win_is_told_with_its_plies_and_ends_the_search():
    state = FOUR.init(KEY)
    for column in (3, 0, 3, 0, 3, 1):
        state = FOUR.step(state, jnp.int32(column))
    depths = deepen(FOUR, FEATURES, SEARCH, state)
    assert [(d.value, d.outlook.proven, d.outlook.plies, d.line) for d in depths] == [(1.0, True, 1, [3])]


def test_a_loss_is_told_with_its_plies():
    """Three in the bottom row with room on both sides."""
    state = FOUR.init(KEY)
    for column in (3, 3, 2, 2, 4):
        state = FOUR.step(state, jnp.int32(column))
    *_, lost = deepen(FOUR, FEATURES, SEARCH, state)
    assert (lost.depth, lost.value, lost.outlook.proven, lost.outlook.plies, len(lost.line)) == (2, -1.0, True, 2, 2)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_distance_of_an_end_is_told_only_within_the_depth(sign):
    """What noisy moves lead to beyond it is proven, but other moves may lead there sooner."""
    in_three = sign * int(integer_value.from_score(jnp.float32(1), jnp.int32(3)))
    assert [_plies(in_three, depth) for depth in (1, 2, 3, 4)] == [None, None, 3, 3]
    assert _plies(sign * integer_value.ONE // 2, 4) is None


@pytest.mark.parametrize("count", ["expanded", "visited"])
def test_a_search_goes_on_however_much_was_counted_before(count):
    start = drive._start(SEARCH, FOUR, FEATURES, jax.tree.map(lambda x: x[None], FOUR.init(KEY)), KEY)
    at = start.stack.at.at[At._fields.index(count)].set(2**31 - 2**20)
    before, most = start._replace(stack=start.stack._replace(at=at)), jnp.int32(2**31 - 2**20)
    after, _, spent = drive._advance(SEARCH, FOUR, FEATURES, before, most)
    assert int(after.found.depth[0]) == 1 == int(spent.depth[0]) and int(after.found.nodes[0]) > 0


# --- what is told ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [FOUR, KALAH], ids=lambda game: game.name)
def test_the_line_of_every_depth_can_be_played(game):
    step, over = jax.jit(game.step), jax.jit(game.over)
    for state in positions(game, 6):
        for depth in deepen(game, feature_evaluator(game), FIVE, state):
            after = state
            for move in depth.outlook.line:
                assert move in game.legal_actions(after)
                after = step(after, jnp.int32(move))
            assert len(depth.outlook.line) == depth.depth or bool(over(after))
            if depth.outlook.plies is not None:
                assert len(depth.outlook.line) == depth.outlook.plies
                won = float(game.score(after)) == 1 - 2 * int(game.player(state))
                assert won == (depth.value > 0)


@pytest.mark.parametrize("search", [FIVE, AlphaBeta(nodes=3000)], ids=["depth", "nodes"])
def test_the_same_limits_give_the_same_answer(search):
    for state in positions(KALAH, 3):
        found = [without_time(deepen(KALAH, feature_evaluator(KALAH), search, state)) for _ in range(2)]
        assert found[0] == found[1]


@pytest.mark.slow
def test_deepening_is_what_the_search_does_by_itself():
    search, evaluator = AlphaBeta(4, entries=0, order=False), mixed_evaluator(KALAH, 3)
    states = random_positions(KALAH, 6, seed=5, plies=20)
    result = jax.device_get(jax.jit(search, static_argnums=0)(KALAH, evaluator, states, KEY))
    for row in range(6):
        *_, last = deepen(KALAH, evaluator, search, rows(states, row))
        assert (result.action[row], result.value[row]) == (last.line[0], np.float32(last.value))
        assert result.nodes[row] == last.nodes


def test_nothing_compiles_again():
    one, *others = positions(FOUR, 3)
    (deepen(FOUR, FEATURES, SEARCH, one, seconds=1e-9))
    with CompilationCount() as count:
        for state in others:
            (deepen(FOUR, FEATURES, SEARCH, state, seconds=0.01))
    assert count.number == 0


@pytest.mark.parametrize(
    ("limits", "wrong"),
    [
        ({"depth": 0}, "depth is 0, but must be 1 to 64"),
        ({"depth": 65}, "depth is 65"),
        ({"nodes": 0}, "nodes is 0"),
        ({"nodes": 2**31}, "nodes is 2147483648"),
        ({"evaluations": 0}, "evaluations is 0"),
        ({"seconds": 0.0}, "seconds is 0"),
        ({"seconds": -1.0}, "seconds is -1"),
        ({"seconds": float("nan")}, "seconds is nan"),
        ({"seconds": float("inf")}, "seconds is inf"),
    ],
)
def test_a_limit_that_allows_nothing_is_refused(limits, wrong):
    with pytest.raises(BadInput, match=wrong):
        Limit(**limits)


@pytest.mark.parametrize("settings", [{"entries": 3}, {"entries": -1}, {"entries": 2**29}, {"quiet": -1}, {"depth": 0}])
def test_so_are_settings_that_cannot_be(settings):
    with pytest.raises(BadInput):
        AlphaBeta(**settings)
