"""Boards in the terminal: every kind of view, in colours and without, turned, with the last move marked."""

from __future__ import annotations

import copy
import io
import itertools
from typing import Any

import jax
import numpy as np
import pytest
from rich.cells import cell_len
from rich.color import Color, ColorSystem
from rich.console import Console
from rich.style import Style
from rich.text import Text

from beamzero.cli.terminal.board import changed_squares, draw_board, in_colour, side_text
from beamzero.cli.terminal.palette import PALETTES, palette_of
from beamzero.games import GAMES, make_game
from beamzero.games.grid import draw
from beamzero.players.analysis import step


class Shown:
    """A game whose states are views."""

    def view(self, state: dict[str, Any], seat: int = 0) -> dict[str, Any]:
        return state

    def show(self, state: dict[str, Any], seat: int = 0) -> str:
        return f"as {seat} sees it"


def board(view: dict[str, Any], before: dict[str, Any] | None = None, seat: int = 0, colour: bool = False) -> Text:
    return draw_board(Shown(), view, before, seat, colour)  # type: ignore[arg-type]


def side(view: dict[str, Any], number: int, colour: bool = False) -> str:
    return side_text(Shown(), view, number, colour).plain  # type: ignore[arg-type]


def stones(*rows: str, **more: Any) -> dict[str, Any]:
    """A grid of stones, the top row first, as it is drawn."""
    cells = [[".XO".index(stone) for stone in row] for row in reversed(rows)]
    return {"kind": "grid", "rows": len(rows), "columns": len(rows[0]), "cells": cells, **more}


GLYPHS = dict(zip("PNBRQKpnbrqk", "♙♘♗♖♕♔♟♞♝♜♛♚", strict=True))


def chess(*rows: str, **more: Any) -> dict[str, Any]:
    """A chess board, the top row first."""
    cells = [["" if piece == "." else piece for piece in row] for row in reversed(rows)]
    pieces = {text: {"glyph": glyph, "side": int(text.islower())} for text, glyph in GLYPHS.items()}
    return {
        "kind": "grid", "rows": len(rows), "columns": len(rows[0]), "cells": cells, "pieces": pieces,
        "checkered": True, "turn": True, "sides": ["White", "Black"], **more,
    }  # fmt: skip


def sowing(first: list[int], second: list[int], stores: list[int], **more: Any) -> dict[str, Any]:
    return {"kind": "sowing", "houses": [first, second], "stores": stores, "marked": [], **more}


def widths(text: Text) -> list[int]:
    return [cell_len(line) for line in text.plain.splitlines()]


def spans(text: Text) -> list[tuple[str, Style]]:
    """The pieces of a drawing, each with its style."""
    console = Console(file=io.StringIO(), color_system="truecolor", force_terminal=True, width=200)
    return [(segment.text, segment.style or Style()) for segment in text.render(console)]


# --- stones ----------------------------------------------------------------------------------------------------------


def test_stones_are_letters_with_coordinates_and_the_one_that_was_put_in_brackets():
    before, after = stones("...", ".X.", "..."), stones("..O", ".X.", "...")
    assert board(after, before).plain == " 3  ·  · [O]\n 2  ·  X  ·\n 1  ·  ·  ·\n    a  b  c"
    assert board(after).plain == " 3  ·  ·  O\n 2  ·  X  ·\n 1  ·  ·  ·\n    a  b  c"


def test_only_the_stone_that_was_put_is_marked_where_others_turn_or_are_taken():
    before = stones("XOO.", "....")
    assert changed_squares(before, stones("XXXX", "....")) == {(1, 3)}
    assert changed_squares(stones("OX", "X."), stones(".X", "XX")) == {(0, 1)}


def test_both_ends_of_a_move_are_marked_where_stones_move():
    assert changed_squares(stones("O..", "X.."), stones("OX.", "...")) == {(0, 0), (1, 1)}
    assert changed_squares(stones(".O.", "X.."), stones(".X.", "...")) == {(0, 0), (1, 1)}


