"""pgx's games through the one Game class: its rules to the letter, our laws, our commands."""

from __future__ import annotations

import functools
import importlib.util
import json

import jax
import jax.numpy as jnp
import numpy as np
import pgx
import pytest

from beamzero.cli import main
from beamzero.core.errors import BadInput
from beamzero.games import Game, make_game
from beamzero.games.pgx.games import PGX_GAMES
from beamzero.games.views import View
from tests.conftest import relaxed_promotion
from tests.games.pictures import fits
from tests.games.play import Facts, Games, at, declared, params, random_games, replay, stack
from tests.training.toy import SETTINGS

slow = functools.partial(pytest.param, marks=pytest.mark.slow)
NUMBER = 8
NAMES = ["hex", "go_9x9"]
"""Those that compile fast enough to be played here; small ones are held against our own below."""


@pytest.fixture(params=params(NAMES, ["go_9x9"]))
def game(request) -> Game:
    return make_game(f"pgx:{request.param}")


@functools.cache
def play(game: Game) -> Games:
    return jax.device_get(random_games(game, NUMBER, jax.random.key(2)))


@functools.cache
def places(game: Game) -> list[tuple[int, int]]:
    """Ply and row of a few states that are not over: the first two plies, and some from all stages."""
    running = np.argwhere(~play(game).facts.over)
    chosen = np.random.default_rng(0).choice(len(running), 5, replace=False)
    return [(0, 0), (1, 0), *(tuple(place) for place in running[chosen].tolist())]


# --- pgx's rules ---------------------------------------------------------------------------------------------------


def test_every_state_is_what_pgx_makes_of_the_same_moves(game):
    """Whichever of its players pgx lets begin: side 0 is the one who moves first."""
    env = pgx.make(game.name.removeprefix("pgx:"))
    actions = play(game).actions

    def ply(state, action):
        seen = (state.current_player, state.legal_action_mask, state.rewards, state.terminated, state.observation)
        return env.step(state, action), seen

    def one(key, actions):
        return jax.lax.scan(ply, env.init(key), actions)[1]

    with relaxed_promotion():
        player, legal, rewards, over, observation = jax.device_get(
            jax.jit(jax.vmap(one, (0, 1), 1))(jax.random.split(jax.random.key(5), NUMBER), actions)
        )
    first = player[0]
    assert set(first) == {0, 1}, "pgx let either of its players begin"
    ours, running = play(game).facts, ~over
    assert (ours.over == over).all()
    assert (ours.player == (player != first[None]))[running].all()
    assert (ours.legal == legal)[running].all()
    assert (ours.observation == observation)[running].all()
    # pgx shows the result once, in the state that ends the game.
    result = np.take_along_axis(rewards, np.broadcast_to(first[None, :, None], (*player.shape, 1)), axis=2)[:, :, 0]
    assert (ours.score[-1] == result.sum(axis=0)).all()


# --- our laws ------------------------------------------------------------------------------------------------------


def test_every_question_is_answered_in_the_declared_shape_and_type(game):
    for name, answer, (dtype, shape) in zip(Facts._fields, play(game).facts, declared(game), strict=True):
        assert (answer.dtype, answer.shape) == (dtype, (game.max_plies + 1, NUMBER, *shape)), name


def test_moves_packs_exactly_what_legal_allows(game):
    seen, running = play(game).facts, ~play(game).facts.over
    assert (seen.count == seen.legal.sum(axis=2))[running].all()
    assert 0 < seen.count[running].min() <= seen.count[running].max() <= game.max_moves
    for ply, row in places(game):
        legal = np.flatnonzero(seen.legal[ply, row])
        assert (seen.moves[ply, row] == np.pad(legal, (0, game.max_moves - len(legal)))).all()


def test_every_game_ends_and_then_stays_as_it_is(game):
    seen = play(game).facts
    assert seen.over[-1].all()
    assert (seen.score[~seen.over] == 0).all() and set(np.unique(seen.score)) <= {-1, 0, 1}
    assert (seen.score[-1] != 0).any()
    finished = seen.over[:-1]
    assert finished.any()
    for field in play(game).states:
        assert (field[1:] == field[:-1])[finished].all(), "whatever was played after the end"


