"""Our games as PettingZoo's environments: its own tests, and the same games as by the rules."""

from __future__ import annotations

import functools
import itertools
import warnings

import jax
import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from beamzero.adapters.pettingzoo import AecGame, env
from beamzero.core.errors import BadInput
from beamzero.games import GAMES, make_game
from tests.games.play import ask, step

slow = functools.partial(pytest.param, marks=pytest.mark.slow)
SPECS = [
    "tic_tac_toe",
    "kalah:houses=3,seeds=2",
    "kuhn_poker",
    slow("connect_four"),
    slow("othello:size=4"),
    slow("checkers:draw_plies=10"),
    slow("kalah"),
    slow("togyzkumalak:max_plies=160"),
    slow("chess6x6:max_plies=120"),
    slow("chess:max_plies=120"),
    slow("backgammon:max_plies=120"),
    slow("leduc_poker"),
    slow("pgx:hex"),
    slow("open_spiel:breakthrough,columns=4,rows=5"),
]
REFUSED = {"bridge"}

EXPECTED = (
    "Observation is not a NumPy array",  # with a mask it is a dict, as in PettingZoo's own games
    "Observation space for each agent probably should be",
    "Observation numpy array is all zeros",  # of an empty board, and of hidden cards after the end
)


@pytest.fixture(params=SPECS)
def spec(request) -> str:
    return request.param


def test_pettingzoo_finds_no_fault(spec, capsys):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        api_test(env(spec), num_cycles=200)
    assert [str(one.message) for one in told if not str(one.message).startswith(EXPECTED)] == []


def test_the_same_seed_gives_the_same_game_and_boards_are_drawn(spec, capsys):
    seed_test(functools.partial(env, spec), num_cycles=50)
    render_test(functools.partial(env, spec))


def test_every_game_is_an_environment_or_refused():
    texts = [getattr(spec, "values", [spec])[0] for spec in SPECS]
    assert {text.partition(":")[0] for text in texts} >= set(GAMES) - REFUSED
    for name in REFUSED:
        with pytest.raises(BadInput, match="cannot be an environment of PettingZoo, for a side has several hands"):
            env(name)


@pytest.mark.parametrize("spec", ["kalah:houses=3,seeds=2", slow("backgammon:max_plies=60"), "kuhn_poker"])
def test_a_game_goes_as_by_the_rules(spec):
    """Whoever moves, be it twice in a row; 0 until the end, then what one side wins the other loses."""
    world, draw = AecGame(make_game(spec)), np.random.default_rng(3)
    movers = []
    for seed in range(6):
        world.reset(seed=seed)
        while not any(world.terminations.values()):
            game, state = world.game, world._state
            agent = world.agent_selection
            seen, other = world.observe(agent), world.observe({"player_0": "player_1"}.get(agent, "player_0"))
            assert agent == f"player_{ask(game, 'player', state)}" and not ask(game, "over", state)
            assert (seen["action_mask"] == ask(game, "legal", state)).all() and not other["action_mask"].any()
            assert (seen["observation"] == ask(game, "observe", state)).all()
            assert other["observation"].any() != game.hidden and set(world.rewards.values()) == {0}
            action = draw.choice(np.flatnonzero(seen["action_mask"]))
            movers.append(agent)
            world.step(int(action))
            if not game.num_chance:
                assert all((a == b).all() for a, b in zip(step(game, state, action), world._state, strict=True))
        score = float(ask(game, "score", world._state))
        assert world.rewards == {"player_0": score, "player_1": -score}
    assert spec == "kuhn_poker" or any(one == two for one, two in itertools.pairwise(movers))


def test_the_seed_decides_the_cards():
    world = AecGame(make_game("kuhn_poker"))
    seen = set()
    for seed in range(24):
        world.reset(seed=seed)
        seen.add(world.observe(world.agent_selection)["observation"].tobytes())
        deal = jax.device_get(world._state)
        world.reset(seed=seed)
        assert all((a == b).all() for a, b in zip(deal, world._state, strict=True))
    assert len(seen) == 3


def test_an_illegal_move_loses(capsys):
    world = env("tic_tac_toe")
    world.reset(seed=0)
    world.step(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        world.step(4)
    assert world.terminations == {"player_0": True, "player_1": True}
    assert world.rewards == {"player_0": 0, "player_1": -1}


def test_a_wrong_mode_is_refused():
    with pytest.raises(BadInput, match="'ansi', 'human' or None"):
        env("tic_tac_toe", render_mode="rgb_array")
