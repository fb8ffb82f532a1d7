"""What a page may say: anything else is refused in one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamzero.core.errors import BadInput
from beamzero.web.messages import (
    AnalyseMessage,
    LookMessage,
    MoveMessage,
    NewTable,
    PlainMessage,
    ReviewMessage,
    read_message,
    request_of,
)

KINDS = ["move", "undo", "resign", "swap", "pause", "go", "look", "analyse", "review", "delete"]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def test_every_kind_is_read():
    assert read_message('{"type": "move", "ply": 3, "move": "d"}') == MoveMessage(type="move", ply=3, move="d")
    assert read_message('{"type": "undo"}') == PlainMessage(type="undo")
    assert isinstance(read_message('{"type": "look", "request": 1, "ply": 0}'), LookMessage)
    assert isinstance(read_message('{"type": "analyse", "request": 1, "ply": 0, "agent": "random"}'), AnalyseMessage)
    assert isinstance(read_message('{"type": "review", "request": 1, "agent": "random"}'), ReviewMessage)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "a message must be JSON"),
        ("[" * 100_000, "a message must be JSON"),
        ("[1]", "a message must be a JSON object with a type"),
        ('{"ply": 1}', "Unable to extract tag using discriminator 'type'"),
        ('{"type": "move", "move": "d"}', "move.ply: Field required"),
        ('{"type": "move", "ply": true, "move": "d"}', "move.ply: Input should be a valid integer"),
        ('{"type": "move", "ply": -1, "move": "d"}', "move.ply: Input should be greater than or equal to 0"),
        ('{"type": "undo", "all": 1}', "undo.all: Extra inputs are not permitted"),
        ('{"type": "look", "request": 1, "ply": 0, "variation": ["", "d"]}', "look.variation.0: String should have"),
    ],
)
def test_what_is_no_message_is_refused_with_the_reason(text, line):
    with pytest.raises(BadInput) as error:
        read_message(text)
    assert str(error.value).startswith(line) and "\n" not in str(error.value)


@given(
    st.text(max_size=200)
    | ANYTHING.map(json.dumps)
    | st.fixed_dictionaries(
        {"type": st.sampled_from(KINDS)},
        optional=dict.fromkeys(("ply", "move", "request", "variation", "agent", "x"), ANYTHING),
    ).map(json.dumps)
)
def test_anything_is_either_a_message_or_bad_input(text):
    try:
        read_message(text)
    except BadInput as error:
        assert "\n" not in str(error)
    assert request_of(text) is None or 0 <= request_of(text) <= 2**53


def test_a_wish_for_a_game_has_bounds():
    wish = NewTable.model_validate({"game": "kalah", "seats": ["human", "random"], "clock": {"minutes": 5}})
    assert wish.clock.increment == 0
    for wrong in (
        {"seats": ["human"]}, {"clock": {"minutes": 0}}, {"clock": {"minutes": float("nan")}}, {"moves": ["a"] * 6000},
        {"record": "x" * 300_000}, {"path": "/etc/passwd"},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            NewTable.model_validate({"game": "kalah", "seats": ["human", "random"], **wrong})
