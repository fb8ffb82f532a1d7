"""The page of runs: it shows what a run measured, and what it measures while someone looks."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from beamzero.storage.metrics import Metrics
from beamzero.storage.run import Run
from tests.web.browser.driver import ROOT, make_a_move, moves, wait_for_turn

pytestmark = pytest.mark.external

SMALL = {
    "games": 8, "sims": 2, "iterations": 2, "batch_size": 16, "batches": 2, "lanes": 1, "gate_games": 0,
    "rate_every": 0, "climb_every": 0,
}  # fmt: skip


def row_of_metrics(iteration, **more):
    return {
        "iteration": iteration, "total_seconds": 10.0 * iteration, "games": 64, "seconds": {"self_play": 2.0},
        "policy_loss": 2.0 / iteration, "value_loss": 1.0 / iteration,
        "rating": {"elo": 100.0 * iteration, "low": 100.0 * iteration - 40, "high": 100.0 * iteration + 40},
        **more,
    }  # fmt: skip


def crew_of(*machines, deaths=0, named=True):
    """What a log says of a worker on each machine; the first has least to do."""
    share = {
        machine: {"pieces": 3 + number, "seconds": 1.0, "busy": (number + 1) / 4, "pieces_per_second": 0.5}
        for number, machine in enumerate(machines)
    }
    by_worker = {machine: {f"worker_{number}": one} for number, (machine, one) in enumerate(share.items(), 1)}
    return {
        "alive": len(machines), "wanted": 4, "deaths": deaths, "twice": 0, "pieces": 9, "pieces_per_second": 1.5,
        "busy": 0.5, "busy_by_worker": {"least": 0.25, "median": 0.5, "most": 0.75},
        "since_start": {"pieces": 20, "deaths": 2, "twice": 1},
        "by_host": {machine: {"workers": 1, **one} for machine, one in share.items()},
        **({"by_worker": by_worker} if named else {}),
    }  # fmt: skip


def begin_run(folder):
    about = {"game": "tic_tac_toe", "algorithm": "alphazero", "recipe": "made_up", "settings": {"iterations": 10}}
    return Run.create(folder, about)


def points(page, chart):
    lines = page.get_by_test_id(chart).locator("polyline")
    return [len(line.get_attribute("points").split()) for line in lines.all()]


def test_a_run_in_training_is_shown_and_kept_up_to_date(visitor, server):
    run = begin_run(server.runs / "live")
    with run.lock(), Metrics(run.folder) as metrics:
        for iteration in (1, 2, 3):
            metrics.append(row_of_metrics(iteration))
        page = visitor.open("/runs#run=live")
        row = page.locator("[data-run=live]")
        expect(row).to_contain_text("3 of 10")
        expect(row.get_by_role("cell", name="300 260 to 340")).to_be_visible()
        expect(row.get_by_role("img", name="in training", exact=True)).to_be_visible()
        expect(page.get_by_test_id("chart-elo")).to_be_visible()
        assert points(page, "chart-elo") == [3] and points(page, "chart-loss") == [3, 3]
        assert points(page, "chart-speed") == [3]
        for other in ("chart-gate", "chart-busy", "chart-pieces", "chart-workers"):
            expect(page.get_by_test_id(other)).to_be_hidden()
        expect(page.locator("[data-workers=live]")).to_be_hidden()
        metrics.append(row_of_metrics(4))
        expect(row).to_contain_text("4 of 10")
        expect(row.get_by_role("cell", name="400 360 to 440")).to_be_visible()
        expect(page.get_by_test_id("chart-elo")).to_contain_text("live: 400")
        assert points(page, "chart-elo") == [4] and points(page, "chart-loss") == [4, 4]
    expect(row.get_by_role("img", name="not in training")).to_be_visible()
    page.get_by_test_id("axis-select").select_option("seconds")
    expect(page.get_by_test_id("chart-elo")).to_contain_text("seconds")
    page.get_by_role("checkbox", name="Show live").uncheck()
    expect(page.get_by_test_id("chart-elo")).to_be_hidden()


def test_one_plays_against_a_checkpoint_of_a_run(visitor, server):
    words = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "beamzero", "train", "tic_tac_toe", "--algo", "alphazero"]
    subprocess.run([*command, "--run", str(server.runs / "small"), *words], check=True, cwd=ROOT)
    page = visitor.open("/runs")
    expect(page.locator("[data-run=small]")).to_contain_text("2 of 2")
    page.get_by_role("combobox", name="Checkpoint of small").select_option("2")
    page.get_by_role("button", name="Play small").click()
    dialog = page.get_by_role("dialog", name="New game")
    expect(dialog.get_by_test_id("opponent-select")).to_have_value("run:small@2")
    dialog.get_by_test_id("start").click()
    wait_for_turn(page)
    expect(page.locator(".player").filter(has_text="small at 2")).to_be_visible()
    make_a_move(page, random.Random(0))
    assert len(moves(page)) == 2


def test_a_damaged_run_is_listed_and_the_page_goes_on(visitor, server):
    broken = server.runs / "broken"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    page = visitor.open("/runs")
    expect(page.locator("[data-run=broken]")).to_contain_text("it cannot be read")
    expect(page.get_by_role("button", name="Play broken")).to_be_disabled()


def cells(card):
    read = "(rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent))"
    return card.locator("tbody tr").evaluate_all(read)


def test_the_workers_of_a_run_are_shown_and_kept_up_to_date(visitor, server):
    run = begin_run(server.runs / "crew")
    with run.lock(), Metrics(run.folder) as metrics:
        metrics.append(row_of_metrics(1, crew=crew_of("node-a")))
        metrics.append(row_of_metrics(2, crew=crew_of("node-a", "<b>odd</b>", deaths=1)))
        page = visitor.open("/runs#run=crew")
        card = page.locator("[data-workers=crew]")
        expect(card).to_contain_text("Iteration 2 · 2 of 4 workers alive · 2 died so far · 1 piece done twice")
        assert cells(card) == [["1", "node-a", "25%", "3", "0.5"], ["2", "<b>odd</b>", "50%", "4", "0.5"]]
        expect(card.get_by_role("progressbar", name="Worker 2 is busy")).to_have_attribute("value", "0.5")
        assert points(page, "chart-busy") == [2] and points(page, "chart-pieces") == [2]
        assert page.get_by_test_id("chart-busy").locator("polygon").count() == 1, "from the least to the most"
        assert points(page, "chart-workers") == [2, 2]
        expect(page.get_by_test_id("chart-workers")).to_contain_text("alive: 2")
        expect(page.get_by_test_id("chart-workers")).to_contain_text("deaths: 1")
        metrics.append(row_of_metrics(3, crew=crew_of("node-a", "node-b", "node-c", named=False)))
        expect(card).to_contain_text("Iteration 3 · 3 of 4 workers alive")
        assert cells(card)[1] == ["node-b", "1", "50%", "4", "0.5"], "of so many workers their machines are shown"
        assert points(page, "chart-busy") == [3]
    page.get_by_role("checkbox", name="Show crew").uncheck()
    expect(card).to_be_hidden()