def test_a_state_steps_alone_as_in_a_batch_and_keeps_its_shape(game):
    for ply, row in places(game)[:3]:
        action = int(play(game).actions[ply, row])
        after = game.step(at(play(game).states, ply, row), action)
        for alone, batched in zip(after, at(play(game).states, ply + 1, row), strict=True):
            assert alone.dtype == batched.dtype and (np.asarray(alone) == batched).all()


def test_a_move_reads_back_from_its_name(game):
    for place in places(game):
        state = at(play(game).states, *place)
        names = [game.action_name(state, action) for action in game.legal_actions(state)]
        assert len(set(names)) == len(names)
        for action, name in list(zip(game.legal_actions(state), names, strict=True))[::9]:
            assert game.parse_action(state, name) == game.parse_action(state, f" {name.lower()} ") == action
        with pytest.raises(BadInput, match="is not a legal move here"):
            game.parse_action(state, "z9")


def test_a_position_can_be_shown_and_a_finished_game_says_why(game):
    for place in places(game):
        state = at(play(game).states, *place)
        assert json.loads(json.dumps(game.view(state))) == game.view(state)
        assert fits(game.view(state), View)
        assert len(game.show(state).splitlines()) >= 4
    for row in range(NUMBER):
        state = at(play(game).states, -1, row)
        assert game.outcome_reason(state).startswith("draw") == (float(state.score) == 0)


@pytest.mark.parametrize(("name", "most"), [("hex", 280), slow("go_9x9", 2800), slow("animal_shogi", 2500)])
def test_a_state_keeps_no_observation_and_no_more_bits_than_it_needs(name, most):
    state = make_game(f"pgx:{name}").init(jax.random.key(0))
    assert sum(leaf.nbytes for leaf in jax.tree.leaves(state)) <= most


# --- our own games -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", params(["tic_tac_toe", "connect_four", "othello"], ["connect_four", "othello"]))
def test_our_own_game_goes_the_same_way(name):
    """pgx's Othello ends with two passes; ours ends before them."""
    theirs, ours = make_game(f"pgx:{name}"), make_game(name)
    games = jax.device_get(random_games(theirs, 32, jax.random.key(3)))
    # pgx counts the squares of tic-tac-toe from the top left, we from the bottom left.
    turned = np.arange(9).reshape(3, 3)[::-1].ravel() if name == "tic_tac_toe" else np.arange(ours.num_actions)
    first = stack([ours.init(jax.random.key(0))] * 32)
    seen = replay(ours, first, turned[games.actions].astype(np.int32))
    passes = theirs.num_actions - 1 if name == "othello" else -1
    passing = ~games.facts.over & (games.actions == passes)
    last = passing & (np.roll(passing, -1, axis=0) | np.roll(passing, 1, axis=0))
    running = ~games.facts.over & ~last
    assert (seen.over == ~running).all()
    assert (seen.player == games.facts.player)[running].all()
    assert (seen.legal[:, :, turned] == games.facts.legal)[running].all()
    assert (seen.score[-1] == games.facts.score[-1]).all()


# --- names -----------------------------------------------------------------------------------------------------------


def start(name: str, *moves: str):
    """A game, and the state after `moves`."""
    game = make_game(f"pgx:{name}")
    state = game.init(jax.random.key(0))
    for move in moves:
        state = game.step(state, game.parse_action(state, move))
    return game, state


@pytest.mark.slow
def test_go_is_named_as_in_gtp_and_drawn_with_its_letters():
    game, state = start("go_9x9", "D4", "j1", "pass")
    lines = game.show(state).splitlines()
    assert lines[-1].split() == list("ABCDEFGHJ")
    assert lines[-5].split() == ["4", *"···X·····"] and lines[-2].split() == ["1", *"········O"]
    view = game.view(state)
    assert view["cells"][3][3] == 1 and view["cells"][0][8] == 2 and view["letters"] == "ABCDEFGHJ"
    state = game.step(state, game.parse_action(state, "pass"))
    assert game.outcome_reason(state) == "both passed: White has the larger area (White's counts 7.5 more)"


def test_hex_can_be_swapped_and_is_won_by_joining_two_sides():
    game, state = start("hex", "b1")
    assert "swap" in [game.action_name(state, action) for action in game.legal_actions(state)]
    _, state = start("hex", "b1", "swap")
    assert game.view(state)["cells"][1][0] == 2, "the stone is the other side's now, mirrored"
    rows = [f"{column}{row}" for row in range(1, 12) for column in "ac"]
    _, state = start("hex", *rows[:21])
    assert game.outcome_reason(state) == "X has joined bottom and top" and float(game.score(state)) == 1
    columns = [f"{column}{row}" for column in "abcdefghijk" for row in (1, 5)]
    _, state = start("hex", "k9", *columns[:21])
    assert game.outcome_reason(state) == "O has joined left and right" and float(game.score(state)) == -1


