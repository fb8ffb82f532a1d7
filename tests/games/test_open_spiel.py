"""OpenSpiel's games through the Game class: its rules to the letter, our laws, our commands."""

from __future__ import annotations

import functools
import importlib.util
import json

import jax
import numpy as np
import pyspiel
import pytest

from beamzero.cli import main
from beamzero.core.errors import BadInput
from beamzero.games import CHANCE, Game, make_game
from beamzero.games.laws import check_laws
from beamzero.games.open_spiel import host as spiel_host
from beamzero.games.open_spiel.games import SPIEL_GAMES
from tests.games.play import ask, ask_all, at, random_games, step
from tests.training.toy import SETTINGS

slow = functools.partial(pytest.param, marks=pytest.mark.slow)
NUMBER = 8
SPECS = [
    "open_spiel:tic_tac_toe",
    "open_spiel:pig,winscore=15,plies=30",
    slow("open_spiel:connect_four,columns=5,rows=4"),
    slow("open_spiel:breakthrough,columns=4,rows=5"),
    slow("open_spiel:hex,board_size=4"),
    slow("open_spiel:dots_and_boxes"),
    slow("open_spiel:backgammon,plies=40"),
    slow("open_spiel:mancala,plies=40"),
    slow("open_spiel:maedn"),
]
"""With what is not in all games: chance, a side that moves twice, an observation without a board, an end by `plies`."""


@pytest.fixture(params=SPECS)
def game(request) -> Game:
    return make_game(request.param)


@functools.cache
def play(game: Game):
    return jax.device_get(random_games(game, NUMBER, jax.random.key(2)))


# --- OpenSpiel's rules ---------------------------------------------------------------------------------------------


def replay(game: Game, peer: pyspiel.Game, row: int) -> None:
    """Play a game of `play` in OpenSpiel itself, and compare what both say before each ply."""
    games, state, plies = play(game), peer.new_initial_state(), 0
    for ply in range(len(games.actions)):
        seen = at(games.facts, ply, row)
        assert seen.over == (state.is_terminal() or plies >= game.max_plies)
        if seen.over:
            assert seen.score == (state.returns()[0] / game.stake if state.is_terminal() else 0)
            return
        assert seen.player == state.current_player()
        if state.is_chance_node():
            outcomes, probs = zip(*state.chance_outcomes(), strict=True)
            ours = ask(game, "chance", at(games.states, ply, row))
            assert np.flatnonzero(ours).tolist() == list(outcomes)
            assert (ours[list(outcomes)] == np.array(probs, np.float32)).all()
        else:
            assert np.flatnonzero(seen.legal).tolist() == state.legal_actions()
            assert seen.moves[: seen.count].tolist() == state.legal_actions()
            same_observation(seen.observation, state)
            plies += 1
        state.apply_action(int(games.actions[ply, row]))
    raise AssertionError("no end was reached")


def same_observation(observation: np.ndarray, state: pyspiel.State) -> None:
    """Compare an observation with OpenSpiel's for the side to move."""
    side = state.current_player()
    shape = state.get_game().observation_tensor_shape()
    theirs = np.array(state.observation_tensor(side), np.float32).reshape(shape)
    ours = np.moveaxis(observation[..., :-1], 2, 0) if len(shape) == 3 else observation[:-1].reshape(shape)
    assert (ours == theirs).all() and (observation[..., -1] == side).all()


def test_every_state_is_what_openspiel_makes_of_the_same_moves(game):
    peer = pyspiel.load_game(game.name.removeprefix("open_spiel:"), given(game))
    for row in range(NUMBER):
        replay(game, peer, row)


def given(game: Game) -> dict:
    texts = [text.split("=") for text in game.spec.split(",")[1:]]
    return {key: int(value) for key, value in texts if key != "plies"}


# --- our laws ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_the_laws_hold(spec):
    found = check_laws(make_game(spec), games=8)
    assert found.broken == [] and found.positions > 30


