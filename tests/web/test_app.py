"""The server as its pages see it: games to their end, records, analysis, and what it refuses."""

from __future__ import annotations

import json

import jax
import pytest
from starlette.websockets import WebSocketDisconnect

from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.players.analysis import analyse
from beamzero.web.limits import Limits
from beamzero.web.store import SessionStore
from tests.web.serving import begin, seat, server

TIC_TAC_TOE = make_game("tic_tac_toe")


@pytest.fixture(scope="module")
def browsers(tmp_path_factory):
    with server(tmp_path_factory.mktemp("server")) as browser:
        yield browser


@pytest.fixture
def browser(browsers):
    return browsers()


def play_out(page):
    """Play the first legal move each time, to the end."""
    session = page.my_turn()
    while not session["over"]:
        made = len(session["moves"])
        page.move(session["now"]["legal"][0]["move"])
        session = page.my_turn_after(made)
    return session


# --- games -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["tic_tac_toe", "kalah", pytest.param("connect_four", marks=pytest.mark.slow)])
def test_a_whole_game_against_an_agent(browser, game):
    id = begin(browser, game)
    with seat(browser, id) as page:
        end = play_out(page)
        assert end["over"] and end["result"]["reason"] and end["now"]["legal"] == []
        page.move("a")
        assert page.hear("error")["message"] == "the game is over"
    rules = make_game(game)
    state = rules.init(jax.random.key(0))
    for move in end["moves"]:
        state = rules.step(state, jax.numpy.int32(rules.parse_action(state, move)))
    assert bool(rules.over(state)) and float(rules.score(state)) == end["result"]["score"]
    (listed,) = browser.get("/api/tables").json()["tables"]
    assert (listed["id"], listed["over"], listed["result"]) == (id, True, end["result"]["text"])


def test_an_agent_that_begins_has_moved_when_the_page_comes(browser):
    with seat(browser, begin(browser, seats=("random", "human"))) as page:
        assert len(page.my_turn()["moves"]) == 1


def test_undo_swap_and_resign(browser):
    with seat(browser, begin(browser)) as page:
        page.my_turn()
        page.move("b2")
        page.hear("table", lambda t: len(t["moves"]) == 2)
        page.say(type="undo")
        assert page.hear("table", lambda t: not t["thinking"])["moves"] == []
        page.say(type="swap")
        session = page.hear("table", lambda t: len(t["moves"]) == 1)
        assert session["seats"] == ["random", "human"] and session["names"] == ["Random", "Human"]
        page.say(type="resign")
        session = page.hear("table", lambda t: t["over"])
        assert session["result"] == {"score": 1.0, "text": "1-0", "reason": "Second resigned"}
        assert session["now"]["legal"] == [] and session["turn"] is None


@pytest.mark.slow
def test_an_answer_to_a_position_that_was_taken_back_is_not_played(browser):
    """The agent thinks for a second; meanwhile the move is taken back and another one made, of the same number."""
    with seat(browser, begin(browser, "connect_four", ("human", "mcts:seconds=1"))) as page:
        page.my_turn()
        page.move("a")
        page.hear("table", lambda t: t["thinking"] and not t["preparing"])
        page.say(type="undo")
        page.hear("table", lambda t: not t["moves"])
        page.move("d")
        session = page.hear("table", lambda t: len(t["moves"]) == 2)
        assert session["moves"][0] == "d"
        page.say(type="look", request=1, ply=1)
        legal = page.hear("position")["now"]["legal"]
        assert session["moves"][1] in [move["move"] for move in legal]


def test_what_cannot_be_done_changes_nothing_and_tells_only_who_asked(browser):
    id = begin(browser, seats=("human", "human"))
    with seat(browser, id) as page, seat(browser, id) as other:
        before = page.hear("table")
        other.hear("table")
        for wrong, line in {
            '{"type": "move", "ply": 0, "move": "z9"}': "'z9' is not a legal move here",
            '{"type": "move", "ply": 4, "move": "a1"}': "that was move 5, but the game is at move 1",
            '{"type": "undo"}': "there is no move of yours to take back",
            '{"type": "pause"}': "only a game between two agents can be paused",
            '{"type": "look", "request": 8, "ply": 3}': "there is no position after 3 moves",
            '{"type": "analyse", "request": 9, "ply": 0, "agent": "probs:/etc/passwd"}': "unknown agent",
            '{"type": "analyse", "request": 9, "ply": 0, "agent": "run:../secret"}': "unknown run",
            "no json": "a message must be JSON",
            '"' + "x" * 20_000 + '"': "too large: a message may have 16 kB",
        }.items():
            page.socket.send_text(wrong)
            error = page.hear("error")
            assert error["message"].startswith(line)
            assert error["request"] == (json.loads(wrong).get("request") if wrong.startswith("{") else None)
        page.socket.send_bytes(b"\x00\xff")
        assert page.hear("error")["message"] == "a message must be text"
        page.move("b2")
        for one in (page, other):
            assert one.hear("table")["moves"] == ["b2"], "all that the other page heard is the move"
        assert before["moves"] == []


