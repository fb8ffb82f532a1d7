"""Every text that names a player, and what players owe to the arena."""

from __future__ import annotations

import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import beamzero
import beamzero.players
from beamzero.core.compiler import CompilationCount
from beamzero.core.errors import BadInput
from beamzero.core.registry import ALGORITHMS
from beamzero.core.spec import quote
from beamzero.games import make_game
from beamzero.nets import Net, make_evaluator, make_net
from beamzero.players import AGENTS, SearchPlayer, make_player
from beamzero.players.options import ROOM
from beamzero.search.beam import BeamSearch
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.limit import Limit
from beamzero.search.lookahead import Lookahead
from beamzero.search.simple import AnyMove, OneLook
from tests.games.play import ask_all, params, stack, step
from tests.training.toy import GAME

TIC_TAC_TOE = make_game(GAME)


@pytest.fixture
def run(probs_run):
    return probs_run


def test_a_limit_in_the_text_limits_the_search_and_the_same_one_gives_the_same_moves(run):
    player = make_player(f"probs:{quote(str(run))},evaluations=40", TIC_TAC_TOE)
    assert player.limit == Limit(evaluations=40)
    states, key = jax.vmap(TIC_TAC_TOE.init)(jax.random.split(jax.random.key(0), 2)), jax.random.key(3)
    one, other = (jax.device_get(player.think(states, key)) for _ in range(2))
    assert all((a == b).all() for a, b in zip(one, other, strict=True)) and (one.nodes > 10).all()
    found = player.consider(TIC_TAC_TOE.init(key), key)
    assert 40 <= found.evaluations <= 40 + TIC_TAC_TOE.max_moves + 1


@pytest.mark.parametrize(
    ("name", "search", "deterministic"),
    [
        ("random", AnyMove(), False),
        ("lookahead:1", Lookahead(1), False),
        ("lookahead:3", Lookahead(3), False),
        ("lookahead:depth=2", Lookahead(2), False),
        ("one_step_lookahead", Lookahead(1), False),
        ("two_step_lookahead", Lookahead(2), False),
        ("three_step_lookahead", Lookahead(3), False),
        ("probs:RUN", OneLook(), True),
        ("probs:path=RUN", OneLook(), True),
        ('probs:"RUN"', OneLook(), True),
        ("probs:RUN,checkpoint=last", OneLook(), True),
        ("probs:RUN,checkpoint=best", OneLook(), True),
        ("probs:RUN,checkpoint=1", OneLook(), True),
        ("probs:RUN,expand=20", BeamSearch(20), True),
        ("probs:RUN,expand=20,depth=3", BeamSearch(20, 3), True),
        ("probs:RUN,expand=20,depth=3,strict=true", BeamSearch(20, 3, True), True),
        ("probs:RUN,seconds=0.5", BeamSearch(ROOM), False),
        ("probs:RUN,nodes=50", BeamSearch(ROOM), True),
        ("probs:RUN,evaluations=50,depth=3", BeamSearch(ROOM, 3), True),
        ("probs:RUN,seconds=0.5,expand=20", BeamSearch(20), False),
    ],
)
def test_a_text_names_a_player(run, name, search, deterministic):
    name = name.replace("RUN", str(run))
    player = make_player(f" {name} ", TIC_TAC_TOE)
    assert isinstance(player, SearchPlayer)
    assert (player.name, player.search, player.deterministic) == (name, search, deterministic)
    assert player.game == TIC_TAC_TOE


def test_the_package_makes_players_too():
    assert beamzero.make_player("random", GAME).game == make_game(GAME)
    assert beamzero.make_player("random", beamzero.make_game(GAME)).name == "random"


def test_checkpoints_of_one_run_are_different_players(run):
    one, two = (make_player(f"probs:{run},checkpoint={step}", TIC_TAC_TOE) for step in (1, 2))
    state = stack([step(TIC_TAC_TOE, TIC_TAC_TOE.init(jax.random.key(0)), 4)])
    assert not np.array_equal(one.think(state, jax.random.key(0)).values, two.think(state, jax.random.key(0)).values)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("", r"unknown agent '' \(there are: "),
        ("minmax", "unknown agent 'minmax'"),
        ("probs:", "needs an agent"),
        ("one_step_lookahead:2", "cannot read '1' in the agent|is given twice|cannot read '2'"),
        ("random:seed=1", r"random has no option 'seed' \(it has: none\)"),
        ("probs:a,b", "cannot read 'b' in the agent 'probs:a,b': write probs:PATH"),
        ("probs:a,path=b", "path is given twice"),
        ("probs:a,expand=3,strict=perhaps", "strict is 'perhaps', but must be true or false"),
    ],
)
def test_another_text_is_refused_in_one_line(name, wrong):
    with pytest.raises(BadInput, match=wrong) as error:
        make_player(name, TIC_TAC_TOE)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", [*AGENTS, *ALGORITHMS.built_in])
def test_the_list_of_agents_has_every_option(name):
    """The docstring of the package, which the reference shows."""
    games = {"expectiminimax": "backgammon", "gnubg": "backgammon", "cfr": "kuhn_poker", "clairvoyance": "kuhn_poker"}
    with pytest.raises(BadInput, match="it has: ") as refused:
        make_player(f"{name}:no_such_option=1", make_game(games.get(name, "chess")))
    options = str(refused.value).partition("it has: ")[2].rstrip(")").split(", ")
    items = inspect.cleandoc(beamzero.players.__doc__).partition("\n- ")[2].split("\n- ")
    about = next(item for item in items if item.startswith("``ALGORITHM:" if name in ALGORITHMS else f"``{name}"))
    unnamed = {"none", "path", "command"} - ({"command"} if name == "gnubg" else set())  # they have no key
    assert [option for option in options if f"{option}=" not in about and option not in unnamed] == []


