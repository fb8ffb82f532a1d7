"""A game session outlives pages and servers, belongs to one browser, and ends in more ways than by its rules."""

from __future__ import annotations

import random
import re

import pytest
from playwright.sync_api import expect

from tests.web.browser.driver import (
    choices,
    get,
    is_over,
    is_taken,
    make_a_move,
    moves,
    pieces,
    place,
    play_to_the_end,
    seat_down,
    serving,
    status,
    wait_for_ply,
    wait_for_turn,
)

pytestmark = pytest.mark.external

REFUSED = "ERR_CONNECTION_REFUSED"


def test_a_reload_in_mid_game_changes_nothing(page):
    seat_down(page, "connect_four", "human", "random")
    by = random.Random(0)
    for _ in range(2):
        make_a_move(page, by)
    before, played = pieces(page), moves(page)
    page.reload()
    wait_for_turn(page)
    assert (pieces(page), moves(page)) == (before, played)
    play_to_the_end(page)


def test_a_game_goes_on_when_its_server_is_killed_and_started_again(visit, tmp_path):
    """In the open page, without a reload; and what was played is still there."""
    with serving(tmp_path, ["tic_tac_toe"]) as server:
        visitor = visit(server)
        page = visitor.open()
        seat_down(page, "tic_tac_toe", "human", "random")
        make_a_move(page, random.Random(0))
        before, played = pieces(page), moves(page)
        server.kill()
        expect(page.get_by_text("The connection is lost")).to_be_visible()
        assert not is_taken(server.port)
        assert choices(page) == []
        server.start()
        expect(page.get_by_text("The connection is lost")).to_be_hidden()
        wait_for_turn(page)
        assert (pieces(page), moves(page)) == (before, played)
        play_to_the_end(page)
        assert moves(page)[: len(played)] == played
    lost = [problem for problem in visitor.problems if REFUSED in problem]  # the browser's own words for it
    assert lost == visitor.problems
    visitor.problems.clear()


def test_two_browsers_play_at_once_and_neither_opens_the_games_of_the_other(visit):
    pages = [visit().open(), visit().open()]
    ids = [seat_down(page, game) for page, game in zip(pages, ["tic_tac_toe", "connect_four"], strict=True)]
    by = random.Random(0)
    for _ in range(2):
        for page in pages:
            make_a_move(page, by)
    for page, own, other in zip(pages, ids, reversed(ids), strict=True):
        assert [table["id"] for table in get(page, "/api/tables")["tables"]] == [own]
        played = moves(page)
        page.evaluate("(id) => { location.hash = `t=${id}`; }", other)
        expect(page.get_by_text("you have no such game")).to_be_visible()
        expect(page.locator("#session")).to_be_hidden()
        page.evaluate("(id) => { location.hash = `t=${id}`; }", own)
        wait_for_turn(page)
        assert moves(page) == played and page.get_by_text("you have no such game").is_hidden()


def test_the_same_game_in_two_windows_stays_the_same(visitor):
    page = visitor.open()
    id = seat_down(page, "tic_tac_toe", "human", "human")
    other = visitor.open(f"/#t={id}")
    wait_for_turn(other)
    place(page, 1, 1).click()
    wait_for_turn(other, after=0)
    place(other, 0, 0).click()
    wait_for_turn(page, after=1)
    assert moves(page) == moves(other) == ["b2", "a1"] and pieces(page) == pieces(other)


def test_undo_takes_back_ones_own_last_move_and_the_answer(page):
    seat_down(page, "connect_four", "human", "random")
    start = pieces(page)
    make_a_move(page, random.Random(0))
    page.get_by_test_id("undo").click()
    expect(page.locator("#moves li")).to_have_count(0)
    wait_for_turn(page)
    assert pieces(page) == start
    expect(page.get_by_test_id("undo")).to_be_disabled()


def test_after_a_swap_the_agent_has_the_other_side(page):
    seat_down(page, "tic_tac_toe", "human", "random")
    expect(status(page)).to_contain_text("Your turn: First")
    page.get_by_test_id("swap").click()
    wait_for_turn(page, after=0)
    expect(status(page)).to_contain_text("Your turn: Second")
    expect(page.locator(".player").filter(has_text="Random")).to_contain_text("First")


def test_a_resignation_is_asked_about_and_ends_the_game(page):
    seat_down(page, "connect_four", "human", "random")
    make_a_move(page, random.Random(0))
    page.get_by_test_id("resign").click()
    page.get_by_role("button", name="Play on", exact=True).click()
    expect(page.get_by_test_id("resign-confirm")).to_be_hidden()
    assert not is_over(page)
    page.get_by_test_id("resign").click()
    page.get_by_test_id("resign-confirm").click()
    expect(status(page)).to_have_text("Random (Second) wins, 0-1: First resigned.")
    expect(page.get_by_test_id("resign")).to_be_disabled()
    page.locator(".hit.legal").first.click()  # by the rules it could go on, and so it can be tried
    expect(page.get_by_test_id("whatif")).to_be_visible()
    expect(status(page)).to_have_text("What if: only tried.")


