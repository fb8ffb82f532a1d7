"""The text that names a thing: what is written is read back, and what cannot be read is said in one line."""

from __future__ import annotations

import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamzero.core.errors import BadInput
from beamzero.core.spec import Spec, convert, parse, quote, unknown

KEYS = st.text(string.ascii_letters + "_", min_size=1, max_size=6)
HEADS = st.text(st.characters(blacklist_characters=":"), max_size=8).map(str.strip)
TEXTS = st.text(max_size=12)
SCALARS = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS)


@given(HEADS, st.dictionaries(KEYS, SCALARS, max_size=4))
def test_options_are_read_back(head, options):
    text = f"{head}:" + ",".join(f"{key}={quote(value)}" for key, value in options.items())
    spec = parse(text)
    assert spec.head == head
    assert spec.arguments == ()
    assert list(spec.options) == list(options)
    for key, value in options.items():
        read = convert(spec.options[key], type(value), key)
        assert read == value and type(read) is type(value)


@given(HEADS, st.lists(TEXTS.filter(lambda text: text and "=" not in text), max_size=4))
def test_arguments_are_read_back(head, arguments):
    assert parse(f"{head}:" + ",".join(map(quote, arguments))) == Spec(head, tuple(arguments))


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        spec = parse(text)
    except BadInput as error:
        assert "\n" not in str(error)
    else:
        assert spec.head == text.strip().partition(":")[0]


@pytest.mark.parametrize(
    "tail", [" " * 20_000 + 'x"', "a" * 20_000 + ' "', "a=" + " " * 20_000 + '"', '"' + "\\" * 20_001]
)
def test_a_long_text_that_cannot_be_read_is_refused_in_time(tail):
    with pytest.raises(BadInput, match="cannot read"):
        parse(f"a:{tail}")


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("connect_four", Spec("connect_four")),
        ("connect_four:", Spec("connect_four")),
        ("lookahead:2", Spec("lookahead", ("2",))),
        ("probs:runs/c4,expand=200", Spec("probs", ("runs/c4",), {"expand": "200"})),
        (" probs : runs/c4 , expand = 200 ", Spec("probs ", ("runs/c4",), {"expand": "200"})),
        ('uci:"stockfish -x, y",elo=1350', Spec("uci", ("stockfish -x, y",), {"elo": "1350"})),
        ("mygame.py:MyGame,size=5", Spec("mygame.py", ("MyGame",), {"size": "5"})),
        ("a:b:c,d=e:f", Spec("a", ("b:c",), {"d": "e:f"})),
        ('a:x="",y=', Spec("a", (), {"x": "", "y": ""})),
        (r'a:x="say \"hi\" \\ there"', Spec("a", (), {"x": r'say "hi" \ there'})),
        (r"a:x=C:\games\c4", Spec("a", (), {"x": r"C:\games\c4"})),
        ("a:x=1=2", Spec("a", (), {"x": "1=2"})),
    ],
)
def test_what_a_text_means(text, spec):
    assert parse(text) == spec


@pytest.mark.parametrize("text", ['a:"b', 'a:b"c"', 'a:"b"c', 'a:x="1"2', "a:x=1,x=2"])
def test_what_cannot_be_read_is_named(text):
    with pytest.raises(BadInput) as caught:
        parse(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("7", int, 7),
        ("-7", int, -7),
        ("0.25", float, 0.25),
        ("1e-3", float, 0.001),
        ("true", bool, True),
        ("False", bool, False),
        ("1", bool, True),
        ("0", bool, False),
        ("7", str, "7"),
    ],
)
def test_a_text_becomes_a_value(text, kind, value):
    assert convert(text, kind, "it") == value
    assert type(convert(text, kind, "it")) is kind


def test_what_is_not_a_number_reads_back_too():
    assert math.isnan(convert(quote(math.nan), float, "it"))


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("x", int, "a whole number"),
        ("1.5", int, "a whole number"),
        ("x", float, "a number"),
        ("yes", bool, "true or false"),
    ],
)
def test_a_value_of_another_type_is_told_what_it_must_be(text, kind, wanted):
    with pytest.raises(BadInput) as caught:
        convert(text, kind, "connect_four: rows")
    assert str(caught.value) == f"connect_four: rows is {text!r}, but must be {wanted}"


def test_an_unknown_name_is_told_the_nearest_and_all():
    assert (
        str(unknown("game", "ches", ["go", "chess"]))
        == "unknown game 'ches'; did you mean chess? (there are: chess, go)"
    )
    assert str(unknown("game", "xyz", ["go", "chess"])) == "unknown game 'xyz' (there are: chess, go)"
    many = unknown("game", "lib:g0", ["chess", "lib:go"], listed=["chess", "lib:NAME"])
    assert str(many) == "unknown game 'lib:g0'; did you mean lib:go? (there are: chess, lib:NAME)"
