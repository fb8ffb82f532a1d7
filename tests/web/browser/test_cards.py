"""The card table and poker by mouse and keyboard, and that no hidden card ever reaches the page."""

from __future__ import annotations

import json
import random

import pytest
from playwright.sync_api import expect

from tests.web.browser.driver import (
    choices,
    get,
    make_a_move,
    moves,
    place,
    play_to_the_end,
    seat_down,
    status,
    wait_for_ply,
    wait_for_turn,
)

pytestmark = pytest.mark.external

ENDING = "N:K2.3.. AQ.2.. 54..A. ..K.A2 3NT S won=6-4 lead=W"
HANDS = {"E": ["SA", "SQ", "H2"], "W": ["DK", "CA", "C2"]}


def listen(page):
    """All that the page hears from now on."""
    heard = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: heard.append(frame)))
    return heard


def test_an_ending_of_bridge_is_played_by_clicks_and_its_hidden_cards_stay_on_the_server(page, visitor):
    heard = listen(page)
    seat_down(page, "bridge", "human", "random", position=ENDING)
    assert page.locator(".playing-card.down").count() == 5
    assert page.locator(".card-label.to-play").text_content() == "North (dummy)"
    for name in ("undo", "swap", "try", "review"):
        expect(page.get_by_test_id(name)).to_be_disabled()
    made = 0
    while len(moves(page)) < 12:
        unseen = {card for hand in HANDS.values() for card in hand} - set(moves(page))
        lines = [line for line in heard if not json.loads(line).get("over")]
        assert lines
        assert not any(f'"{card}"' in lines[-1] for card in unseen)
        assert not any(f'"{card}"' in page.content() for card in unseen)
        make_a_move(page, random.Random(made))
        made += 1
    assert made == len(visitor.moves_sent) == 6
    assert "3NT" in status(page).inner_text(), "it says what became of the contract"
    expect(page.get_by_test_id("record-jsonl")).to_be_visible()
    page.get_by_test_id("first").click()
    wait_for_ply(page, 0)
    expect(page.locator(".playing-card.down")).to_have_count(0)
    assert sorted(json.loads(heard[-1])["now"]["view"]["hands"]["E"]) == sorted(HANDS["E"]), "now they may be seen"


@pytest.mark.parametrize("side", ["0", "1"])
def test_a_whole_deal_is_played_by_clicks_from_either_side(page, visitor, side):
    page.get_by_test_id("new-game").click()
    page.get_by_test_id("game-select").select_option("bridge")
    assert page.get_by_test_id("mode-select").locator("option[value=people]").is_disabled()
    page.get_by_test_id("opponent-select").select_option("random")
    page.get_by_test_id("side-select").select_option(side)
    page.get_by_test_id("start").click()
    wait_for_turn(page)
    assert choices(page)
    assert page.locator("#player-near .player-name").inner_text() == "Human"
    play_to_the_end(page)
    assert len(moves(page)) == 52 and len(visitor.moves_sent) == 26
    assert get(page, "/api/tables")["tables"][0]["over"]


def test_cards_are_walked_over_and_played_with_keys(page, visitor):
    seat_down(page, "bridge", "human", "random", position=ENDING)
    place(page, 0, 11).focus()  # the king of spades, the first card of dummy
    page.keyboard.press("ArrowRight")
    assert page.locator("*:focus").get_attribute("aria-label").startswith("2 of spades, North")
    page.keyboard.press("Enter")
    wait_for_turn(page, after=1)
    assert visitor.moves_sent[0] == "S2" and moves(page)[1] == "S2"


def test_poker_is_played_by_buttons_and_the_other_card_lies_face_down(page, visitor):
    heard = listen(page)
    seat_down(page, "leduc_poker", "random", "human", position="KJQ c")
    assert page.locator(".playing-card.down").count() == 2
    view = json.loads(heard[-1])["now"]["view"]
    assert view["cards"] == [None, "J"] and view["public"] == [None]
    page.get_by_test_id("move-check").click()
    wait_for_turn(page, after=1)
    assert page.locator(".playing-card.down").count() == 1, "the public card lies open, the other one does not"
    play_to_the_end(page)
    assert "chip" in status(page).inner_text()
