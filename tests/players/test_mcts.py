"""Players that search by Monte Carlo: what names them, what they play, and what is refused."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.cli.moves import play_moves
from beamzero.core.errors import BadInput
from beamzero.core.spec import quote
from beamzero.games import make_game
from beamzero.nets import Net, make_net
from beamzero.players import SearchPlayer, make_player
from beamzero.players.analysis import analyse
from beamzero.players.trees import ROOM
from beamzero.search.mcts.mcts import MCTS
from beamzero.search.mcts.rollouts import RandomGames
from beamzero.search.simple import Likeliest
from beamzero.storage.agentfile import flatten, save_agent
from tests.games.play import ask_all, stack
from tests.training.toy import GAME, NET, settings

TIC_TAC_TOE = make_game(GAME)
KEY = jax.random.key(0)
slow = functools.partial(pytest.param, marks=pytest.mark.slow)
WIN = "a1,b1,a2,b2"
"""After these moves a3 wins, and so does b3 for the other side."""


class Agents(NamedTuple):
    """Where agents are: a run and a file of AlphaZero, and a run of PROBS. A run is made when it is first named."""

    file: Path
    request: pytest.FixtureRequest

    def write(self, text: str) -> str:
        """The text with their paths for FILE, RUN and PROBS."""
        for name, run in (("RUN", "alphazero_run"), ("PROBS", "probs_run")):
            if name in text:
                text = text.replace(name, quote(str(self.request.getfixturevalue(run))))
        return text.replace("FILE", quote(str(self.file)))


@pytest.fixture
def agents(file, request):
    return Agents(file, request)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """An agent with random weights, as AlphaZero would save it."""
    draw = np.random.default_rng(0)
    shapes = jax.eval_shape(Net(TIC_TAC_TOE, make_net(NET), "joint").init, KEY)
    weights = jax.tree.map(lambda x: draw.normal(size=x.shape, scale=0.3).astype(x.dtype), shapes)
    chosen = {**dataclasses.asdict(settings("alphazero")), "c": 2.5, "unvisited": -0.5}
    path = tmp_path_factory.mktemp("trees") / "agent.safetensors"
    save_agent(path, flatten({"net": weights}), {"game": GAME, "algorithm": "alphazero", "settings": chosen})
    return path


def make(agents, text, game=TIC_TAC_TOE):
    return make_player(agents.write(text), game)


def batch(*lines):
    return stack(play_moves(TIC_TAC_TOE, moves) for moves in lines)


@pytest.mark.parametrize(
    ("text", "search", "deterministic"),
    [
        ("mcts:sims=200", RandomGames(MCTS(200, uct=True, c=1.0)), False),
        ("mcts:200,c=0.5", RandomGames(MCTS(200, uct=True, c=0.5)), False),
        slow("alphazero:RUN", Likeliest(), True),
        ("alphazero:FILE", Likeliest(), True),
        slow("alphazero:path=RUN,checkpoint=1", Likeliest(), True),
        slow("alphazero:RUN,sims=30", MCTS(30), True),
        ("alphazero:FILE,sims=30", MCTS(30, c=2.5, unvisited=-0.5), True),
        ("alphazero:FILE,sims=30,c=0.7", MCTS(30, c=0.7, unvisited=-0.5), True),
    ],
)
def test_a_text_names_a_search_and_c_is_what_the_agent_was_trained_with(agents, text, search, deterministic):
    player = make(agents, text)
    assert isinstance(player, SearchPlayer)
    assert (player.search, player.deterministic, player.game) == (search, deterministic, TIC_TAC_TOE)


@pytest.mark.parametrize(
    ("text", "search"),
    [
        ("mcts:seconds=0.02", RandomGames(MCTS(ROOM, uct=True, c=1.0))),
        ("mcts:seconds=1e-9", RandomGames(MCTS(ROOM, uct=True, c=1.0))),
        slow("mcts:seconds=60,sims=40", RandomGames(MCTS(40, uct=True, c=1.0))),
        slow("alphazero:FILE,seconds=0.02", MCTS(ROOM, c=2.5, unvisited=-0.5)),
    ],
)
def test_a_time_names_a_search_that_ends_by_the_clock_or_when_its_tree_is_full(agents, text, search):
    player = make(agents, text)
    assert isinstance(player, SearchPlayer) and player.search == search and not player.deterministic
    nodes = player.consider(play_moves(TIC_TAC_TOE, WIN), KEY).nodes
    assert 2 <= nodes <= min(search.units, ROOM - 1) + 1
    moves = player.choose(batch("", WIN, "b2"), jnp.array([False, True, True]), KEY)
    assert int(moves[1]) in TIC_TAC_TOE.legal_actions(play_moves(TIC_TAC_TOE, WIN)) and int(moves[2]) != 4
    thought = player.think(batch(WIN, "b2"), KEY)
    assert [x.shape[0] for x in thought] == [2] * len(thought)
    np.testing.assert_allclose(np.sum(thought.policy, axis=1), 1, rtol=1e-5)


def test_however_short_the_time_an_analysis_has_a_legal_move():
    analysis = analyse(TIC_TAC_TOE, make_player("mcts:seconds=1e-9", TIC_TAC_TOE), play_moves(TIC_TAC_TOE, "a1"), KEY)
    assert analysis.best == analysis.line[0] != "a1" and len(analysis.moves) == 8


def test_one_look_is_the_likeliest_legal_move_of_the_net(agents):
    player = make(agents, "alphazero:FILE")
    states = batch("", "b2", WIN)
    scores = np.asarray(jax.jit(lambda evaluator, states: evaluator.scores(states))(player.evaluator, states))
    legal = ask_all(TIC_TAC_TOE, "legal", states)
    result = player.think(states, KEY)
    np.testing.assert_array_equal(result.action, np.where(legal, scores, -np.inf).argmax(axis=1))
    powers = np.where(legal, np.exp(scores), 0)
    np.testing.assert_allclose(result.policy, powers / powers.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-6)


def test_random_games_find_what_wins_and_what_must_be_stopped():
    player = make_player("mcts:sims=300", TIC_TAC_TOE)
    states = batch(WIN, "a1,b2,b1", "b2,a1,c3,a2,c1")  # to win, to stop c1, to win by a3
    for seed in range(3):
        result = player.think(states, jax.random.key(seed))
        names = [TIC_TAC_TOE.action_name(None, int(action)) for action in result.action]
        assert names == ["a3", "c1", "a3"]
    values = [np.asarray(player.think(states, jax.random.key(seed)).values) for seed in (0, 0, 1)]
    assert (values[0] == values[1]).all() and (values[0] != values[2]).any(), "other games by another key"


@pytest.mark.parametrize("text", ["mcts:sims=40", slow("mcts:sims=40,seconds=60"), "alphazero:FILE,sims=40"])
@pytest.mark.parametrize("moves", ["", WIN])
def test_an_analysis_shows_the_tree_the_line_is_legal_and_starts_with_the_best_move(agents, text, moves):
    analysis = analyse(TIC_TAC_TOE, make(agents, text), play_moves(TIC_TAC_TOE, moves), KEY)
    assert analysis.best == analysis.moves[0].move == analysis.line[0]
    shares = [move.policy for move in analysis.moves]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1)
    end = play_moves(TIC_TAC_TOE, ",".join(filter(None, [moves, *analysis.line])))  # BadInput where it is not legal
    assert analysis.nodes <= 41
    if moves == WIN:
        assert analysis.line == ["a3"] and bool(TIC_TAC_TOE.over(end)) and analysis.moves[0].proven
    else:
        assert len(analysis.line) >= 2, "the tree of forty simulations is deeper than a move"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("mcts", "mcts needs a limit, such as mcts:sims=200 or mcts:seconds=1"),
        ("mcts:c=1", "mcts:c=1 needs a limit, such as mcts:sims=200 or mcts:seconds=1"),
        ("mcts:sims=0", "mcts:sims=0: sims is 0, but a search does 1 to 100000 simulations"),
        ("mcts:sims=many", "sims is 'many', but must be a whole number"),
        ("mcts:seconds=0", "mcts:seconds=0: seconds is 0, but must be more than 0, at most 3600"),
        ("mcts:sims=9,c=-1", "mcts:sims=9,c=-1: c is -1, but must be 0 to 1000"),
        ("mcts:sims=9,depth=3", "has no option 'depth'"),
        ("alphazero", "alphazero needs an agent, such as alphazero:runs/connect_four or alphazero:agent.safetensors"),
        ("alphazero:nowhere,sims=0", "alphazero:nowhere,sims=0: sims is 0, but a search does 1 to 100000 simulations"),
        ("alphazero:FILE,seconds=-1", "seconds is -1, but must be more than 0, at most 3600"),
        ("alphazero:FILE,c=1", "c belongs to a search; give sims=N or seconds=S as well"),
        ("alphazero:PROBS", "was trained by probs: write probs:"),
        ("probs:FILE", "was trained by alphazero: write alphazero:"),
        ("alphazero:nowhere", "nowhere"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(agents, text, wrong):
    with pytest.raises(BadInput) as error:
        make(agents, text)
    assert wrong in str(error.value) and "\n" not in str(error.value)


def test_an_agent_of_another_game_is_refused(agents):
    with pytest.raises(BadInput, match=r"plays tic_tac_toe, not connect_four$"):
        make(agents, "alphazero:FILE,sims=5", make_game("connect_four"))
