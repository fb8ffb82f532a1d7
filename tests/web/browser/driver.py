"""The true server as a process of its own, and functions that use its page as a person does."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from beamzero.cli import main

ROOT = Path(__file__).resolve().parents[3]
FOR_COMPILERS = 60_000  # milliseconds that an answer may take where an agent is compiled first
MOST_MOVES = 400

OVER = re.compile("(wins|Draw), ")

GAMES = ["tic_tac_toe", "connect_four", "othello:size=4", "kalah", "togyzkumalak", "checkers", "chess", "backgammon"]
GAMES += ["bridge", "leduc_poker"]
EXTRA = "alphabeta:depth=5"  # of connect_four: its values do not hang on a clock; pages know it as extra:0

expect.set_options(timeout=20_000)


# --- the server ------------------------------------------------------------------------------------------------------


class Server:
    """One that runs; `address` is where. It can be killed, and started again at the same place."""

    def __init__(self, folder: Path, games: list[str], *more: str) -> None:
        self.folder, self.games, self.more = folder, games, more
        self.runs = folder / "runs"
        self.port = 0
        self.address = ""
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "beamzero", "serve", "--port", str(self.port), "--no-browser", "--no-warm"]
        command += ["--json", "--keep", str(self.folder / "games.sqlite"), "--runs", str(self.runs)]
        command += [word for game in self.games for word in ("--game", game)]
        with (self.folder / "stderr.txt").open("a") as stderr:
            self.process = subprocess.Popen(
                [*command, *self.more], stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=ROOT
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the server did not start: {self.said}"
        self.address = json.loads(line)["address"]
        self.port = int(self.address.rstrip("/").rpartition(":")[2])

    def kill(self) -> None:
        """End it as a power cut would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None

    @property
    def said(self) -> str:
        """What it wrote on stderr."""
        return (self.folder / "stderr.txt").read_text()


@contextlib.contextmanager
def serving(folder: Path, games: list[str], *more: str) -> Iterator[Server]:
    server = Server(folder, games, *more)
    server.runs.mkdir(exist_ok=True)
    try:
        server.start()
        yield server
    finally:
        server.kill()


def beamzero(*words: str) -> Any:
    """What a command prints with --json."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main([*words, "--json"]) == 0
    return json.loads(printed.getvalue())


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# --- the browser -----------------------------------------------------------------------------------------------------


class Visitor:
    """A browser of its own, with its own cookie: it notes what goes wrong in its pages and what they send."""

    def __init__(self, browser: Browser, server: Server, **options: Any) -> None:
        settings: dict[str, Any] = {"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce", **options}
        self.server = server
        self.context: BrowserContext = browser.new_context(base_url=server.address, **settings)
        self.context.set_default_timeout(20_000)
        self.problems: list[str] = []
        self.sent: list[dict[str, Any]] = []

    def open(self, path: str = "/") -> Page:
        page = self.context.new_page()
        page.on("console", lambda message: self._hear(message.type, message.text))
        page.on("pageerror", lambda error: self.problems.append(f"{error.name}: {error.message}"))
        page.on("websocket", lambda socket: socket.on("framesent", self._note))
        page.goto(path)
        return page

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.problems.append(text)

    def _note(self, frame: str | bytes) -> None:
        self.sent.append(json.loads(frame))

    @property
    def moves_sent(self) -> list[str]:
        return [message["move"] for message in self.sent if message["type"] == "move"]


def seat_down(page: Page, game: str, *seats: str, **more: Any) -> str:
    """Begin a game from the page's own origin and go to it, as the dialog does. Returns the session's id."""
    body = {"game": game, "seats": seats or ("human", "random"), **more}
    ask = """async (body) => {
      const headers = {"Content-Type": "application/json"};
      const answer = await fetch("/api/tables", {method: "POST", headers, body: JSON.stringify(body)});
      return answer.json();
    }"""
    answer = page.evaluate(ask, body)
    assert "id" in answer, answer
    page.evaluate("(id) => { location.hash = `t=${id}`; }", answer["id"])
    page.reload()  # or an earlier game may still be on the board, and be taken for this one
    wait_for_turn(page)
    return answer["id"]


def get(page: Page, path: str) -> Any:
    """What the server says to this browser."""
    return page.evaluate("async (path) => (await fetch(path)).json()", path)


# --- eyes ------------------------------------------------------------------------------------------------------------


def board(page: Page) -> Locator:
    return page.get_by_test_id("board")


def status(page: Page) -> Locator:
    return page.get_by_test_id("status")


def place(page: Page, *where: int) -> Locator:
    return page.locator(f'[data-place="{where[0]},{where[1]}"]')


def moves(page: Page) -> list[str]:
    """The list of moves, without a review's marks."""
    return page.evaluate("() => [...document.querySelectorAll('#moves button')].map((b) => b.firstChild.data)")