def test_agents_play_each_other_pause_and_go_on(browser):
    with seat(browser, begin(browser, "connect_four", ("random", "lookahead:1"))) as page:
        page.hear("table", lambda t: len(t["moves"]) >= 3)
        page.say(type="pause")
        session = page.hear("table", lambda t: t["paused"] and not t["thinking"])
        page.say(type="go")
        assert page.hear("table", lambda t: t["over"])["moves"][: len(session["moves"])] == session["moves"]


def test_a_clock_is_lost_without_a_move(browser):
    with seat(browser, begin(browser, seats=("human", "human"), clock={"minutes": 0.005, "increment": 0.0})) as page:
        page.hear("table")
        for move in ("a1", "b1"):
            page.move(move)
            page.hear("table")
        session = page.hear("table", lambda t: t["over"])
        assert session["result"]["reason"] == "First ran out of time" and session["clock"]["left"][0] == 0.0


def test_a_game_goes_on_after_the_server_was_started_again(tmp_path):
    with server(tmp_path, ["tic_tac_toe"]) as browsers:
        one = browsers()
        id = begin(one)
        with seat(one, id) as page:
            page.my_turn()
            page.move("b2")
            before = page.my_turn()["moves"]
    with server(tmp_path, ["tic_tac_toe"]) as browsers:
        again = browsers()
        again.cookies = one.cookies
        with seat(again, id) as page:
            assert page.my_turn()["moves"] == before
            page.move(page.session["now"]["legal"][0]["move"])
            assert len(page.hear("table", lambda t: len(t["moves"]) > 3)["moves"]) == 4


def test_an_agent_whose_turn_it_was_when_the_server_died_moves_then(tmp_path):
    with server(tmp_path, ["tic_tac_toe"]) as browsers:
        one = browsers()
        id = begin(one, seats=("human", "human"), moves=["b2"])
    store = SessionStore(tmp_path / "games.sqlite")
    row = store.get(id)
    store.put(id, {**row.data, "seats": ["human", "random"]}, row.summary)
    store.close()
    with server(tmp_path, ["tic_tac_toe"]) as browsers:
        again = browsers()
        again.cookies = one.cookies
        with seat(again, id) as page:
            assert len(page.my_turn()["moves"]) == 2


def test_a_game_that_is_no_longer_offered_can_still_be_deleted(tmp_path):
    with server(tmp_path, ["kalah:seeds=3"]) as browsers:
        one = browsers()
        id = begin(one, "kalah:seeds=3")
    with server(tmp_path, ["tic_tac_toe", "kalah", "connect_four", "othello", "chess6x6", "checkers"]) as browsers:
        again = browsers()
        again.cookies = one.cookies
        with pytest.raises(WebSocketDisconnect) as closed, seat(again, id) as page:
            page.hear("table")
        assert closed.value.code == 4404 and "unknown game" in closed.value.reason
        assert len(closed.value.reason.encode()) <= 123
        assert again.delete(f"/api/tables/{id}").status_code == 204
        assert again.get("/api/tables").json() == {"tables": []}


def test_pages_of_a_deleted_game_hear_of_it_and_it_stays_deleted(browser):
    id = begin(browser, seats=("human", "human"))
    with seat(browser, id) as page:
        page.hear("table")
        assert browser.delete(f"/api/tables/{id}").status_code == 204
        assert page.hear("error")["message"] == "this game was deleted"
        page.move("a1")
        assert page.hear("error")["message"] == "this game was deleted"
    assert browser.get("/api/tables").json() == {"tables": []}


# --- looking at games ------------------------------------------------------------------------------------------------


def test_the_analysis_of_a_position_is_what_analyse_says(browser):
    moves, agent = ["b2", "a1"], "lookahead:2"
    with seat(browser, begin(browser, seats=("human", "human"), moves=moves)) as page:
        page.hear("table")
        page.say(type="analyse", request=7, ply=1, variation=["c1"], agent=agent)
        told = page.hear("analysis")
    state = TIC_TAC_TOE.init(jax.random.key(0))
    for move in ("b2", "c1"):
        state = TIC_TAC_TOE.step(state, jax.numpy.int32(TIC_TAC_TOE.parse_action(state, move)))
    truth = analyse(TIC_TAC_TOE, make_player(agent, TIC_TAC_TOE), state, jax.random.key(0))
    assert (told["request"], told["turn"], told["value"]) == (7, 0, truth.value)
    assert (told["best"], told["line"], told["nodes"]) == (truth.best, truth.line, truth.nodes)
    assert [(m["move"], m["value"], m["policy"]) for m in told["moves"]] == [
        (m.move, m.value, m.policy) for m in truth.moves
    ]