def test_an_unknown_agent_is_told_all_that_there_are():
    with pytest.raises(BadInput) as error:
        make_player("nobody", TIC_TAC_TOE)
    assert all(name in str(error.value) for name in [*AGENTS, *ALGORITHMS, "two_step_lookahead"])


# --- choosing --------------------------------------------------------------------------------------------------------


@functools.cache
def positions(count: int):
    """Different positions after a first move, none of them over."""
    found = [step(TIC_TAC_TOE, TIC_TAC_TOE.init(jax.random.key(0)), 2)]
    for state in found:
        if len(found) >= count:
            break
        children = [step(TIC_TAC_TOE, state, action) for action in TIC_TAC_TOE.legal_actions(state)]
        found += [child for child in children if not TIC_TAC_TOE.over(child)]
    return stack(found[:count])


def net_player(search=None, seed=0):
    value, scores = (Net(TIC_TAC_TOE, make_net("mlp:width=16,depth=2"), head) for head in ("value", "scores"))
    weights = value.init(jax.random.key(seed)), scores.init(jax.random.key(seed + 1))
    return SearchPlayer("net", TIC_TAC_TOE, search or OneLook(), make_evaluator(value, weights[0], scores, weights[1]))


@pytest.mark.parametrize("turn", ["all", "none", "one", "some"])
@pytest.mark.parametrize("search", [OneLook(), BeamSearch(5)], ids=["one look", "beam"])
def test_it_chooses_in_the_rows_where_it_is_to_move(search, turn):
    player, states = net_player(search), positions(16)
    rows = np.arange(16)
    mask = {"all": rows >= 0, "none": rows < 0, "one": rows == 13, "some": rows % 3 == 1}[turn]
    chosen = np.asarray(player.choose(states, jnp.array(mask), jax.random.key(0)))
    thought = np.asarray(player.think(states, jax.random.key(5)).action)
    assert chosen.dtype == np.int32 and chosen.shape == (16,)
    assert (chosen[mask] == thought[mask]).all()


def test_rows_that_are_not_its_turn_cost_nothing():
    """Their states may be anything: here they are over, and the chunks that hold none of ours are never asked for."""
    player, states = net_player(BeamSearch(5)), positions(16)
    over = jax.tree.map(lambda x: np.concatenate([x[:8], np.repeat(x[:1], 8, axis=0)]), states)._replace(
        winner=np.where(np.arange(16) < 8, 0, 1).astype(np.int8)
    )
    mask = jnp.arange(16) < 8
    assert (
        player.choose(states, mask, jax.random.key(0))[:8] == player.choose(over, mask, jax.random.key(0))[:8]
    ).all()


def test_random_moves_are_legal_even_and_by_the_key():
    player = make_player("random", TIC_TAC_TOE)
    states = stack([step(TIC_TAC_TOE, TIC_TAC_TOE.init(jax.random.key(0)), 4)] * 4000)
    everyone = jnp.ones(4000, jnp.bool_)
    moves = np.asarray(player.choose(states, everyone, jax.random.key(0)))
    counts = np.bincount(moves, minlength=9)
    assert counts[4] == 0 and counts.sum() == 4000
    assert (np.abs(counts[counts > 0] / 4000 - 1 / 8) < 0.03).all() and (counts > 0).sum() == 8
    assert (moves == player.choose(states, everyone, jax.random.key(0))).all()
    assert (moves != player.choose(states, everyone, jax.random.key(1))).any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random", "lookahead:1"])
def test_moves_do_not_depend_on_the_number_of_cores(monkeypatch, name):
    """Both draw between many equal moves; the rows are shared by as many programs as there are cores."""
    states, turn = positions(40), jnp.arange(40) % 5 != 2
    chosen = []
    for cores in (1, 3, 9):
        monkeypatch.setattr("beamzero.players.player.programs_at_once", lambda on_host=False, cores=cores: cores)
        chosen.append(np.asarray(make_player(name, TIC_TAC_TOE).choose(states, turn, jax.random.key(3))))
    assert all((chosen[0] == other).all() for other in chosen[1:])
    assert len(set(chosen[0][turn].tolist())) > 3


@pytest.mark.parametrize("name", params([GAME, "othello:size=4"], ["othello:size=4"]))
def test_on_a_gpu_all_rows_that_have_the_turn_are_done_at_once(monkeypatch, name):
    """As the program for a GPU does it, run here. Narrow games have a size for half of the rows, others only one."""
    game = make_game(name)
    states = stack([game.init(jax.random.key(0))] * 6)
    player = SearchPlayer("one look", game, Lookahead(1), zero_evaluator(game))
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    for turn in ([True] * 6, [False, True] * 3, [False] * 6):
        moves = np.asarray(player.choose(states, jnp.array(turn), jax.random.key(1)))
        legal = ask_all(game, "legal", states)[np.arange(6), moves]
        assert all(legal[row] if turn[row] else moves[row] == 0 for row in range(6))


def test_players_that_differ_in_weights_share_their_code():
    states, turn = positions(16), jnp.ones(16, jnp.bool_)
    players = [net_player(BeamSearch(5), seed) for seed in (0, 7)]
    players[0].choose(states, turn, jax.random.key(0))
    with CompilationCount() as count:
        players[1].choose(states, turn, jax.random.key(0))
    assert count.number == 0