def test_sides_go_by_their_stones_unless_players_have_names_for_them():
    assert [side(stones("X"), number) for number in (0, 1)] == ["X", "O"]
    assert [side(stones("X"), number, colour=True) for number in (0, 1)] == [" X ", " O "]
    named = stones("X", sides=["Black", "White"])
    assert [side(named, number) for number in (0, 1)] == ["Black (X)", "White (O)"]
    assert [side(named, number, colour=True) for number in (0, 1)] == [" ●  Black", " ●  White"]
    assert side_text(Shown(), named, 0, colour=False, brief=True).plain == "Black"


def test_stones_are_discs_in_the_colours_they_are_named_after():
    view = stones("XO", sides=["Black", "White"], look="felt")
    drawn = [style for text, style in spans(board(view, colour=True)) if text == " ● "]
    assert [style.color.get_truecolor().hex for style in drawn] == ["#000000", "#ffffff"]
    swapped = stones("XO", sides=["White", "Black"], look="felt")
    drawn = [style for text, style in spans(board(swapped, colour=True)) if text == " ● "]
    assert [style.color.get_truecolor().hex for style in drawn] == ["#ffffff", "#000000"]


def test_stones_never_turn_round_without_being_told_to():
    view = stones("X..", "...")
    assert board(view, seat=1).plain == board(view, seat=0).plain
    turned = stones("X..", "...", turn=True)
    assert board(turned, seat=1).plain == " 1  ·  ·  ·\n 2  ·  ·  X\n    c  b  a"


def test_columns_may_have_letters_of_their_own_and_rows_two_digits():
    view = stones(*["." * 9] * 10, letters="ABCDEFGHJ")
    lines = board(view).plain.splitlines()
    assert lines[-1].split() == list("ABCDEFGHJ")
    assert lines[0].startswith(" 10  ·") and lines[-2].startswith("  1  ·")


def test_the_rows_of_a_slanted_board_stand_half_a_square_apart():
    lines = board(stones("..", "X.", "..", slanted=True)).plain.splitlines()
    assert lines == ["     3  ·   ·", "   2  X   ·", " 1  ·   ·", "    a   b"]


def test_the_first_row_may_be_at_the_top_with_the_letters_above_it():
    view = stones("..", "X.", top_first=True)
    assert board(view).plain == "    a  b\n 1  X  ·\n 2  ·  ·"
    assert board(view, colour=True).plain.splitlines()[0].split() == ["a", "b"]


def test_squares_may_have_names_in_place_of_coordinates():
    names = [["", "11"], ["9", ""]]
    assert board(stones("X.", ".O", names=names)).plain == "  9 X\n      11 O"
    marked = board(stones("X.", ".O", names=names), stones("X.", "..", names=names))
    assert marked.plain == "  9 X\n      11[O]"
    assert set(widths(board(stones("X.", ".O", names=names), colour=True))) == {1 + 2 + 2 * 5}


def test_a_note_stands_below_the_board():
    assert board(stones("X", note="X has 1")).plain.endswith("\n X has 1")
    assert board(sowing([1], [1], [0, 0], note="much")).plain.endswith("\n much")


# --- pieces ----------------------------------------------------------------------------------------------------------

START = chess("rnbqkbnr", "pppppppp", *["........"] * 4, "PPPPPPPP", "RNBQKBNR")
E4 = chess("rnbqkbnr", "pppppppp", *["........"] * 2, "....P...", "........", "PPPP.PPP", "RNBQKBNR")


def test_pieces_are_letters_where_there_are_no_colours_and_from_and_to_are_marked():
    lines = board(E4, START).plain.splitlines()
    assert lines[0] == " 8  r  n  b  q  k  b  n  r"
    assert lines[4] == " 4  ·  ·  ·  · [P] ·  ·  ·"
    assert lines[6] == " 2  P  P  P  P [·] P  P  P"
    assert lines[8] == "    a  b  c  d  e  f  g  h"


def test_the_second_side_sees_its_own_pieces_below():
    lines = board(E4, START, seat=1).plain.splitlines()
    assert lines[0] == " 1  R  N  B  K  Q  B  N  R"
    assert lines[3] == " 4  ·  ·  · [P] ·  ·  ·  ·"
    assert lines[8] == "    h  g  f  e  d  c  b  a"