def test_a_game_is_reviewed_from_its_first_position_to_its_last(browser):
    with seat(browser, begin(browser, seats=("human", "human"), moves=["a1", "b1", "a2", "c3", "a3"])) as page:
        page.hear("table")
        page.say(type="review", request=1, agent="lookahead:2")
        found = page.hear("review", lambda r: len(r["values"]) > 0)
    assert len(found["values"]) == 6 and found["values"][-1] == 1.0
    assert [m["move"] for m in found["moves"]] == ["a1", "b1", "a2", "c3", "a3"]
    assert found["moves"][3]["mark"] == "??", "c3 lets the other side win"


def test_records_go_out_and_come_in_again(browser):
    id = begin(browser, "chess6x6", seats=("human", "human"), moves=["b3", "b4"])
    for format in ("jsonl", "txt", "pgn"):
        answer = browser.get(f"/api/tables/{id}/record?format={format}")
        assert answer.status_code == 200 and f"game.{format}" in answer.headers["content-disposition"]
        copy = begin(browser, "chess6x6", seats=("human", "human"), record=answer.text)
        with seat(browser, copy) as page:
            assert page.hear("table")["moves"] == ["b3", "b4"]
    plain = begin(browser, seats=("human", "human"))
    answer = browser.get(f"/api/tables/{plain}/record?format=pgn")
    assert answer.status_code == 400
    assert answer.json() == {"error": "this game cannot be written as pgn (it can as jsonl, txt)"}


@pytest.mark.parametrize(
    ("record", "line"),
    [
        ('{"game": "mine.py:Evil", "moves": []}', "unknown game 'mine.py:Evil'"),
        ('{"game": "tic_tac_toe", "moves": ["a1", "a1"]}', "move 2: 'a1' is not a legal move"),
        ('{"moves": 3}', "line 1 is no game"),
        ("", "the record holds no game"),
        ("1." + "{" * 150_000, "the record holds no game"),
        ('{"game": ' + "[" * 100_000, "line 1 is no game"),
        (json.dumps({"game": "chess6x6", "moves": ["a"] * 5001}), "the record has 5001 moves, but at most 5000"),
    ],
)
def test_a_bad_record_is_refused_in_one_line(browser, record, line):
    answer = browser.post("/api/tables", json={"game": "tic_tac_toe", "seats": ["human", "human"], "record": record})
    assert answer.status_code == 400 and answer.json()["error"].startswith(line)
    assert browser.get("/api/tables").json() == {"tables": []}


# --- whose it is -----------------------------------------------------------------------------------------------------


def test_a_game_is_seen_by_its_own_browser_only(browsers):
    mine, yours = browsers(), browsers()
    id = begin(mine)
    yours.get("/api/games")
    assert yours.get("/api/tables").json() == {"tables": []}
    for answer in (yours.get(f"/api/tables/{id}/record"), yours.delete(f"/api/tables/{id}")):
        assert answer.status_code == 404 and answer.json() == {"error": "you have no such game"}
    for unknown in (id, "A" * 22, "../../etc"):
        with pytest.raises(WebSocketDisconnect) as closed, seat(yours, unknown) as page:
            page.hear("table")
        assert closed.value.code == 4404 or unknown == "../../etc"
    with seat(mine, id) as page:
        assert page.hear("table")["id"] == id
    assert mine.delete(f"/api/tables/{id}").status_code == 204
    assert mine.get("/api/tables").json() == {"tables": []}


@pytest.mark.parametrize("other", ['x={"a": 1}', "x=a b", "x", "=", "é=1"])
def test_the_cookies_of_other_servers_on_the_same_host_do_no_harm(browsers, other):
    mine = browsers()
    id = begin(mine)
    token = mine.cookies["beamzero_client"]
    mine.cookies.clear()
    answer = mine.get("/api/tables", headers={"cookie": f"{other}; beamzero_client={token}".encode()})
    assert [session["id"] for session in answer.json()["tables"]] == [id] and "set-cookie" not in answer.headers


