"""For everyone: no serious finding of axe on any page in light and dark, and little to load."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from beamzero.storage.metrics import Metrics
from tests.web.browser.driver import place, seat_down
from tests.web.browser.test_looking import open_analysis, wait_for_values
from tests.web.browser.test_runs import begin_run, crew_of, row_of_metrics

pytestmark = pytest.mark.external

MOST_BYTES = 300_000


def start_page(page, server):
    expect(page.get_by_role("heading", name="Choose a game")).to_be_visible()


def new_game_dialog(page, server):
    page.get_by_test_id("new-game").click()
    page.get_by_test_id("clock-check").check()
    page.get_by_test_id("record-open").click()


def game_with_analysis(page, server):
    seat_down(page, "connect_four", "human", "human", moves=["d", "d", "c"])
    open_analysis(page)
    wait_for_values(page, 7)
    page.get_by_test_id("review").click()
    expect(page.locator("#review-state")).to_contain_text("Second:")
    wait_for_values(page, 7)
    place(page, 0, 0).hover()


def what_if(page, server):
    seat_down(page, "chess", "human", "human", moves=["e4", "e5"], clock={"minutes": 5, "increment": 3})
    page.get_by_test_id("try").click()
    place(page, 0, 6).click()
    place(page, 2, 5).click()
    expect(page.get_by_test_id("whatif")).to_be_visible()
    place(page, 6, 0).click()


def resigned(page, server):
    seat_down(page, "checkers", "human", "human")
    page.get_by_test_id("resign").click()


def sowing_board(page, server):
    seat_down(page, "kalah", "human", "human", moves=["3"])


def runs_page(page, server):
    if not (server.runs / "axe").exists():
        with Metrics(begin_run(server.runs / "axe").folder) as metrics:
            for iteration in (1, 2):
                metrics.append(row_of_metrics(iteration, crew=crew_of("node-a", "node-b")))
    page.goto("/runs#run=axe")
    expect(page.get_by_test_id("chart-elo")).to_be_visible()
    expect(page.locator("[data-workers=axe]")).to_be_visible()


VIEWS = [start_page, new_game_dialog, game_with_analysis, what_if, resigned, sowing_board, runs_page]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_axe_finds_nothing_serious_in_light_and_in_dark(visit, server, view):
    page = visit(color_scheme="light").open()
    view(page, server)
    assert serious_findings(page) == []
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert serious_findings(page) == []


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_every_view_fits_a_phone(visit, server, view):
    page = visit(viewport={"width": 360, "height": 740}).open()
    view(page, server)
    width = "() => document.documentElement.scrollWidth"
    assert page.evaluate(width) <= 360


def serious_findings(page):
    found = Axe().run(page).response["violations"]
    return [
        (one["id"], node["html"], node["failureSummary"])
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def test_the_button_for_the_theme_is_remembered(page):
    page.get_by_test_id("theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/runs")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize(("path", "made_last"), [("/", "#new-game:enabled"), ("/runs", "[data-testid=chart-elo]")])
def test_the_first_load_is_small_and_all_from_the_server_itself(visitor, server, path, made_last):
    sizes = {}
    visitor.context.on("requestfinished", lambda request: sizes.update({request.url: weight(request)}))
    page = visitor.open("about:blank")
    page.goto(path)
    expect(page.locator(made_last)).to_be_attached()  # by a script, when all of them are there
    page.wait_for_load_state("networkidle")
    assert all(url.startswith(server.address) for url in sizes)
    assert len(sizes) > 5 and 20_000 < sum(sizes.values()) < MOST_BYTES, sizes


def weight(request):
    size = request.sizes()
    return size["responseBodySize"] + size["responseHeadersSize"]


def test_nobody_is_moved_about_who_asked_for_calm(page):
    """With reduced motion nothing on the board is animated."""
    seat_down(page, "connect_four", "human", "human")
    place(page, 0, 0).click()
    expect(page.locator("#moves li")).to_have_count(1)
    assert page.evaluate("() => document.getAnimations().length") == 0