LONG = {"go": "board_size=5", "y": "board_size=7", "havannah": "board_size=4", "amazons": "board_size=6"}
FEWER = 30


@pytest.mark.slow
@pytest.mark.parametrize("name", SPIEL_GAMES)
def test_the_laws_hold_in_every_game_that_is_listed(name):
    more = f",{LONG[name]}" if name in LONG else ""
    found = check_laws(make_game(f"open_spiel:{name}{more},plies={FEWER}"), games=4)
    assert found.broken == [] and found.positions > 10


def test_a_batch_of_batches_is_one_after_the_other():
    """Whatever leading axes a call has, and whatever of it is batched."""
    game = make_game("open_spiel:tic_tac_toe")
    first = jax.device_get(game.init(jax.random.key(0)))
    children = jax.device_get(jax.jit(jax.vmap(lambda action: game.step(first, action)))(np.arange(9, dtype=np.int32)))
    grandchildren = jax.device_get(both(game, children, np.arange(9, dtype=np.int32)))
    for one, two in ((0, 5), (8, 2), (4, 4)):
        alone = step(game, first, one, two)
        assert all((a == b).all() for a, b in zip(alone, at(grandchildren, one, two), strict=True))
    assert (ask_all(game, "observe", children)[4] == ask(game, "observe", at(children, 4))).all()


@functools.partial(jax.jit, static_argnums=0)
def both(game: Game, states, actions):
    return jax.vmap(lambda state: jax.vmap(lambda action: game.step(state, action))(actions))(states)


def test_what_is_forgotten_is_played_again(monkeypatch):
    game = make_game("open_spiel:tic_tac_toe,plies=8")
    before = step(game, game.init(jax.random.key(0)), 4, 0, 8)
    game._host._kept.clear()
    monkeypatch.setattr(spiel_host, "KEPT", 1)
    after = step(game, game.init(jax.random.key(0)), 4, 0, 8)
    assert all((a == b).all() for a, b in zip(before, after, strict=True)) and len(game._host._kept) <= 1


def test_an_illegal_move_never_reaches_openspiel():
    game = make_game("open_spiel:tic_tac_toe")
    state = step(game, game.init(jax.random.key(0)), 4)
    again = step(game, state, 4)
    assert all((a == b).all() for a, b in zip(state, again, strict=True))


# --- names -----------------------------------------------------------------------------------------------------------


def test_a_game_is_named_by_its_spec():
    game = make_game(" open_spiel:breakthrough, rows=6 ")
    assert game.spec == game.identity == "open_spiel:breakthrough,rows=6"
    assert make_game(game.spec) == game == make_game("open_spiel:breakthrough", rows=6)
    assert hash(make_game(game.spec)) == hash(game) != hash(make_game("open_spiel:breakthrough"))
    assert (game.num_actions, game.max_moves, game.max_plies) == (
        pyspiel.load_game("breakthrough(rows=6)").num_distinct_actions(),
        48,
        145,
    )
    assert game.observation_shape == (6, 8, 4)


def test_moves_are_one_word_and_read_back_as_openspiel_writes_them_too():
    game = make_game("open_spiel:tic_tac_toe")
    state = game.init(jax.random.key(0))
    assert [game.action_name(state, action) for action in (0, 5)] == ["x(0.0)", "x(1.2)"]
    assert game.parse_action(state, "x(1,2)") == game.parse_action(state, " X(1.2) ") == 5
    assert game.show(step(game, state, 5)) == "...\n..x\n..."
    with pytest.raises(BadInput, match="is not a legal move here"):
        game.parse_action(state, "z9")


def test_dice_have_names():
    game = make_game("open_spiel:backgammon,plies=4")
    state = game.init(jax.random.key(0))
    assert int(game.player(state)) == CHANCE and "roll" in game.outcome_name(state, 3)