def test_ids_and_cookies_are_long_and_never_the_same(browsers):
    ids, tokens = set(), set()
    for _ in range(20):
        one = browsers()
        ids.add(begin(one))
        tokens.add(one.cookies["beamzero_client"])
    assert len(ids) == len(tokens) == 20
    assert all(len(id) == 22 for id in ids) and all(len(token) == 43 for token in tokens)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "evil.example"}, 403),
        ({"host": "[bad"}, 403),
        ({"origin": "http://127.0.0.1:8000"}, 201),
        ({}, 201),
    ],
)
def test_changes_come_from_the_servers_own_pages_only(browser, headers, status):
    wish = {"game": "tic_tac_toe", "seats": ["human", "human"]}
    assert browser.post("/api/tables", json=wish, headers=headers).status_code == status


def test_a_socket_needs_a_cookie_and_the_right_origin(browsers):
    mine, stranger = browsers(), browsers()
    id = begin(mine)
    for browser, origin in ((mine, "http://evil.example"), (mine, ""), (stranger, "http://127.0.0.1:8000")):
        with pytest.raises(WebSocketDisconnect) as closed, seat(browser, id, origin) as page:
            page.hear("table")
        assert closed.value.code == 1008


def test_every_answer_says_what_pages_may_do(browser):
    for address in ("/", "/runs", "/static/style.css", "/api/games", "/api/none"):
        headers = browser.get(address).headers
        assert headers["content-security-policy"].startswith("default-src 'self';")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
    assert browser.get("/static/../app.py").status_code == browser.get("/static/%2e%2e/app.py").status_code == 404


def test_reading_never_changes_anything(browser):
    id = begin(browser)
    for address in (f"/api/tables/{id}", f"/api/tables/{id}/socket", f"/api/tables/{id}/record"):
        browser.get(address)
    assert [session["id"] for session in browser.get("/api/tables").json()["tables"]] == [id]


# --- how much --------------------------------------------------------------------------------------------------------


def test_one_browser_cannot_take_everything(tmp_path):
    limits = Limits(sessions=3, sockets=2, messages_per_second=1.0, burst=5, body_bytes=2000)
    with server(tmp_path, ["tic_tac_toe"], limits) as browsers:
        one = browsers()
        ids = [begin(one, seats=("human", "human")) for _ in range(5)]
        assert [session["id"] for session in one.get("/api/tables").json()["tables"]] == ids[:1:-1]
        with seat(one, ids[4]) as page, seat(one, ids[4]):
            with pytest.raises(WebSocketDisconnect) as closed, seat(one, ids[4]) as third:
                third.hear("table")
            assert closed.value.code == 1008
            for _ in range(9):
                page.say(type="look", request=1, ply=0)
            assert page.hear("error")["message"] == "too many messages: wait a moment"
        long = {"game": "tic_tac_toe", "seats": ["human", "human"], "record": "x" * 3000}
        answer = one.post("/api/tables", json=long)
        assert (answer.status_code, answer.json()) == (413, {"error": "too large: a request may have 1 kB"})
        chunked = one.post("/api/tables", content=(b"x" * 1000 for _ in range(5)))
        assert chunked.status_code == 413


def test_an_agent_that_cannot_think_in_time_says_so_and_the_game_lives_on(tmp_path):
    limits = Limits(think_seconds=1e-9)
    with server(tmp_path, ["tic_tac_toe"], limits) as browsers:
        one = browsers()
        with seat(one, begin(one, seats=("lookahead:1", "human"))) as page:
            session = page.hear("table", lambda t: t["trouble"])
            assert session["trouble"].startswith("Lookahead 1 cannot play: lookahead:1 takes")
            page.say(type="swap")
            assert page.hear("table", lambda t: not t["trouble"])["seats"] == ["human", "lookahead:1"]
            page.move("b2")
            assert page.hear("table", lambda t: t["trouble"])["moves"] == ["b2"]


@pytest.mark.parametrize(
    ("wish", "status", "line"),
    [
        ({"game": "go"}, 400, "unknown game 'go'"),
        ({"game": "/etc/passwd"}, 400, "unknown game"),
        ({"seats": ["human", "uci:sh"]}, 400, "unknown agent 'uci:sh'"),
        ({"seats": ["human", "alphabeta:depth=60"]}, 400, "unknown agent"),
        ({"seats": ["human"]}, 422, "seats: List should have at least 2 items"),
        ({"moves": ["a1", "a1"]}, 400, "move 2: 'a1' is not a legal move here"),
        ({"position": "nonsense"}, 400, "tic_tac_toe has no notation for positions"),
        ({"more": 1}, 422, "more: Extra inputs are not permitted"),
    ],
)
def test_a_wish_that_cannot_be_granted_gets_one_line(browser, wish, status, line):
    answer = browser.post("/api/tables", json={"game": "tic_tac_toe", "seats": ["human", "random"], **wish})
    assert answer.status_code == status and answer.json()["error"].startswith(line)
    assert "\n" not in answer.json()["error"]
