"""A game in play, without a network: its laws, its clock, and that it can be put away and taken out again."""

from __future__ import annotations

import json

import pytest

from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.web.pages import describe_position, describe_result, names_of_sides
from beamzero.web.session import GameSession

TIC_TAC_TOE, KALAH, BACKGAMMON = (make_game(name) for name in ("tic_tac_toe", "kalah", "backgammon"))


def session(game=TIC_TAC_TOE, seats=("human", "random"), moves=(), clock=None, now=0.0, **more):
    told = {"moves": list(moves), "seats": list(seats), "clock": clock, **more}
    return GameSession.open("id", "client", game.name, game, told, now)


def refused(call, *given):
    with pytest.raises(BadInput) as error:
        call(*given)
    return str(error.value)


def test_a_person_moves_when_it_is_their_turn_and_nobody_else():
    one = session()
    one.play_named("b2", 0, 0.0)
    assert (one.moves, one.to_move, one.mover) == (["b2"], 1, "random")
    before = one.as_json(0.0)
    assert refused(one.play_named, "a1", 1, 0.0) == "it is not your turn"
    assert refused(one.play_named, "a1", 0, 0.0) == "that was move 1, but the game is at move 2"
    one.play(0, 0.0)
    assert "'b2' is not a legal move here" in refused(one.play_named, "b2", 2, 0.0)
    del before["moves"], (after := one.as_json(0.0))["moves"]
    assert before == after


def test_what_is_kept_makes_the_same_session_again():
    one = session(seats=("human", "human"), clock={"left": [60.0, 50.0], "increment": 2.0}, now=100.0)
    for ply, move in enumerate(["a1", "b1", "a2"]):
        one.play_named(move, ply, 101.0 + ply)
    kept = json.loads(json.dumps(one.as_json(105.0)))
    again = GameSession.open("id", "client", "tic_tac_toe", TIC_TAC_TOE, kept, 1000.0)
    assert again.as_json(1000.0) == kept
    assert describe_position(again, 3) == describe_position(one, 3)


def test_a_game_ends_by_its_rules_by_resigning_or_on_time():
    won = session(seats=("human", "human"), moves=["a1", "b1", "a2", "b2", "a3"])
    assert (won.to_move, won.over) == (None, True)
    assert describe_result(won, ["X", "O"]) == {"score": 1.0, "text": "1-0", "reason": "X has three in a row"}
    assert refused(won.play_named, "c1", 5, 0.0) == "the game is over"
    assert refused(won.resign) == refused(won.swap, 0.0).partition(":")[0] == "the game is over"

    given_up = session(moves=["a1"])
    given_up.resign()
    assert describe_result(given_up, names_of_sides(TIC_TAC_TOE, given_up.state)) == {
        "score": -1.0, "text": "0-1", "reason": "First resigned",
    }  # fmt: skip

    late = session(seats=("human", "human"), moves=["a1", "b1"], clock={"left": [5.0, 5.0], "increment": 0}, now=10.0)
    assert not late.flag(14.9)
    assert late.flag(15.1)
    assert describe_result(late, ["X", "O"]) == {"score": -1.0, "text": "0-1", "reason": "X ran out of time"}
    assert not late.flag(16.0), "only once"


def test_a_clock_runs_from_the_second_move_on_for_the_side_to_move_and_gains_its_increment():
    one = session(seats=("human", "human"), clock={"left": [60.0, 60.0], "increment": 3.0}, now=0.0)
    one.play_named("a1", 0, 50.0)
    one.play_named("b1", 1, 90.0)
    assert one.clock.now(one.to_move, 95.0) == [55.0, 60.0]
    one.play_named("a2", 2, 100.0)
    assert one.clock.now(one.to_move, 101.0) == [53.0, 59.0]
    one.play_named("b2", 3, 300.0)
    assert one.moves == ["a1", "b1", "a2"], "a move that comes too late is not made"
    assert describe_result(one, ["X", "O"])["reason"] == "O ran out of time"


def test_undo_goes_back_to_before_the_last_move_of_a_person():
    one = session(moves=["a1", "b2", "a2", "a3"])
    one.undo(0.0)
    assert one.moves == ["a1", "b2"]
    one.undo(0.0)
    assert one.moves == []
    assert refused(one.undo, 0.0) == "there is no move of yours to take back"
    ended = session(moves=["a1"])
    ended.resign()
    ended.undo(0.0)
    assert not ended.over and ended.moves == []
    watched = session(seats=("random", "random"), moves=["a1"])
    assert refused(watched.undo, 0.0) == "there is no move of yours to take back"