def test_who_runs_out_of_time_has_lost(page):
    page.get_by_test_id("new-game").click()
    page.get_by_test_id("game-select").select_option("tic_tac_toe")
    page.get_by_test_id("mode-select").select_option("people")
    page.get_by_test_id("clock-check").check()
    page.get_by_test_id("minutes").fill("0.1")
    page.get_by_test_id("increment").fill("0")
    page.get_by_test_id("start").click()
    wait_for_turn(page)
    expect(page.get_by_test_id("clock-0")).to_have_text("6.0")
    place(page, 1, 1).click()
    wait_for_turn(page, after=0)
    place(page, 0, 0).click()
    wait_for_turn(page, after=1)
    expect(page.get_by_test_id("clock-0")).not_to_have_text("6.0")
    expect(status(page)).to_have_text("Human (Second) wins, 0-1: First ran out of time.")
    expect(page.get_by_test_id("clock-0")).to_have_text("0.0")
    expect(page.get_by_test_id("clock-1")).to_have_text("6.0")


def test_two_agents_play_by_themselves_until_they_are_paused(page):
    page.get_by_test_id("new-game").click()
    page.get_by_test_id("game-select").select_option("tic_tac_toe")
    page.get_by_test_id("mode-select").select_option("watch")
    page.get_by_test_id("agent-0-select").select_option("random")
    page.get_by_test_id("agent-1-select").select_option("lookahead:1")
    page.get_by_test_id("start").click()
    expect(page.locator("#moves li")).not_to_have_count(0, timeout=60_000)
    page.get_by_test_id("pause").click()
    expect(status(page)).to_have_text("Paused.")
    count = len(moves(page))
    page.wait_for_timeout(1600)  # twice as long as agents take for a move: there is nothing to wait for
    assert len(moves(page)) == count
    page.get_by_test_id("pause").click()
    expect(status(page)).to_have_text(re.compile("(wins|Draw), "), timeout=30_000)
    assert len(moves(page)) > count
    expect(page.get_by_test_id("pause")).to_be_hidden()


@pytest.mark.parametrize("kind", ["jsonl", "txt", "pgn"])
def test_a_record_that_was_downloaded_gives_the_same_game_when_it_is_loaded(page, tmp_path, kind):
    game, played = ("chess", ["e4", "e5", "Nf3"]) if kind == "pgn" else ("kalah", ["3", "6", "1"])
    seat_down(page, game, "human", "human", moves=played)
    with page.expect_download() as download:
        page.get_by_test_id(f"record-{kind}").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    before, first = pieces(page), page.url
    page.get_by_test_id("new-game").click()
    page.get_by_test_id("mode-select").select_option("people")
    page.get_by_test_id("record-open").click()
    page.get_by_test_id("record-file").set_input_files(file)
    expect(page.get_by_test_id("record-text")).not_to_have_value("")
    page.get_by_test_id("start").click()
    page.wait_for_url(lambda url: url != first)
    wait_for_ply(page, len(played))
    assert moves(page) == played and pieces(page) == before


def test_what_is_no_record_is_said_in_the_dialog(page, visitor):
    page.get_by_test_id("new-game").click()
    page.get_by_test_id("record-open").click()
    page.get_by_test_id("record-text").fill("not a game")
    page.get_by_test_id("start").click()
    expect(page.get_by_role("dialog", name="New game").get_by_role("alert")).to_contain_text(re.compile("not|no "))
    assert all("400" in problem for problem in visitor.problems)  # the browser's own words for the answer
    visitor.problems.clear()


def test_earlier_games_are_listed_opened_and_deleted(page):
    ids = [seat_down(page, game, moves=[]) for game in ("tic_tac_toe", "kalah")]
    expect(page.get_by_test_id("games").get_by_role("listitem")).to_have_count(2)
    page.get_by_test_id("games").get_by_role("link", name="Tic Tac Toe").click()
    page.wait_for_url(re.compile(ids[0]))
    wait_for_turn(page)
    expect(page.get_by_role("heading", name="Tic Tac Toe")).to_be_visible()
    page.get_by_role("button", name="Delete Kalah").click()
    expect(page.get_by_test_id("games").get_by_role("listitem")).to_have_count(1)
    page.get_by_role("button", name="Delete Tic Tac Toe").click()
    expect(page.get_by_role("heading", name="Choose a game")).to_be_visible()
    assert get(page, "/api/tables")["tables"] == []
