"""Agents that think for many sessions at once."""

from __future__ import annotations

import threading

import jax
import numpy as np
import pytest

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.players.analysis import analyse, step
from beamzero.web.agents import BATCH, FAILED, READY, WAITING, AgentPool, AgentWorker
from tests.web.serving import wait_for

CONNECT_FOUR = make_game("connect_four")


def one_move_from_a_win(count):
    """Positions in which the side to move wins by one column only, and which that is."""
    found = []
    for number in range(count):
        column, other = number % 5, (number % 5 + 1 + number % 2) % 7
        state = CONNECT_FOUR.init(jax.random.key(0))
        for move in (column, other, column, other, column, other):
            state = step(CONNECT_FOUR, state, move)
        found.append((jax.device_get(state), column))
    return found


@pytest.fixture(autouse=True)
def nothing_left_behind():
    before = threading.enumerate()
    yield
    wait_for(thread for thread in threading.enumerate() if thread not in before)


@pytest.fixture
def agents():
    made = AgentPool(think_seconds=60.0)
    yield made
    made.close()


def test_whoever_asks_gets_the_answer_to_their_own_position(agents):
    """More than fit in one batch, from several threads at once."""
    worker = agents.get(CONNECT_FOUR, "lookahead:1")
    positions = one_move_from_a_win(3 * BATCH + 5)
    answers = [None] * len(positions)

    def ask(start):
        for number in range(start, len(positions), 4):
            answers[number] = worker.choose(positions[number][0])

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.result(timeout=120) for answer in answers] == [column for _, column in positions]


def test_after_the_first_answer_nothing_compiles_again(agents, caplog):
    worker = agents.get(CONNECT_FOUR, "lookahead:1")
    worker.prepare().result(timeout=120)
    assert worker.status == READY
    positions = one_move_from_a_win(BATCH + 3)
    with jax.log_compiles(), caplog.at_level("WARNING"):
        for answer in [worker.choose(state) for state, _ in positions]:
            answer.result(timeout=60)
        worker.choose(positions[0][0]).result(timeout=60)
    # Agents of other tests may still be at work in this process.
    own = [record for record in caplog.records if record.thread == worker._thread.ident]
    assert not [record for record in own if "Compiling" in record.getMessage()]


@pytest.mark.parametrize("agent", ["alphabeta:seconds=0.05", "mcts:seconds=0.05", "random"])
def test_every_kind_of_agent_answers_with_a_legal_move(agents, agent):
    state = jax.device_get(CONNECT_FOUR.init(jax.random.key(0)))
    moves = [agents.get(CONNECT_FOUR, agent).choose(state) for _ in range(3)]
    assert all(move.result(timeout=120) in range(7) for move in moves)


def test_a_long_search_is_cut_by_the_limit_of_time():
    worker = AgentWorker(CONNECT_FOUR, "alphabeta:depth=40", think_seconds=0.2)
    worker.prepare().result(timeout=120)
    assert worker.choose(jax.device_get(CONNECT_FOUR.init(jax.random.key(0)))).result(timeout=60) in range(7)
    worker.close()


def test_an_agent_that_is_none_says_why_to_all_who_ask_and_those_who_left_do_no_harm():
    worker = AgentWorker(CONNECT_FOUR, "nobody", think_seconds=1.0)
    gone, asks = worker.choose(None), worker.choose(None)
    gone.cancel()
    with pytest.raises(BadInput, match="unknown agent 'nobody'"):
        asks.result(timeout=60)
    assert worker.status == FAILED
    with pytest.raises(BadInput, match="unknown agent"):
        worker.prepare().result(timeout=60)
    worker.close()


def test_moves_go_before_analysis(agents):
    worker = agents.get(CONNECT_FOUR, "lookahead:1")
    state = jax.device_get(CONNECT_FOUR.init(jax.random.key(0)))
    order: list[str] = []
    # All of these wait while it compiles.
    analysis, move = worker.analyse(state), worker.choose(state)
    analysis.add_done_callback(lambda _: order.append("analysis"))
    move.add_done_callback(lambda _: order.append("move"))
    analysis.result(timeout=120)
    assert order == ["move", "analysis"]


def test_the_analysis_is_that_of_a_player_asked_alone(agents):
    state = one_move_from_a_win(1)[0][0]
    told = agents.get(CONNECT_FOUR, "lookahead:2").analyse(state).result(timeout=120)
    assert told == analyse(CONNECT_FOUR, make_player("lookahead:2", CONNECT_FOUR), state, jax.random.key(0))


def test_agents_asked_longest_ago_make_room():
    agents = AgentPool(think_seconds=60.0, most=2)
    for depth in (1, 2):
        agents.get(CONNECT_FOUR, f"lookahead:{depth}").prepare().result(timeout=120)
    agents.get(CONNECT_FOUR, "lookahead:1").choose(one_move_from_a_win(1)[0][0]).result(timeout=60)
    agents.get(CONNECT_FOUR, "random").prepare().result(timeout=120)
    status = [agents.status(CONNECT_FOUR, name) for name in ("lookahead:1", "lookahead:2", "random")]
    assert status == [READY, WAITING, READY]
    agents.close()


def test_equal_moves_are_drawn_anew_each_time(agents):
    worker = agents.get(CONNECT_FOUR, "random")
    state = jax.device_get(CONNECT_FOUR.init(jax.random.key(0)))
    moves = [worker.choose(state).result(timeout=120) for _ in range(30)]
    assert len(np.unique(moves)) > 3
