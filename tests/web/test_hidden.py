"""Hidden cards on the server: whatever a person is told while the game goes on is all that they may know."""

from __future__ import annotations

import json
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.games import OPEN, make_game
from beamzero.web.pages import describe_position
from beamzero.web.session import GameSession
from tests.web.serving import begin, seat, server
from tests.web.test_session import refused

BRIDGE, LEDUC = make_game("bridge"), make_game("leduc_poker")
ENDING = "N:K2.3.. AQ.2.. 54..A. ..K.A2 3NT S won=6-4 lead=W"


def session(game, seats, **told):
    return GameSession.open("id", "client", game.name, game, {"moves": [], "seats": list(seats), **told}, 0.0)


def play_on(one, plies, by):
    """Any legal moves, whoever is to move."""
    while one.ply < plies and not one.over:
        one.play(by.choice(one.game.legal_actions(one.state)), 0.0)


def dealt_otherwise(one, seed):
    """A session with the same moves, where all that the person cannot see was dealt anew."""
    game = one.game
    whose = one.viewpoint(one.ply)
    state = jax.tree.map(jnp.asarray, one.state)
    other = jax.device_get(game.determinize(state, whose, jax.random.key(seed)))
    dealt = "holder" if game is BRIDGE else "cards"
    first = one.followed.states[0]._replace(**{dealt: getattr(other, dealt)})
    return session(game, one.seats, start=game.write_position(first), moves=one.moves), first


@pytest.mark.slow
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("game", [BRIDGE, LEDUC], ids=lambda game: game.name)
def test_what_is_told_is_the_same_however_the_unseen_cards_lie(game, side):
    by, differed = random.Random(side), 0
    for number in range(8):
        dealt = game.write_position(game.init(jax.random.key(100 + number)))  # the same ones each time this is run
        one = session(game, ("human", "random") if side == 0 else ("random", "human"), start=dealt)
        play_on(one, by.randrange(0, 40 if game is BRIDGE else 4), by)
        if one.over:
            continue
        other, first = dealt_otherwise(one, number)
        differed += game.write_position(first) != one.followed.record.start
        assert one.secret and describe_position(one, one.ply) == describe_position(other, one.ply)
        assert one.viewpoint(one.ply) != OPEN
        if side == 0:  # a defender plays two hands, and sees another one in the position before
            told = [json.dumps([describe_position(each, ply) for ply in range(one.ply + 1)]) for each in (one, other)]
            assert told[0] == told[1]
    assert differed > 1, "nothing was hidden"


def test_moves_are_told_only_where_the_person_is_to_choose():
    one = session(BRIDGE, ("human", "random"))
    assert describe_position(one, 0)["legal"] == [], "the lead is the defenders'"
    one.play(one.game.legal_actions(one.state)[0], 0.0)
    now = describe_position(one, 1)
    dummy = now["view"]["hands"]["N"]
    assert {move["move"] for move in now["legal"]} <= set(dummy) and len(dummy) == 13
    assert [len(now["view"]["hands"]["S"]), now["view"]["hands"]["W"], now["view"]["hands"]["E"]] == [13, 12, 13]
    assert describe_position(one, 0)["legal"] == [] and describe_position(one, 0)["view"]["hands"]["N"] == 13


def test_what_would_show_hidden_cards_is_refused_until_the_game_is_over():
    one = session(BRIDGE, ("human", "random"))
    one.play(one.game.legal_actions(one.state)[0], 0.0)
    move = describe_position(one, 1)["legal"][0]["move"]
    only_then = "only once the game is over"
    assert only_then in refused(describe_position, one, 1, [move])
    assert only_then in refused(one.record, ["a", "b"])
    assert refused(one.undo, 0.0) == "cards that were seen cannot be taken back"
    assert "begin a new game" in refused(one.swap, 0.0)
    assert one.formats == [] and not one.may_choose(one.followed.states[0])
    one.resign()
    assert not one.secret and one.formats == ["jsonl"]
    assert all(isinstance(hand, list) for hand in describe_position(one, 1)["view"]["hands"].values())
    assert describe_position(one, 1, [move])["variation"] == [move]
    assert one.record(["a", "b"]).start == one.followed.record.start
    assert refused(one.undo, 0.0) == "cards that were seen cannot be taken back", "not even now that all are seen"


def test_dummy_lies_open_where_it_leads():
    deal = "N:KT8.T942.AK83.97 AQJ6.K8.65.A5432 7.765.QT74.QJT86 95432.AQJ3.J92.K 3NT S lead=N"
    now = describe_position(session(BRIDGE, ("human", "random"), start=deal), 0)
    assert {move["move"] for move in now["legal"]} == set(now["view"]["hands"]["N"]) and len(now["legal"]) == 13
    state = BRIDGE.read_position(deal)
    others = jax.device_get(BRIDGE.determinize(state, jnp.int32(0), jax.random.key(0)))
    assert np.array_equal(np.asarray(others.holder) == 2, np.asarray(state.holder) == 2)


def test_two_people_do_not_share_a_screen_and_who_watches_sees_everything():
    assert "each would see what is hidden" in refused(session, BRIDGE, ("human", "human"))
    watched = session(BRIDGE, ("random", "random"))
    assert not watched.secret
    assert all(len(hand) == 13 for hand in describe_position(watched, 0)["view"]["hands"].values())
    assert describe_position(watched, 0)["view"]["seat"] is None


def test_the_server_tells_no_hidden_card_and_keeps_the_deal(tmp_path):
    with server(tmp_path, games=["bridge", "leduc_poker"]) as browsers:
        mine = browsers()
        about = {game["id"]: game for game in mine.get("/api/games").json()["games"]}
        assert about["bridge"]["hidden"] and about["bridge"]["first"] == 1 and about["leduc_poker"]["first"] == 0
        assert about["leduc_poker"]["default"] == "cfr"
        id = begin(mine, "bridge", ("human", "random"), position=ENDING)
        with seat(mine, id) as me:
            told = me.my_turn()
            assert (told["secret"], told["hidden"], told["start"], told["formats"]) == (True, True, None, [])
            unseen = {"SA", "SQ", "H2", "DK", "CA", "C2"} - set(told["moves"])
            assert len(unseen) == 5 and not any(f'"{card}"' in json.dumps(told) for card in unseen)
            refusals = {
                "undo": {}, "swap": {}, "look": {"request": 1, "ply": 1, "variation": ["S2"]},
                "review": {"request": 2, "agent": "random"}, "analyse": {"request": 3, "ply": 0, "agent": "random"},
            }  # fmt: skip
            for kind, more in refusals.items():
                me.say(type=kind, **more)
                said = me.hear("error")
                assert not any(card in said["message"] for card in unseen), said
            assert mine.get(f"/api/tables/{id}/record").status_code == 400
            me.say(type="analyse", request=4, ply=1, agent="random")
            assert {move["move"] for move in me.hear("analysis")["moves"]} == {"SK", "S2", "H3"}
            while not told["over"]:
                me.move(told["now"]["legal"][0]["move"])
                told = me.my_turn_after(len(told["moves"]))
            assert told["start"] == ENDING and told["formats"] == ["jsonl"]
        assert mine.get(f"/api/tables/{id}/record").status_code == 200
    with server(tmp_path, games=["bridge", "leduc_poker"]) as browsers:
        again = browsers()
        again.cookies = mine.cookies
        with seat(again, id) as me:
            assert me.hear("table")["moves"] == told["moves"]