def pieces(page: Page) -> list[str]:
    """What every place of the board is said to hold."""
    said = "(hits) => hits.map((hit) => hit.getAttribute('aria-label'))"
    labels = page.locator("[data-place]").evaluate_all(said)
    return [re.sub(", (picked up|playable|can .*)$", "", label) for label in labels]


def is_over(page: Page) -> bool:
    return OVER.search(status(page).inner_text()) is not None


def wait_for_turn(page: Page, after: int = -1) -> None:
    """Until the board shows a position after more than `after` moves, where someone here is to move or nobody is."""
    page.wait_for_function(
        """([after, over]) => {
          const board = document.getElementById("board");
          const status = document.getElementById("status");
          const count = document.querySelectorAll("#moves li").length;
          if (Number(board.dataset.ply ?? -1) !== count || count <= after || board.dataset.busy) return false;
          const canPlay = document.querySelector(".hit.legal, #placeless button");
          return new RegExp(over).test(status.textContent) || (status.classList.contains("mine") && canPlay);
        }""",
        arg=[after, OVER.pattern],
        timeout=FOR_COMPILERS,
    )


def wait_for_ply(page: Page, ply: int) -> None:
    """Until the board shows the position after so many moves, played or tried."""
    expect(board(page)).to_have_attribute("data-ply", str(ply))
    expect(board(page)).not_to_have_attribute("data-busy", "true")


# --- hands -----------------------------------------------------------------------------------------------------------


def choices(page: Page, kind: str = ".hit.legal") -> list[str]:
    """The places that can be chosen now."""
    return page.locator(kind).evaluate_all("(hits) => hits.map((hit) => hit.dataset.place)")


def click_a_move(page: Page, by: random.Random, press: Callable[[Locator], object] = Locator.click) -> None:
    """Make any legal move: one click, two where a piece is picked up first, and one more where there is a choice."""
    starts = choices(page)
    if not starts:
        press(page.locator("#placeless button").first)
        return
    start = by.choice(starts)
    press(page.locator(f'[data-place="{start}"]'))
    if page.locator(f'[data-place="{start}"][aria-selected=true]').count():
        press(page.locator(f'[data-place="{by.choice(choices(page))}"]'))
        if page.locator("#choice[open]").count():
            press(page.locator("#choice-moves button").first)


def make_a_move(page: Page, by: random.Random, press: Callable[[Locator], object] = Locator.click) -> None:
    """Make any legal move by clicks, and wait until it is this side's turn again."""
    count = len(moves(page))
    click_a_move(page, by, press)
    wait_for_turn(page, after=count)


def play_to_the_end(page: Page, seed: int = 0, press: Callable[[Locator], object] = Locator.click) -> int:
    """Play any legal moves by clicks until the game is over; how many were made on this side of the board."""
    by, made = random.Random(seed), 0
    while not is_over(page):
        assert made < MOST_MOVES, "the game does not end"
        make_a_move(page, by, press)
        made += 1
    return made
