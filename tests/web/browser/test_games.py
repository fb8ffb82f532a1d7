"""Whole games by mouse, finger and keyboard, on every kind of board."""

from __future__ import annotations

import random
import re

import pytest
from playwright.sync_api import Locator, expect

from tests.web.browser.driver import (
    board,
    choices,
    get,
    is_over,
    make_a_move,
    moves,
    pieces,
    place,
    play_to_the_end,
    seat_down,
    status,
    wait_for_ply,
    wait_for_turn,
)

pytestmark = pytest.mark.external


def start_by_dialog(page, game, opponent="random", side="0"):
    page.get_by_test_id("new-game").click()
    page.get_by_test_id("game-select").select_option(game)
    page.get_by_test_id("opponent-select").select_option(opponent)
    page.get_by_test_id("side-select").select_option(side)
    page.get_by_test_id("start").click()
    wait_for_turn(page)


FAMILIES = {
    "placement": ("othello:size=4", "0"),
    "gravity": ("connect_four", "0"),
    "from_to": ("checkers", "1"),
    "sowing": ("kalah", "0"),
    "sowing_from_the_other_side": ("togyzkumalak", "1"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_whole_game_is_played_by_clicks(page, visitor, family):
    game, side = FAMILIES[family]
    start_by_dialog(page, game, side=side)
    made = play_to_the_end(page)
    (table,) = get(page, "/api/tables")["tables"]
    assert table["over"] and table["result"] in status(page).inner_text()
    assert table["moves"] == len(moves(page)) > made == len(visitor.moves_sent) > 0
    assert choices(page) == []


FEW_CHECKERS = "XGID=--AA-B---------b-a---a----:0:0:1:31"


@pytest.mark.parametrize("turn", ["1", "-1"])
def test_backgammon_is_played_by_clicks_to_the_end_from_either_side(page, visitor, turn):
    seats = ("human", "random") if turn == "1" else ("random", "human")
    seat_down(page, "backgammon", *seats, position=FEW_CHECKERS.replace(":1:31", f":{turn}:31"))
    wait_for_turn(page)
    expect(page.locator(".die")).to_have_count(2)
    made = play_to_the_end(page)
    (table,) = get(page, "/api/tables")["tables"]
    assert table["over"] and table["result"] in status(page).inner_text()
    assert table["moves"] == len(moves(page)) > made == len(visitor.moves_sent) > 0
    assert any(re.fullmatch(r".*:[1-6]-[1-6]", move) for move in moves(page)), "what was rolled stands behind the moves"


def test_two_people_play_a_game_with_promotion_from_a_position(page):
    page.get_by_test_id("new-game").click()
    page.get_by_test_id("game-select").select_option("chess")
    page.get_by_test_id("mode-select").select_option("people")
    page.get_by_test_id("record-open").click()
    page.get_by_test_id("position-text").fill("7k/P7/8/8/8/8/8/K7 w - - 0 1")
    page.get_by_test_id("start").click()
    wait_for_turn(page)
    place(page, 6, 0).click()
    place(page, 7, 0).click()
    dialog = page.get_by_role("dialog", name="Which move?")
    names = dialog.get_by_test_id("choice").get_by_role("button").all_inner_texts()
    assert len(names) > 1 and len(set(names)) == len(names)
    dialog.get_by_role("button", name="Cancel").click()
    assert moves(page) == []
    place(page, 6, 0).click()
    place(page, 7, 0).click()
    dialog.get_by_role("button", name="=Q").click()
    wait_for_turn(page, after=0)
    assert [name for name in names if "=Q" in name] == moves(page)
    expect(place(page, 7, 0)).to_have_attribute("aria-label", "a8, white queen")


def test_a_piece_can_be_dragged(page):
    seat_down(page, "chess", "human", "human")
    place(page, 1, 4).drag_to(place(page, 3, 4))
    wait_for_turn(page, after=0)
    assert moves(page) == ["e4"]
    place(page, 6, 0).drag_to(place(page, 2, 0))
    assert "a7, black pawn" in pieces(page) and moves(page) == ["e4"]


PLAYED = {"tic_tac_toe": ["b2", "a1"], "connect_four": list("dddddd"), "checkers": [], "kalah": ["3"]}


@pytest.mark.parametrize("game", PLAYED)
def test_an_illegal_click_changes_nothing(page, visitor, game):
    seat_down(page, game, "human", "random", moves=PLAYED[game])
    before, legal = pieces(page), choices(page)
    illegal = [where for where in choices(page, "[data-place]") if where not in legal]
    assert legal and illegal
    for where in illegal[:6]:
        page.locator(f'[data-place="{where}"]').click()
    if game == "checkers":  # a piece that is picked up, and put where it cannot go
        page.locator(f'[data-place="{legal[0]}"]').click()
        page.locator(f'[data-place="{illegal[0]}"]').click()
    assert pieces(page) == before and choices(page) == legal
    assert visitor.sent == []


def test_while_the_agent_thinks_clicks_do_nothing(page, visitor):
    seat_down(page, "connect_four", "human", "alphabeta:seconds=2")
    place(page, 0, 3).click()
    page.wait_for_function("() => document.getElementById('status').textContent.includes('thinking')")
    place(page, 0, 0).click()
    wait_for_turn(page, after=1)
    assert visitor.moves_sent == ["d"] and len(moves(page)) == 2


def test_movements_end_where_the_game_stands(visit):
    """With animations on: what is sown and what falls lies where the server says that it does."""
    page = visit(reduced_motion="no-preference").open()
    for game in ("kalah", "connect_four"):
        seat_down(page, game, "human", "random")
        by = random.Random(3)
        for _ in range(2):
            make_a_move(page, by)
        moved = pieces(page)
        page.reload()
        wait_for_turn(page)
        assert pieces(page) == moved


@pytest.mark.parametrize("game", ["connect_four", "kalah"])
def test_a_phone_shows_and_plays_a_game_without_scrolling_sideways(visit, game):
    page = visit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True).open()

    def assert_fits():
        width = page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= 360, f"the page is {width} pixels wide"

    assert_fits()
    page.get_by_test_id("new-game").tap()
    assert_fits()
    page.get_by_test_id("game-select").select_option(game)
    page.get_by_test_id("opponent-select").select_option("random")
    page.get_by_test_id("start").tap()
    wait_for_turn(page)
    box = board(page).bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 360 and box["y"] + box["height"] <= 740
    page.get_by_test_id("analysis-toggle").tap()
    page.get_by_test_id("analyst-select").select_option("lookahead:1")
    expect(page.locator("#analysis-rows tr").first).to_be_visible()
    assert_fits()
    page.get_by_test_id("analysis-toggle").tap()
    play_to_the_end(page, press=Locator.tap)
    assert_fits()
    page.goto("/runs")
    assert_fits()


def focus_by_tab(page, wanted, most=60):
    """Press Tab until the element that `wanted` matches has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", wanted):
            return
    raise AssertionError(f"Tab does not reach {wanted}")


def choose_by_keys(page, select, value):
    focus_by_tab(page, select)
    for _ in range(20):
        if page.locator(select).input_value() == value:
            return
        page.keyboard.press("ArrowDown" if page.locator(select).evaluate("(s) => s.selectedIndex") < 1 else "ArrowUp")
    assert page.locator(select).input_value() == value


def walk_to(page, row, column):
    """Walk over the board with arrow keys from the place that has the focus."""
    at_row, at_column = map(int, page.evaluate("() => document.activeElement.dataset.place").split(","))
    for key, steps in {
        "ArrowUp": row - at_row, "ArrowDown": at_row - row,
        "ArrowRight": column - at_column, "ArrowLeft": at_column - column,
    }.items():  # fmt: skip
        for _ in range(steps):
            page.keyboard.press(key)
    assert page.evaluate("() => document.activeElement.dataset.place") == f"{row},{column}"


def test_the_keyboard_alone_starts_and_plays_a_whole_game(page):
    focus_by_tab(page, "#gallery [data-game=tic_tac_toe]")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="New game")).to_be_visible()
    choose_by_keys(page, "#opponent", "random")
    focus_by_tab(page, "#start")
    page.keyboard.press("Enter")
    wait_for_turn(page)
    focus_by_tab(page, "[data-place]")
    by = random.Random(0)
    while not is_over(page):
        count = len(moves(page))
        walk_to(page, *map(int, by.choice(choices(page)).split(",")))
        page.keyboard.press(by.choice(["Enter", "Space"]))
        wait_for_turn(page, after=count)
    # and afterwards back and forth
    focus_by_tab(page, "#back")
    page.keyboard.press("Enter")
    wait_for_ply(page, len(moves(page)) - 1)
    page.keyboard.press("End")
    wait_for_ply(page, len(moves(page)))
