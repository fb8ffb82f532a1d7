"""Real agents, one position at a time: all of them answer, those that can be cut are, and limits hold."""

from __future__ import annotations

import jax
import pytest

from beamzero.games import make_game
from beamzero.nets import Net, make_joint_evaluator, make_net
from beamzero.players import SearchPlayer, make_player
from beamzero.players.analysis import move_names
from beamzero.players.book import BookPlayer, make_table
from beamzero.players.thinking import Deepener, Fixed, FromBook, Grower, make_thinker
from beamzero.players.thought import Budget, Thinker, Thought
from beamzero.search.mcts import MCTS
from beamzero.search.simple import OneLook
from tests.games.play import step
from tests.players.test_book import book_of

GAME = make_game("tic_tac_toe")
KEY = jax.random.key(0)
FIRST = GAME.init(KEY)


def nothing(thought: Thought) -> None:
    """Heard."""


def after(*moves: str):
    state = FIRST
    for move in moves:
        state = step(GAME, state, GAME.parse_action(state, move))
    return state


def trained(search) -> SearchPlayer:
    net = Net(GAME, make_net("mlp:width=8,depth=1"), "joint")
    return SearchPlayer("agent", GAME, search, make_joint_evaluator(net, net.init(KEY)))


# With the same table or the same room two agents share their compiled code.
PLAYERS = {
    "random": Fixed,
    "lookahead:1": Fixed,
    "minimax:2": Deepener,
    "alphabeta:depth=3,hash=16": Deepener,
    "alphabeta:seconds=0.05": Deepener,
    "mcts:sims=30": Grower,
    "mcts:seconds=0.05,sims=30": Grower,
}


def make(name: str) -> Thinker:
    return make_thinker(make_player(name, GAME))


@pytest.mark.parametrize(("name", "kind"), PLAYERS.items())
def test_every_agent_answers_and_says_how_it_came_to_it(name, kind):
    thinker = make(name)
    assert type(thinker) is kind
    told: list[Thought] = []
    thought = thinker.think(FIRST, KEY, Budget(), told.append)
    assert told and told[-1].depth == thought.depth
    assert all(move_names(GAME, FIRST, thought.line)) and thought.line[0] in GAME.legal_actions(FIRST)


@pytest.mark.parametrize("name", ["lookahead:1", "alphabeta:depth=3,hash=16", "mcts:sims=30"])
def test_every_move_has_its_rank(name):
    state = after("a1", "b1", "a2", "b2")
    ranked = make(name).rank(state, KEY, Budget())
    assert sorted(action for action, _ in ranked) == GAME.legal_actions(state)
    assert GAME.action_name(state, ranked[0][0]) == "a3" and ranked[0][1] == max(value for _, value in ranked)


@pytest.mark.parametrize("search", [MCTS(8), OneLook()])
def test_trained_agents_answer(search):
    thought = make_thinker(trained(search)).think(FIRST, KEY, Budget(), nothing)
    assert thought.line[0] in GAME.legal_actions(FIRST) and -1 <= thought.value <= 1


def test_a_win_is_seen_with_the_plies_to_it():
    state = after("a1", "b1", "a2", "b2")
    for name in ("alphabeta:depth=3,hash=16", "lookahead:1"):
        thought = make(name).think(state, KEY, Budget(), nothing)
        assert (GAME.action_name(state, thought.line[0]), thought.value, thought.plies) == ("a3", 1.0, 1)


def test_depth_is_the_lesser_of_what_the_agent_and_the_budget_allow():
    deepener = make("alphabeta:depth=3,hash=16")
    assert [deepener.think(FIRST, KEY, Budget(depth=d), nothing).depth for d in (1, 2, 9)] == [1, 2, 3]
    assert deepener.change("Depth", 4).think(FIRST, KEY, Budget(), nothing).depth == 4
    assert deepener.settings()["Depth"].default == 3


def test_nodes_are_a_limit():
    deepener = make("alphabeta:seconds=5")
    free = deepener.think(FIRST, KEY, Budget(depth=6), nothing)
    few = deepener.think(FIRST, KEY, Budget(nodes=100), nothing)
    assert few.nodes <= 100 < free.nodes and few.depth < free.depth
    assert make("mcts:sims=30").think(FIRST, KEY, Budget(nodes=5), nothing).nodes <= 6


@pytest.mark.parametrize(("name", "most"), [("alphabeta:seconds=60", 10), ("mcts:seconds=60,sims=30", 2)])
def test_what_is_stopped_has_an_answer_all_the_same(name, most):
    budget = Budget(endless=True)
    budget.stop.set()
    thought = make(name).think(FIRST, KEY, budget, nothing)
    assert thought.line[0] in GAME.legal_actions(FIRST) and thought.nodes <= most


def test_the_agents_own_time_counts_where_nothing_else_is_said():
    assert Budget().or_own(2.0).seconds == 2.0
    assert Budget(depth=3).or_own(2.0).seconds is None
    assert Budget(depth=3, own_time=True).or_own(2.0).seconds == 2.0
    assert Budget(endless=True).or_own(2.0).seconds is None
    assert Budget(seconds=1.0).or_own(2.0).seconds == 1.0


def test_simulations_and_tables_can_be_set():
    assert make("mcts:sims=30").change("Simulations", 7).settings()["Simulations"].default == 7
    deepener = make("alphabeta:depth=3,hash=4")
    assert deepener.settings()["Hash"].default == 4
    assert deepener.change("Hash", 8).settings()["Hash"].default == 8


@pytest.mark.slow
def test_a_book_answers_first():
    other = make_player("lookahead:1", GAME)
    book = make_table(book_of(GAME, [(FIRST, 4, 0.5)]))
    thinker = make_thinker(BookPlayer("agent", GAME, other, book, deterministic=True))
    assert isinstance(thinker, FromBook) and not thinker.settings()
    thinker.warm_up(FIRST, KEY)
    thought = thinker.think(FIRST, KEY, Budget(), nothing)
    assert (thought.line, thought.value, thought.nodes) == ([4], 0.5, 0)
    assert thinker.think(after("a1", "b1", "a2", "b2"), KEY, Budget(), nothing).value == 1