def test_pieces_are_full_glyphs_in_the_colours_of_their_sides():
    drawn = {text.strip(): style for text, style in spans(board(START, colour=True)) if text.strip() in "♚♔"}
    kings = [style for text, style in spans(board(START, colour=True)) if text == " ♚ "]
    assert [style.color.get_truecolor().hex for style in kings] == ["#000000", "#ffffff"], "the black one is on top"
    assert "♔" not in drawn
    assert side(START, 0, colour=True) == " ●  White"


def test_squares_alternate_and_a1_is_dark():
    dark, light = PALETTES["wood"].grounds
    rows = [
        [style.bgcolor.get_truecolor().hex for _, style in spans(line) if style.bgcolor is not None]
        for line in board(START, colour=True).split("\n")[:8]
    ]
    assert rows[7] == [dark, light] * 4
    assert rows[6] == [light, dark] * 4


def test_every_square_is_equally_wide_in_colours():
    view = chess("♙♟".replace("♙", "P").replace("♟", "p"), "k.")
    assert set(widths(board(view, colour=True))[:2]) == {3 + 2 * 3}
    pawns = [text for text, _ in spans(board(view, colour=True)) if "♟" in text]
    assert pawns and all("♟\ufe0e" in text and cell_len(text) == 3 for text in pawns), "no pawn as an emoji"


def test_wide_glyphs_widen_every_square():
    pieces = {"A": {"glyph": "王", "side": 0}, "b": {"glyph": "x", "side": 1}}
    view = {"kind": "grid", "rows": 2, "columns": 2, "cells": [["A", ""], ["", "b"]], "pieces": pieces}
    top, *rows, bottom, letters = board(view, colour=True).plain.splitlines()
    assert {cell_len(line) for line in (top, *rows, bottom)} == {3 + 2 + 2 * 4}
    assert letters == "     a   b"


def test_a_game_s_own_use_of_upper_and_lower_case_is_kept():
    pieces = {text: {"glyph": "⛂", "side": number} for text, number in (("b", 0), ("B", 0), ("w", 1), ("W", 1))}
    view = {"kind": "grid", "rows": 1, "columns": 4, "cells": [["b", "B", "w", "W"]], "pieces": pieces}
    assert board(view).plain.splitlines()[0] == " 1  b  B  w  W"
    assert [side(view, number) for number in (0, 1)] == ["first (b B)", "second (w W)"]
    assert [side(START, number) for number in (0, 1)] == ["White (upper case)", "Black (lower case)"]


# --- sowing ----------------------------------------------------------------------------------------------------------

KALAH = sowing([4, 4, 4, 4, 4, 4], [4, 4, 4, 4, 4, 4], [0, 0], turn=True)
SOWN = sowing([4, 4, 0, 5, 5, 5], [4, 4, 4, 4, 4, 12], [1, 0], turn=True)


def test_the_second_side_s_houses_are_on_top_and_run_right_to_left():
    assert board(SOWN).plain.splitlines() == [
        " second         6    5    4    3    2    1",
        "               12    4    4    4    4    4",
        "           0                                  1",
        "                4    4    0    5    5    5",
        " first          1    2    3    4    5    6",
    ]


def test_a_side_may_see_its_own_houses_below():
    lines = board(SOWN, seat=1).plain.splitlines()
    assert lines[1].split() == ["5", "5", "5", "0", "4", "4"]
    assert lines[2].split() == ["1", "0"] and lines[3].split() == ["4", "4", "4", "4", "4", "12"]
    assert (lines[0].split()[0], lines[4].split()[0]) == ("first", "second")


def test_what_lost_stones_is_in_brackets_and_what_gained_some_has_a_plus():
    lines = board(SOWN, KALAH).plain.splitlines()
    assert lines[3] == "                4    4  [ 0]   5+   5+   5+"
    assert lines[1].split() == ["12+", "4", "4", "4", "4", "4"] and lines[2].split() == ["0", "1+"]


def test_a_house_that_is_pointed_out_is_crossed():
    view = sowing([9, 1], [0, 9], [81, 1], marked=[[1, 0]], sides=["South", "North"])
    lines = board(view).plain.splitlines()
    assert lines[0].split() == ["North", "2", "1"] and lines[1].split() == ["9", "×"]
    assert board(sowing([9, 1], [7, 9], [0, 0], marked=[[1, 0]])).plain.splitlines()[1].split() == ["9", "×", "7"]


