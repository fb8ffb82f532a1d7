"""Bridge at the keyboard and on the command line: people see what their hand may know, and no more."""

from __future__ import annotations

import io
import json

import jax
import numpy as np
import pytest
from rich.console import Console

from beamzero.cli import main
from beamzero.cli.commands.play import default_agent
from beamzero.cli.terminal.session import TerminalSession
from beamzero.games import make_game
from beamzero.games.bridge.text import CARDS
from beamzero.players import make_player

GAME = make_game("bridge")
ENDING = "N:Q9.6.. AT.K.. 7.A.5. ..J96. 4S S won=6-4 lead=S"


def seen_hands(board: str) -> set[str]:
    """The hands whose cards stand in a diagram, or on its left or right."""
    view = {"N": False, "E": False, "S": False, "W": False}
    lines = board.splitlines()
    for number, line in enumerate(lines[:-1]):
        for point in view:
            for place in (0, 22, 44):
                if line[place : place + 2].strip() == point and len(line) > place:
                    view[point] |= lines[number + 1][place : place + 2] == "S "
    return {point for point, shown in view.items() if shown}


@pytest.mark.parametrize(("side", "own"), [(0, [{"N", "S"}]), (1, [{"W", "N"}, {"E", "N"}])])
def test_a_person_sees_the_hand_that_is_to_play_and_dummy(side, own):
    """Who defends plays both hands, and sees each of them only when it has the turn."""
    console = Console(file=io.StringIO(), width=100)
    session = TerminalSession(GAME, make_player("random", GAME), console, lambda prompt: "", side, seed=5)
    draw = np.random.default_rng(0)
    turns = 0
    while not session.played.over:
        session.let_agent_move()
        if session.played.over:
            break
        state = session.played.state
        board = GAME.show(state, session.seat)
        if 0 < int(state.plies) < 48:
            assert seen_hands(board) in own
            mine = {0: "S", 1: "W", 3: "E"}[int(GAME.seat(state))]
            assert mine in seen_hands(board)
        elif int(state.plies) == 0:
            assert seen_hands(board) == {"W"}
        turns += 1
        session.played.play(int(draw.choice(GAME.legal_actions(state))))
    assert turns == 26


def test_every_new_game_is_another_deal():
    session = TerminalSession(GAME, None, Console(file=io.StringIO()), lambda prompt: "", seed=1)
    deals = set()
    for _ in range(3):
        deals.add(np.asarray(session.played.state.holder).tobytes())
        session.played.begin()
    assert len(deals) == 3


def test_the_usual_opponent_guesses_what_is_hidden(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert default_agent(GAME)[0] == "clairvoyance"


def test_analyse_says_what_each_card_is_worth_and_nothing_of_what_comes_after(capsys):
    command = ["analyse", "bridge:contract=4S", "clairvoyance:worlds=50", "--position", ENDING, "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert {move["move"] for move in found["moves"]} == {"S7", "HA", "D5"}
    assert found["line"] == [found["best"]] and found["position"] == ENDING


@pytest.mark.slow
def test_a_battle_plays_each_deal_from_both_sides(capsys):
    command = ["battle", "bridge", "clairvoyance:worlds=1", "random", "--games", "4", "--random-plies", "0", "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["openings"] == 2 and found["mean_plies"] == 52 and found["draws"] == 0


def test_cards_have_names_that_can_be_typed():
    state = jax.device_get(GAME.init(jax.random.key(0)))
    for action in GAME.legal_actions(state):
        assert GAME.action_name(state, action) == CARDS[action]
        assert GAME.parse_action(state, CARDS[action].lower().replace("t", "10")) == action
