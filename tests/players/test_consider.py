"""Real agents, one position at a time: all of them answer, those that can be cut are, and limits hold."""

from __future__ import annotations

import jax
import pytest

from beamzero.games import make_game
from beamzero.nets import Net, make_joint_evaluator, make_net
from beamzero.players import SearchPlayer, make_player
from beamzero.players.analysis import list_moves, move_names
from beamzero.players.book import BookPlayer, make_table
from beamzero.search.beam import BeamSearch
from beamzero.search.drive import Snapshot, Timer
from beamzero.search.expectiminimax import Expectiminimax
from beamzero.search.features import feature_evaluator
from beamzero.search.limit import Limit
from beamzero.search.mcts.mcts import MCTS
from beamzero.search.simple import OneLook
from tests.games.play import step
from tests.players.test_book import book_of

GAME = make_game("tic_tac_toe")
KEY = jax.random.key(0)
FIRST = GAME.init(KEY)


def after(*moves: str):
    state = FIRST
    for move in moves:
        state = step(GAME, state, GAME.parse_action(state, move))
    return state


def trained(search) -> SearchPlayer:
    net = Net(GAME, make_net("mlp:width=8,depth=1"), "joint")
    return SearchPlayer("agent", GAME, search, make_joint_evaluator(net, net.init(KEY)))


# With the same table or the same room two agents share their compiled code.
PLAYERS = [
    "random",
    "lookahead:1",
    "minimax:2",
    "alphabeta:depth=3,hash=16",
    "alphabeta:seconds=0.05",
    "mcts:sims=30",
    "mcts:seconds=0.05,sims=30",
]


def make(name: str) -> SearchPlayer:
    player = make_player(name, GAME)
    assert isinstance(player, SearchPlayer)
    return player


@pytest.mark.parametrize("name", PLAYERS)
def test_every_agent_answers_and_says_how_it_came_to_it(name):
    told: list[Snapshot] = []
    found = make(name).consider(FIRST, KEY, watch=told.append)
    assert told and told[-1].depth == found.depth
    assert all(move_names(GAME, FIRST, found.line)) and found.line[0] == found.action in GAME.legal_actions(FIRST)


@pytest.mark.parametrize("name", ["lookahead:1", "alphabeta:depth=3,hash=16", "mcts:sims=30"])
def test_every_move_has_its_rank(name):
    state = after("a1", "b1", "a2", "b2")
    ranked = list_moves(GAME, state, make(name).with_every_move().consider(state, KEY).result)
    assert sorted(move.action for move in ranked) == GAME.legal_actions(state)
    assert ranked[0].move == "a3" and ranked[0].value == max(move.value for move in ranked)


@pytest.mark.parametrize("search", [MCTS(8), OneLook(), BeamSearch(5)])
def test_trained_agents_answer(search):
    found = trained(search).consider(FIRST, KEY)
    assert found.action in GAME.legal_actions(FIRST) and -1 <= found.value <= 1


def test_a_win_is_seen_with_the_plies_to_it():
    state = after("a1", "b1", "a2", "b2")
    for name in ("alphabeta:depth=3,hash=16", "lookahead:1"):
        found = make(name).consider(state, KEY)
        assert (GAME.action_name(state, found.action), found.value, found.outlook.plies) == ("a3", 1.0, 1)


def test_depth_is_the_lesser_of_what_the_agent_and_the_limit_allow():
    player = make("alphabeta:depth=3,hash=16")
    assert [player.consider(FIRST, KEY, Limit(depth=d)).depth for d in (1, 2, 9)] == [1, 2, 3]
    assert player.with_option("Depth", 4).consider(FIRST, KEY).depth == 4
    assert player.options["Depth"].default == 3


def test_nodes_are_a_limit():
    player = make("alphabeta:seconds=5")
    free = player.consider(FIRST, KEY, Limit(depth=6))
    few = player.consider(FIRST, KEY, Limit(nodes=100))
    assert few.nodes <= 110 < free.nodes and few.depth < free.depth
    assert make("mcts:sims=30").consider(FIRST, KEY, Limit(nodes=5)).nodes <= 6