def test_counts_of_three_digits_stay_in_line():
    view = sowing([100, 1], [5, 30], [7, 20])
    lines = board(view).plain.splitlines()
    assert lines[3].index("100") + 3 == lines[4].index("1") + 1 == lines[1].index("30") + 2
    assert len(set(widths(board(view, colour=True))[1:-1])) == 1


def test_in_colours_the_house_that_was_emptied_has_another_ground():
    backgrounds = PALETTES["wood"].marked
    marked = [text for text, style in spans(board(SOWN, KALAH, colour=True)) if _ground(style) in backgrounds]
    assert marked == ["  0 "]


def _ground(style: Style) -> str:
    return style.bgcolor.get_truecolor().hex if style.bgcolor else ""


# --- all of them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view",
    [
        {"kind": "cards", "hands": [[1], [2]]},
        {"kind": "text", "text": "x"},
        stones("." * 27),
        {"kind": "grid", "rows": 1, "columns": 1, "cells": [[7]]},
        chess("k") | {"cells": [["z"]]},
    ],
)
def test_what_cannot_be_drawn_shows_its_own_text(view):
    assert board(view, seat=1).plain == board(view, copy.deepcopy(view), seat=1, colour=True).plain == "as 1 sees it"
    assert side(view, 0) in ("first", "White")


def contrast(one: str, other: str) -> float:
    """How well two colours can be told apart, from 1 to 21."""

    def light(colour: str) -> float:
        parts = [part / 255 for part in Color.parse(colour).get_truecolor()]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)) + 0.05

    dark, bright = sorted((light(one), light(other)))
    return bright / dark


@pytest.mark.parametrize("name", PALETTES)
def test_both_sides_stand_out_from_every_ground(name):
    palette = PALETTES[name]
    for ground in (*palette.grounds, *(palette.marked or ())):
        assert all(contrast(stone, ground) >= 2.9 for stone in palette.sides)
    assert contrast(*palette.sides) >= 1.6


@pytest.mark.parametrize("look", ["felt", "wood"])
def test_marked_squares_differ_where_a_terminal_has_sixteen_colours(look):
    def nearest(colour: str) -> int | None:
        return Color.parse(colour).downgrade(ColorSystem.STANDARD).number

    grounds, marked = PALETTES[look].grounds, PALETTES[look].marked
    assert marked is not None
    assert not {nearest(colour) for colour in grounds} & {nearest(colour) for colour in marked}


def test_an_unknown_look_is_no_error():
    assert palette_of(stones(".", look="marble")) == PALETTES["blue"]


# Those that dice or cards decide are in test_dealt_boards.py.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name.startswith("chess") else ())
        for name in GAMES
        if not GAMES[name].hidden and not GAMES[name].num_chance
    ],
)
def test_every_game_of_the_package_can_be_drawn_move_by_move(name):
    game = make_game(name)
    draw = np.random.default_rng(0)
    state = game.init(jax.random.key(0))
    for _ in range(20):
        if not (legal := game.legal_actions(state)):
            break
        before, state = state, step(game, state, int(draw.choice(legal)))
        for seat, colour in itertools.product((0, 1), (False, True)):
            drawn = draw_board(game, state, before, seat, colour)
            assert drawn.plain != game.show(state, seat), "not as plain text"
            assert max(widths(drawn)) <= 80
            assert colour or ("[" in drawn.plain and all(line == line.rstrip() for line in drawn.plain.splitlines()))


def test_colours_are_left_out_where_nobody_can_see_them(monkeypatch):
    assert not in_colour(Console(file=io.StringIO()))
    assert in_colour(Console(file=io.StringIO(), force_terminal=True, color_system="truecolor"))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not in_colour(Console(file=io.StringIO(), force_terminal=True))


def test_texts_of_pieces_can_be_shown_plainly_too():
    assert draw([["R", ""], ["", "+p"]]) == "2  ·  +p\n1  R  ·\n   a  b"
    assert draw([["R", ""], ["", "k"]], turned=True) == "1  · R\n2  k ·\n   b a"
