"""What a drawing says and where: escaped texts, orientation, marks, sizes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from beamzero.core.errors import BadInput
from beamzero.drawing import ValuedMove, draw_svg, mark_values
from beamzero.games import grid
from tests.drawing.test_games import ALLOWED, classes, tags, texts

HOSTILE = '<script>alert("1")</script>&amp;]]>\x00\x1b\ud800\'--><'
EMPTY = grid.view([[0, 0, 0], [0, 0, 0]])
CHESS_LIKE = grid.view(
    [["R", ""], ["", "r"]],
    pieces={"R": {"glyph": "♖", "side": 0}, "r": {"glyph": "♜", "side": 1}},
    checkered=True,
    turn=True,
)

HOSTILE_VIEWS = [
    grid.view([[1, 2]], sides=[HOSTILE, HOSTILE], note=HOSTILE, names=[[HOSTILE, ""]]),
    grid.view([[HOSTILE, ""]], pieces={HOSTILE: {"glyph": HOSTILE, "side": 1}}, letters=HOSTILE, look=HOSTILE),
    {"kind": "text", "text": HOSTILE},
    {"kind": "<mine>", HOSTILE: HOSTILE},
    {"kind": "sowing", "houses": [[1], [2]], "stores": [0, 0], "marked": [], "sides": [HOSTILE, HOSTILE]},
    {"kind": "poker", "cards": [HOSTILE, None], "public": [HOSTILE], "paid": [1, 1], "said": [[HOSTILE]]},
]


@pytest.mark.parametrize("view", HOSTILE_VIEWS, ids=lambda view: view["kind"])
def test_texts_of_a_users_game_are_escaped(view):
    svg = draw_svg(view, marks={HOSTILE: (HOSTILE, 1.0), (0, 0): (HOSTILE, 0.5)})
    assert tags(svg) <= ALLOWED and "<script" not in svg and svg.isascii()
    assert all(name.startswith(("text", "font", "stroke", "fill", "letter")) or name in PLAIN for name in names(svg))


PLAIN = {
    *("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "d", "points", "width", "height", "viewBox", "role"),
    *("class", "transform", "opacity"),
}


def names(svg: str) -> set[str]:
    return {name for part in ET.fromstring(svg).iter() for name in part.attrib}


def badge(svg: str, text: str) -> tuple[float, float]:
    """Find where a text is drawn."""
    (found,) = [part for part in ET.fromstring(svg).iter() if part.text == text]
    return float(found.get("x", "")), float(found.get("y", ""))


def test_the_first_side_sits_at_the_bottom_and_the_second_where_it_is_turned():
    marks = {(0, 0): ("here", 1.0), (1, 1): ("there", 0.0)}
    for turned in (False, True):
        svg = draw_svg(CHESS_LIKE, marks=marks, turned=turned)
        (x1, y1), (x2, y2) = badge(svg, "here"), badge(svg, "there")
        assert (x1 < x2, y1 > y2) == (not turned, not turned)


def test_only_boards_between_opposite_players_are_turned():
    plain = {**CHESS_LIKE, "turn": False}
    assert draw_svg(plain, turned=True) == draw_svg(plain)
    assert draw_svg(CHESS_LIKE, turned=True) != draw_svg(CHESS_LIKE)


@pytest.mark.parametrize("top_first", [False, True])
def test_rows_rise_unless_the_first_is_at_the_top(top_first):
    svg = draw_svg({**EMPTY, "top_first": top_first}, marks={(0, 0): ("low", 1.0), (1, 0): ("high", 1.0)})
    assert (badge(svg, "low")[1] > badge(svg, "high")[1]) is not top_first


def test_rows_of_a_slanted_board_stand_to_the_right_of_those_below():
    svg = draw_svg({**EMPTY, "slanted": True}, marks={(0, 0): ("low", 1.0), (1, 0): ("high", 1.0)})
    assert badge(svg, "high")[0] == badge(svg, "low")[0] + 50


def test_coordinates_are_those_of_the_page():
    assert texts(draw_svg(EMPTY))[1:] == ["a", "b", "c", "1", "2"]
    assert texts(draw_svg({**EMPTY, "letters": "xyz"}))[1:] == ["x", "y", "z", "1", "2"]
    named = draw_svg({**EMPTY, "names": [["1", "", "2"], ["", "3", ""]]})
    assert texts(named)[1:] == ["1", "2", "3"]


def test_places_of_the_last_move_are_marked_once_and_others_are_not():
    assert classes(draw_svg(EMPTY, last=[[0, 1], [0, 1], [1, 2], [7, 7]]))["last"] == 2
    assert classes(draw_svg(EMPTY))["last"] == 0


def test_a_move_with_two_places_is_an_arrow_to_the_last_one():
    svg = draw_svg(CHESS_LIKE, marks={((0, 0), (1, 0)): ("+0.32", 1.0), ((0, 0), (9, 9)): ("off", 0.5)})
    assert (classes(svg)["arrow"], classes(svg)["mark"]) == (1, 1) and "off" not in texts(svg)
    assert badge(svg, "+0.32") == badge(draw_svg(CHESS_LIKE, marks={(1, 0): ("+0.32", 1.0)}), "+0.32")


def test_marks_that_end_at_one_place_do_not_cover_each_other():
    marks = {((0, 0), (1, 0)): ("a1", 1.0), ((1, 1), (1, 0)): ("b2", 0.4)}
    (x1, y1), (x2, y2) = (badge(draw_svg(CHESS_LIKE, marks=marks), text) for text in ("a1", "b2"))
    assert x1 == x2 and y2 - y1 >= 40


def test_a_mark_without_a_place_is_written_below_the_board():
    svg = draw_svg({**EMPTY, "note": "Hello"}, marks={"pass": ("-0.10", 0.0), "swap": ("+0.20", 1.0)})
    assert texts(svg)[-2:] == ["Hello", "swap +0.20,  pass -0.10"]


def test_the_best_move_is_strongest_and_few_of_many_are_marked():
    stones = [ValuedMove(f"m{i}", [[0, i]], i / 20) for i in range(12)]
    marks = mark_values([stones[3], *stones[:3], *stones[4:]])
    assert list(marks) == [((0, i),) for i in (3, 11, 10, 9, 8)]
    assert marks[((0, 3),)] == ("+0.15", 1.0) and marks[((0, 11),)][1] == pytest.approx(0.8)
    assert len(mark_values(stones[:9])) == 9
    assert len(mark_values([move._replace(places=[[1, 1], *move.places]) for move in stones[:9]])) == 5
    assert mark_values([]) == {} and mark_values([ValuedMove("pass", [], -0.001)]) == {"pass": ("+0.00", 1.0)}


def test_equal_values_are_drawn_alike_but_for_the_choice():
    moves = [ValuedMove(name, [[0, i]], 0.0) for i, name in enumerate("abc")]
    assert [strength for _, strength in mark_values(moves).values()] == [1.0, 0.8, 0.8]


@pytest.mark.parametrize("size", [32, 480, 8192])
def test_the_size_is_the_width_in_pixels(size):
    root = ET.fromstring(draw_svg(EMPTY, size=size))
    left, top, width, height = map(float, root.get("viewBox", "").split())
    assert (left, top, root.get("width")) == (0, 0, str(size))
    assert int(root.get("height", "")) == pytest.approx(size * height / width, abs=0.5)


@pytest.mark.parametrize("size", [0, 31, -5, 8193])
def test_a_size_that_cannot_be_is_refused(size):
    with pytest.raises(BadInput, match=f"size is {size}, but must be 32 to 8192"):
        draw_svg(EMPTY, size=size)


def test_the_title_says_what_stands_where():
    view = grid.view([[1, 0], [2, 0]])
    said = "Board of 2 rows and 2 columns. First side: a1. Second side: a2."
    assert texts(draw_svg(view))[0] == said
    assert "First side: rook a1." in texts(draw_svg(CHESS_LIKE))[0]


def test_it_is_a_picture_in_a_notebook():
    svg = draw_svg(EMPTY)
    assert svg._repr_svg_() == str(svg) and re.match(r"<svg xmlns=.*</svg>\n$", svg, re.DOTALL)


def test_what_no_side_owns_is_drawn_as_it_is_and_is_no_stone():
    view = grid.view([["+", "-"], ["K", ""]], pieces={"K": {"glyph": "K", "side": 1}})
    svg = draw_svg(view)
    assert "First side: nothing. Second side: K a2. Of no side: + a1, - b1." in texts(svg)[0]
    assert texts(svg).count("+") == 1 and svg.count('class="unowned"') == 2 and svg.count("stone side-") == 1
