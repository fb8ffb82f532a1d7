"""The HTTP part against its own description: whatever is sent, no answer that is not described, and no crash."""

from __future__ import annotations

import itertools
import json

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.web.serving import begin, seat, server
from tests.web.test_messages import ANYTHING, KINDS


@pytest.fixture(scope="module")
def browsers(tmp_path_factory):
    with server(tmp_path_factory.mktemp("server"), ["tic_tac_toe", "kalah"]) as browser:
        yield browser


@pytest.mark.slow
def test_every_answer_is_as_described(browsers):
    description = schemathesis.openapi.from_dict(browsers().get("/api/openapi.json").json())
    operations = [found.ok() for found in description.get_all_operations()]
    assert {operation.label for operation in operations} >= {"POST /api/tables", "DELETE /api/tables/{id}"}
    seen = set()
    for operation, mode in itertools.product(operations, schemathesis.GenerationMode):
        if mode.is_negative and operation.label in ("GET /api/games", "GET /api/tables", "GET /api/runs"):
            continue  # nothing is said there that could be of a wrong form

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(max_examples=15, suppress_health_check=list(HealthCheck))
        def ask(case):
            answer = send(browsers(), case)
            seen.add(answer.status_code)
            assert answer.status_code < 500
            assert str(answer.status_code) in {*case.operation.definition.raw["responses"], "405"}, answer.text
            if answer.status_code >= 400:
                assert set(answer.json()) == {"error"} and "\n" not in answer.json()["error"]

        ask()
    assert {200, 400, 422} <= seen, "it was asked for things that there are, for others, and in the wrong form"


def send(browser, case):
    """Ask what a case of schemathesis asks, with the cookies of a browser."""
    headers = {name: value for name, value in (case.headers or {}).items() if name.lower() != "cookie"}
    body = None if isinstance(case.body, schemathesis.core.NotSet) else json.dumps(case.body, default=repr)
    if body is not None:
        headers["content-type"] = "application/json"
    return browser.request(
        case.method, case.formatted_path, params=case.query or None, content=body, headers=headers
    )  # fmt: skip


@given(
    st.lists(
        st.text(max_size=100)
        | st.fixed_dictionaries(
            {"type": st.sampled_from(KINDS)},
            optional={
                "ply": st.integers(-1, 9) | ANYTHING,
                "move": st.sampled_from(["a1", "b2", "c3", "zz"]) | ANYTHING,
                "request": st.integers(0, 9) | ANYTHING,
                "variation": st.lists(st.sampled_from(["a1", "b2", "c3"]), max_size=3) | ANYTHING,
                "agent": st.sampled_from(["random", "lookahead:1", "probs:/etc/passwd", "run:..", "human"]),
            },
        ).map(json.dumps),
        max_size=12,
    )
)
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
def test_whatever_is_said_on_a_socket_the_table_lives_and_other_tables_hear_nothing(browsers, messages):
    mine, yours = browsers(), browsers()
    id, other = begin(mine), begin(yours, seats=("human", "human"))
    with seat(yours, other) as still:
        quiet = still.hear("table")
        with seat(mine, id) as page:
            for message in messages:
                page.socket.send_text(message)
            page.say(type="look", request=4321, ply=0)
            assert page.hear("position", lambda p: p["request"] == 4321)["now"]["ply"] == 0
        still.say(type="look", request=1, ply=0)
        assert still.socket.receive_json()["type"] == "position", "nothing came in between"
        assert quiet["moves"] == []