def test_a_game_that_is_cut_is_a_draw():
    game = make_game("open_spiel:tic_tac_toe,plies=2")
    state = step(game, game.init(jax.random.key(0)), 0, 1)
    assert bool(state.over) and float(state.score) == 0 and game.outcome_reason(state) == "draw: 2 plies"


# --- which games there are -------------------------------------------------------------------------------------------


def error(name: str) -> str:
    with pytest.raises(BadInput) as caught:
        make_game(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("kuhn_poker", "it has hidden information"),
        ("goofspiel", "its players move at the same time"),
        ("efg_game", "its players do not play against each other alone"),
        ("solitaire", "it is not for two players"),
        ("einstein_wurfelt_nicht", "chance decides twice in a row in it"),
        ("pig,players=3", "it has 3 players"),
        ("go,board_size=30", "cannot be played: SpielError"),
        ("y,board_size=1000", "on a board of such a size"),
        ("breakthrough,rows=-3", "on a board of such a size"),
        ("hex,board_size=1", "a side has no legal move"),
        ("crazyhouse,insanity=2000000000", "cannot be played with insanity=2000000000: 10,000 is the most"),
        ("yacht,num_dice=1000", "6 is the most"),
        ("nim,pile_sizes=a", "cannot be loaded: SpielError"),
        ("tic_tac_toe,plies=-1", "plies is -1"),
        ("tic_tac_toe,rows=4", "has no setting 'rows'"),
        ("breaktrough", "did you mean breakthrough?"),
    ],
)
def test_other_games_are_refused_in_one_line(name, why):
    assert why in error(f"open_spiel:{name}")


def test_a_wrong_name_is_told_what_there_is():
    assert "open_spiel:NAME" in error("open_spiel") and "did you mean open_spiel:breakthrough?" in error("breakthrough")


def test_every_game_of_openspiel_is_listed_or_refused():
    """Those of open information for two in turn that are not listed are known, with the reason."""
    fit = {
        kind.short_name
        for kind in pyspiel.registered_games()
        if kind.information == kind.information.PERFECT_INFORMATION
        and (kind.dynamics, kind.utility) == (kind.dynamics.SEQUENTIAL, kind.utility.ZERO_SUM)
        and kind.min_num_players <= 2 <= kind.max_num_players
        and not kind.short_name.startswith("python_")  # which are there once another test has imported them
    }
    assert fit - set(SPIEL_GAMES) == {"cursor_go", "einstein_wurfelt_nicht"} and set(SPIEL_GAMES) <= fit


def test_without_openspiel_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    line = "open_spiel:hex needs OpenSpiel, which is not installed: pip install 'beamzero[open_spiel]'"
    assert error("open_spiel:hex") == line


# --- the same commands -----------------------------------------------------------------------------------------------


def run_main(capsys, *words: str) -> dict:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["open_spiel:breakthrough,columns=4,rows=5", "open_spiel:pig,winscore=20,plies=60"])
def test_agents_fight(name, capsys):
    strong = "mcts:sims=16" if "pig" not in name else "expectiminimax:depth=1"
    result = run_main(capsys, "battle", name, strong, "random", "--games", "8")
    assert result["game"] == name and result["wins"] + result["draws"] + result["losses"] == 8


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["mcts:sims=32", "lookahead:depth=2"])
def test_a_position_is_analysed(agent, capsys):
    result = run_main(capsys, "analyse", "open_spiel:tic_tac_toe", agent, "--moves", "x(0.0),o(1.0),x(0.1),o(2.2)")
    assert result["moves"][0]["move"] == "x(0.2)"


@pytest.mark.slow
def test_an_agent_is_trained(tmp_path, capsys):
    settings = {**SETTINGS, "expand": 1, "rate_every": 0}
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    run = ["train", "open_spiel:tic_tac_toe", "--run", str(tmp_path / "run"), "--iterations", "1"]
    assert run_main(capsys, *run, *sets)["game"] == "open_spiel:tic_tac_toe"
