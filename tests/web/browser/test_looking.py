"""Looking into a game: earlier positions, what-ifs, what an analyst thinks of a position and of all moves."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web.browser.driver import (
    EXTRA,
    beamzero,
    choices,
    get,
    moves,
    pieces,
    place,
    seat_down,
    status,
    wait_for_ply,
    wait_for_turn,
)

pytestmark = pytest.mark.external

PLAYED = ["d", "d", "c", "e"]


def open_analysis(page, analyst="extra:0"):
    page.get_by_test_id("analysis-toggle").click()
    page.get_by_test_id("analyst-select").select_option(analyst)


def wait_for_values(page, count):
    expect(page.locator("#analysis-rows tr")).to_have_count(count, timeout=60_000)


def percent(value):
    """As the page rounds: halves go up."""
    return f"{int(50 * (value + 1) + 0.5)}%"


def table_of_values(page):
    """The table as the page shows it: of each move its name and its value."""
    return page.locator("#analysis-rows tr").evaluate_all(
        "(rows) => rows.map((row) => [row.cells[0].textContent, row.cells[1].textContent])"
    )


def as_shown(answer):
    """What the table has to show of an answer of ``beamzero analyse --json``."""
    return [
        [one["move"], percent(one["value"]) + ("!" if one["proven"] else "") + in_plies(one)] for one in answer["moves"]
    ]


def in_plies(one):
    return f" in {one['plies']}" if one["proven"] and one["plies"] is not None else ""


@pytest.mark.parametrize("played", [[], ["d", "d", "c", "d"]], ids=["start", "forced"])
def test_the_table_of_values_is_what_the_command_says(page, played):
    seat_down(page, "connect_four", "human", "human", moves=played)
    open_analysis(page)
    wait_for_values(page, 7)
    answer = beamzero("analyse", "connect_four", EXTRA, *(["--moves", ",".join(played)] if played else []))
    assert table_of_values(page) == as_shown(answer)
    expect(page.get_by_test_id("line")).to_contain_text("Expected: " + " ".join(answer["line"]))
    best = page.locator("#analysis-rows tr.best")
    expect(best).to_have_count(1)
    expect(best.get_by_role("button")).to_have_text(answer["best"])
    first = answer["value"] if len(played) % 2 == 0 else -answer["value"]
    expect(page.get_by_test_id("winbar")).to_have_attribute("aria-valuenow", percent(first).removesuffix("%"))


def test_the_analysis_follows_the_shown_position(page):
    seat_down(page, "connect_four", "human", "human", moves=PLAYED)
    open_analysis(page)
    wait_for_values(page, 7)
    page.get_by_test_id("back").click()
    wait_for_ply(page, 3)
    wait_for_values(page, 7)
    answer = beamzero("analyse", "connect_four", EXTRA, "--moves", ",".join(PLAYED[:3]))
    expect(page.get_by_test_id("line")).to_contain_text("Expected: " + " ".join(answer["line"]))
    assert table_of_values(page) == as_shown(answer)
    # Values stand on the board too, one for each column; the line is drawn while it is pointed at.
    expect(page.locator(".layer-notes .badge")).to_have_count(7)
    page.get_by_test_id("line").hover()
    expect(page.locator(".layer-notes .step")).to_have_count(min(8, len(answer["line"])))
    page.get_by_test_id("status").hover()
    expect(page.locator(".layer-notes .badge")).to_have_count(7)
    other = next(one["move"] for one in answer["moves"] if one["move"] != PLAYED[3])
    page.get_by_role("button", name=f"Try {other}", exact=True).click()
    wait_for_ply(page, 4)
    expect(page.get_by_test_id("whatif")).to_contain_text(f"after 3 moves, {other}")


def test_steps_back_and_forth_show_every_position(page):
    seat_down(page, "connect_four", "human", "human")
    shown = [pieces(page)]
    for ply, move in enumerate(PLAYED):
        place(page, 5, "abcdefg".index(move)).click()
        wait_for_turn(page, after=ply)
        shown.append(pieces(page))
    for button, ply in [("back", 3), ("back", 2), ("first", 0), ("forward", 1), ("last", 4)]:
        page.get_by_test_id(button).click()
        wait_for_ply(page, ply)
        assert pieces(page) == shown[ply]
    for key, ply in [("ArrowLeft", 3), ("Home", 0), ("ArrowRight", 1), ("End", 4)]:
        page.keyboard.press(key)
        wait_for_ply(page, ply)
        assert pieces(page) == shown[ply]
    page.get_by_test_id("moves").get_by_role("button").nth(1).click()
    wait_for_ply(page, 2)
    assert pieces(page) == shown[2]
    expect(status(page)).to_have_text("Position after 2 of 4 moves.")


def test_a_what_if_is_tried_left_and_played_on_from(page, visitor):
    id = seat_down(page, "connect_four", "human", "random", moves=PLAYED)
    before = pieces(page)
    page.get_by_test_id("back").click()
    wait_for_ply(page, 3)
    place(page, 0, 0).click()
    wait_for_ply(page, 4)
    expect(page.get_by_test_id("whatif")).to_contain_text("after 3 moves, a")
    place(page, 0, 1).click()
    wait_for_ply(page, 5)
    expect(page.get_by_test_id("whatif")).to_contain_text("after 3 moves, a b")
    page.get_by_test_id("whatif-back").click()
    wait_for_ply(page, 4)
    assert pieces(page) == before and moves(page) == PLAYED and visitor.moves_sent == []
    expect(page.get_by_test_id("whatif")).to_be_hidden()
    # From the game's own last position moves are tried once one says so; and then the game goes on from there.
    page.get_by_test_id("try").click()
    place(page, 0, 0).click()
    wait_for_ply(page, 5)
    place(page, 0, 1).click()
    wait_for_ply(page, 6)
    page.get_by_test_id("play-on").click()
    page.wait_for_url(lambda url: id not in url)
    wait_for_turn(page)
    assert moves(page) == [*PLAYED, "a", "b"] and visitor.moves_sent == []
    place(page, 0, 6).click()
    wait_for_turn(page, after=6)
    assert moves(page)[6] == "g"
    counts = {table["id"]: table["moves"] for table in get(page, "/api/tables")["tables"]}
    assert counts[id] == 4 and len(counts) == 2


def test_moves_of_the_game_do_not_disturb_who_looks_elsewhere(page, visitor):
    id = seat_down(page, "connect_four", "human", "human", moves=PLAYED)
    page.get_by_test_id("first").click()
    wait_for_ply(page, 0)
    other = visitor.open(f"/#t={id}")
    wait_for_turn(other)
    place(other, 0, 0).click()
    expect(page.locator("#moves li")).to_have_count(5)
    wait_for_ply(page, 0)
    expect(status(page)).to_have_text("Position after 0 of 5 moves.")
    page.get_by_test_id("last").click()
    wait_for_ply(page, 5)


def test_a_review_draws_the_curve_and_marks_the_mistakes(page):
    """The first side lets the second one win at once: that move is a blunder."""
    seat_down(page, "connect_four", "human", "human", moves=["a", "d", "a", "d", "b", "d", "g", "d"])
    open_analysis(page)
    page.get_by_test_id("review").click()
    expect(page.locator("#review-state")).to_have_text(re.compile(r"First: \d+ \?, [1-9]\d* \?\?"), timeout=60_000)
    expect(page.get_by_test_id("curve")).to_be_visible()
    points = page.locator(".curve-line").get_attribute("points").split()
    assert len(points) == 9
    marked = page.get_by_test_id("moves").get_by_role("button").nth(6)
    expect(marked).to_have_text("g??")
    expect(marked).to_have_attribute("title", "better: d")
    page.get_by_test_id("curve").focus()
    page.keyboard.press("ArrowLeft")
    wait_for_ply(page, 7)
    expect(page.get_by_test_id("curve")).to_have_attribute("aria-valuenow", "7")
    assert choices(page) != []


def test_the_board_can_be_turned(page):
    seat_down(page, "chess", "human", "human")
    before = place(page, 0, 0).bounding_box()
    page.get_by_test_id("turn-board").click()
    expect(page.locator("#player-near")).to_contain_text("Black")
    after = place(page, 0, 0).bounding_box()
    assert before is not None and after is not None
    assert after["x"] > before["x"] and after["y"] < before["y"]