def test_undo_gives_back_the_time_and_a_swap_does_not():
    one = session(seats=("human", "human"), clock={"left": [10.0, 10.0], "increment": 0.0}, now=0.0)
    for ply, move in enumerate(["a1", "b1", "a2"]):
        one.play_named(move, ply, 3.0)
    assert one.flag(14.0) and one.over
    one.undo(20.0)
    assert (one.moves, one.over, one.clock.now(one.to_move, 21.0)) == (["a1", "b1"], False, [9.0, 10.0])
    one.swap(25.0)
    assert one.clock.now(one.to_move, 26.0) == [4.0, 10.0]


def test_a_paused_game_uses_no_time():
    one = session(seats=("random", "random"), moves=["a1", "b1"], clock={"left": [10.0, 10.0], "increment": 0.0})
    one.pause(True, 4.0)
    assert not one.flag(100.0) and one.clock.now(one.to_move, 100.0) == [6.0, 10.0]
    one.pause(False, 100.0)
    assert one.clock.now(one.to_move, 101.0) == [5.0, 10.0]


def test_undo_counts_sides_and_not_plies():
    """In Kalah a move that ends in the store is followed by another of the same side."""
    one = session(KALAH, seats=("random", "human"), moves=["1", "3", "6", "1"])
    sides = [int(KALAH.player(state)) for state in one.followed.states]
    mine = [ply for ply, side in enumerate(sides[:-1]) if side == 1]
    one.undo(0.0)
    assert one.ply == mine[-1] and one.to_move == 1


def test_swapping_seats_and_pausing():
    one = session(moves=["a1"])
    one.swap(0.0)
    assert one.seats == ["random", "human"] and one.mover == "human"
    assert refused(one.pause, True, 0.0) == "only a game between two agents can be paused"
    watched = session(seats=("random", "random"))
    watched.pause(True, 0.0)
    assert watched.paused
    assert refused(watched.resign) == "two agents play here: there is nobody to resign"


def test_a_position_says_what_can_be_done_there_and_where():
    one = session(moves=["b2", "a1"])
    now = describe_position(one, 2)
    assert (now["ply"], now["turn"], now["over"], now["last"]) == (2, 0, False, [[0, 0]])
    assert now["view"] == TIC_TAC_TOE.view(one.state)
    assert {"move": "c3", "places": [[2, 2]]} in now["legal"] and len(now["legal"]) == 7
    tried = describe_position(one, 1, ["c3", "a3"])
    assert (tried["ply"], tried["variation"], tried["last"], tried["turn"]) == (1, ["c3", "a3"], [[2, 0]], 1)
    assert one.moves == ["b2", "a1"], "looking changes nothing"
    assert describe_position(one, 0)["last"] == []
    assert refused(describe_position, one, 3) == "there is no position after 3 moves: the game has 2"
    assert refused(describe_position, one, 2, ["c3", "c3"]).startswith(
        "move 2 of the variation: 'c3' is not a legal move here"
    )


def test_dice_are_thrown_after_a_turn_and_kept_with_the_move():
    one = session(BACKGAMMON, seats=("human", "human"), start="XGID=-b----E-C---eE---c-e----B-:0:0:1:31")
    one.play_named("8/5", 0, 0.0)
    assert one.moves == ["8/5"] and one.to_move == 0
    one.play_named("6/5", 1, 0.0)
    assert one.moves[1].startswith("6/5:") and one.to_move == 1
    again = GameSession.open("id", "client", "backgammon", BACKGAMMON, json.loads(json.dumps(one.as_json(0.0))), 0.0)
    assert describe_position(again, 2) == describe_position(one, 2) and describe_position(again, 2)["view"]["dice"]
    one.undo(0.0)
    assert one.moves == ["8/5"] and describe_position(one, 1)["view"]["dice"] == [1]
    tried = describe_position(one, 1, ["6/5"])
    assert (tried["turn"], tried["legal"], tried["over"]) == (1, [], False), (
        "no dice are thrown in a line that is tried"
    )


def test_games_that_are_dealt_begin_differently_and_are_kept_as_they_began():
    starts = {session(BACKGAMMON).followed.record.start for _ in range(12)}
    assert len(starts) > 4
    one = session(BACKGAMMON)
    again = GameSession.open("id", "client", "backgammon", BACKGAMMON, one.as_json(0.0), 0.0)
    assert describe_position(again, 0) == describe_position(one, 0)


def test_a_session_that_cannot_be_is_not_opened():
    assert refused(session, TIC_TAC_TOE, ("human", "random"), ["a1", "a1"]).startswith("move 2: ")
    chess = make_game("chess")
    assert "is no position" in refused(lambda: session(chess, start="nonsense"))
