"""GNU Backgammon as a player: how it is asked, how its answers are read, and real games."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from beamzero.arena.battle import battle
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.players.external.gnubg import board_line, follow, read_turn
from beamzero.players.external.process import EngineTrouble
from tests.games.play import step

GAME = make_game("backgammon")
START = "XGID=-b----E-C---eE---c-e----B-:0:0:{turn}:{dice}"


def read(dice: str, turn: int = 1):
    return GAME.read_position(START.format(turn=turn, dice=dice))


def test_a_position_is_written_from_the_side_of_the_mover():
    fields = board_line(read("31")).split(":")
    places = [int(number) for number in fields[6:32]]
    assert places == [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0]
    assert fields[32:37] == ["1", "3", "1", "0", "0"]
    assert board_line(read("31", turn=-1)) == board_line(read("31")), "both sides begin alike"


def test_a_turn_is_found_in_whatever_order_it_is_told():
    for told in ("8/5 6/5", "6/5 8/5"):
        names, state = [], read("31")
        for action in follow(GAME, state, read_turn(told)):
            names.append(GAME.action_name(state, action))
            state = step(GAME, state, action)
        assert sorted(names) == ["6/5", "8/5"]
        assert int(state.side) == 1
    state = read("66")
    assert len(follow(GAME, state, read_turn("24/18 24/18 13/7 13/7"))) == 4


@pytest.mark.parametrize("told", ["8/5", "8/5 8/5", "13/1 6/5", "8/5 6/5 6/5"])
def test_a_turn_that_is_not_legal_is_not_found(told):
    assert follow(GAME, read("31"), read_turn(told)) is None


def test_what_is_no_move_is_trouble():
    with pytest.raises(EngineTrouble, match="said 'double' instead of a move"):
        read_turn("double")


@pytest.mark.parametrize(
    ("text", "game", "why"),
    [
        ("gnubg", "kalah", "gnubg plays backgammon, not kalah"),
        ("gnubg:plies=9", "backgammon", "plies is 9, but must be 0 to 4"),
        ("gnubg:much", "backgammon", "plies is 'much', but must be a number"),
        ("gnubg:command=nosuchprogram", "backgammon", "install it, or give its path.*apt install gnubg"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(text, game, why):
    with pytest.raises(BadInput, match=why) as caught:
        make_player(text, make_game(game))
    assert "\n" not in str(caught.value)


@pytest.mark.external
def test_it_plays_whole_games_and_opens_as_the_books_do():
    player = make_player("gnubg", GAME)
    assert player.title.startswith("GNU Backgammon 1")
    states = jax.tree.map(lambda *rows: np.stack(rows), *(jax.device_get(read(dice)) for dice in ("31", "42", "61")))
    chosen = player.choose(states, np.ones(3, bool), jax.random.key(0))
    first = [GAME.action_name(read(dice), int(action)) for dice, action in zip(("31", "42", "61"), chosen, strict=True)]
    assert first[0] in ("8/5", "6/5") and first[1] in ("8/4", "6/4") and first[2] in ("13/7", "8/7")
    played = battle(GAME, player, make_player("random", GAME), games=20, random_plies=0, seed=2)
    assert played.score >= 0.9 and played.forfeits == (0, 0) and player.troubles == []