@pytest.mark.parametrize("search", [MCTS(200), BeamSearch(100)])
def test_evaluations_are_a_limit_which_is_passed_by_less_than_a_unit(search):
    for evaluations in (20, 60):
        found = trained(search).consider(FIRST, KEY, Limit(evaluations=evaluations))
        assert evaluations <= found.evaluations <= evaluations + 1 + GAME.max_moves


@pytest.mark.parametrize("name", ["alphabeta:seconds=60", "mcts:seconds=60,sims=30"])
def test_what_is_stopped_has_an_answer_all_the_same(name):
    found = make(name).consider(FIRST, KEY, timer=stopped())
    assert found.action in GAME.legal_actions(FIRST) and found.nodes <= 10


def stopped() -> Timer:
    timer = Timer()
    timer.stop()
    return timer


@pytest.mark.parametrize("search", [MCTS(500), BeamSearch(500)])
def test_a_limit_or_a_stop_in_the_middle_gives_what_a_smaller_search_gives(search):
    """Slices change nothing: what is found after some units is what a search of so many units finds."""
    player = trained(search)
    seen: list[Snapshot] = []
    player.consider(FIRST, KEY, Limit(nodes=150), watch=seen.append)
    cut = seen[-1]
    units = cut.nodes - 1 if search == MCTS(500) else None
    whole = player.consider(FIRST, KEY, Limit(nodes=cut.nodes))
    assert whole.line == cut.line and (whole.result.values == cut.result.values).all()
    if units is not None:
        small = trained(MCTS(units)).consider(FIRST, KEY)
        assert (small.result.values == cut.result.values).all() and (small.result.policy == cut.result.policy).all()


def test_expectiminimax_goes_deeper_turn_by_turn_and_can_be_stopped():
    game = make_game("backgammon:max_plies=60")
    player = SearchPlayer("dice", game, Expectiminimax(2, rolls=2), feature_evaluator(game), on_host=True)
    state = game.init(KEY)
    assert player.consider(state, KEY, timer=stopped()).depth == 1
    assert player.consider(state, KEY, Limit(depth=1)).depth == 1
    told: list[Snapshot] = []
    assert player.consider(state, KEY, watch=told.append).depth == 2
    assert [one.depth for one in told] == [1, 2]


def test_the_agents_own_limit_counts_where_nothing_else_is_said():
    player = make("mcts:seconds=0.001,sims=20000")
    assert player.limit == Limit(seconds=0.001)
    assert player.consider(FIRST, KEY).nodes < 20_000
    assert player.consider(FIRST, KEY, Limit(nodes=40)).nodes >= 40
    assert player.hurried(Limit(seconds=1e-4)).limit == Limit(seconds=1e-4)
    assert Limit(depth=3, seconds=2.0).within(Limit(depth=5, nodes=7)) == Limit(depth=3, seconds=2.0, nodes=7)


def test_simulations_and_tables_can_be_set():
    assert make("mcts:sims=30").with_option("Simulations", 7).options["Simulations"].default == 7
    player = make("alphabeta:depth=3,hash=4")
    assert player.options["Hash"].default == 4
    assert player.with_option("Hash", 8).options["Hash"].default == 8
    assert trained(BeamSearch(30)).with_option("Expansions", 9).search == BeamSearch(9)


@pytest.mark.slow
def test_a_book_answers_first():
    other = make_player("lookahead:1", GAME)
    book = make_table(book_of(GAME, [(FIRST, 4, 0.5)]))
    player = BookPlayer("agent", GAME, other, book, deterministic=True)
    assert not player.options
    player.warm_up(FIRST, KEY)
    found = player.consider(FIRST, KEY)
    assert (found.line, found.value, found.nodes) == ([4], 0.5, 0)
    assert player.consider(after("a1", "b1", "a2", "b2"), KEY).value == 1