@pytest.mark.slow
def test_animal_shogi_is_named_by_files_and_ranks_with_drops():
    game, state = start("animal_shogi", "2c2b", "1a2b")
    assert game.show(state).splitlines()[:4] == ["  g  l  ·  a", "  ·  e  ·  b", "  ·  ·  ·  c", "  E  L  G  d"]
    assert game.show(state).splitlines()[-1] == "second player holds C*1"


@pytest.mark.parametrize(
    ("name", "white", "black"),
    [
        ("gardner_chess", "a2a3 b1a3 b1c3 b2b3 c2c3 d2d3 e2e3", "a4a3 b5a3 b5c3 b4b3 c4c3 d4d3 e4e3"),
    ],
)
def test_chess_moves_are_named_as_in_uci_for_either_side(name, white, black):
    """Both sides begin alike, and pgx numbers their actions alike."""
    game, state = start(name)
    for side, names in enumerate((white, black)):
        turned = state._replace(current_player=jnp.int16(side))
        assert sorted(game.action_name(turned, a) for a in game.legal_actions(state)) == sorted(names.split())
    assert game.show(state).splitlines()[0] == "5  r n b q k"
    assert game.view(state)["pieces"]["k"]["side"] == 1


# --- which games there are -------------------------------------------------------------------------------------------


def error(name: str, **options) -> str:
    with pytest.raises(BadInput) as caught:
        make_game(name, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_pgx_game_is_named_by_its_spec():
    game = make_game(" pgx:tic_tac_toe ")
    assert game.spec == game.identity == game.name == "pgx:tic_tac_toe"
    assert make_game(game.spec) == game and hash(make_game(game.spec)) == hash(game)
    assert game != make_game("pgx:connect_four") and game != make_game("tic_tac_toe")


def test_every_pgx_game_is_either_played_or_refused_with_the_reason():
    for name in pgx.available_envs():
        if name not in PGX_GAMES:
            line = error(f"pgx:{name}")
            assert "cannot be played, for it has" in line and all(allowed in line for allowed in PGX_GAMES)
    assert set(PGX_GAMES) < set(pgx.available_envs())
    assert "dice" in error("pgx:backgammon") and "hidden" in error("pgx:kuhn_poker")


def test_a_wrong_name_is_told_what_there_is():
    assert "did you mean go_9x9?" in error("pgx:go_9x8") and "animal_shogi" in error("pgx:go_9x8")
    assert "did you mean pgx:shogi?" in error("shogi")
    assert "pgx:NAME" in error("pgx") and "pgx:NAME" in error("pgx:hex,hex")
    assert "has no setting 'size'" in error("pgx:tic_tac_toe,size=5")


def test_without_pgx_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert error("pgx:shogi") == "pgx:shogi needs pgx, which is not installed: pip install 'beamzero[pgx]'"


# --- the same commands -----------------------------------------------------------------------------------------------


def run_main(capsys, *words: str) -> dict:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_an_agent_is_trained_exported_and_fights(tmp_path, capsys):
    game, run, file = "pgx:tic_tac_toe", tmp_path / "run", tmp_path / "agent.safetensors"
    settings = {**SETTINGS, "expand": 1, "rate_every": 0}
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    assert run_main(capsys, "train", game, "--run", str(run), "--iterations", "1", *sets)["game"] == game
    assert main(["export", str(run), str(file)]) == 0
    capsys.readouterr()
    result = run_main(capsys, "battle", game, f"probs:{file}", "random", "--games", "20")
    assert result["game"] == game and result["wins"] + result["draws"] + result["losses"] == 20
    assert main(["battle", "tic_tac_toe", f"probs:{file}", "random"]) == 2
    assert "pgx:tic_tac_toe" in capsys.readouterr().err, "an agent plays only the rules it learned"


@pytest.mark.slow
def test_lines_are_counted(capsys):
    assert run_main(capsys, "perft", "pgx:tic_tac_toe", "3", "--moves", "a1,c3")["nodes"] == [7, 42, 210]
