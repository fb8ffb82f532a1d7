"""Pictures of the page for the documents: a server, a browser, a few games and a run.

    python benchmarks/screenshots.py [--only NAME...] [--runs FOLDER]

Writes docs/screenshots/NAME.png. Needs chromium and the package playwright. Without --runs a run of tic-tac-toe is
trained first, which takes a minute. Run from the root of the checkout; nothing of it needs to be installed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "screenshots"
MOST_BYTES = 200_000
LONG = 120_000  # milliseconds: agents are compiled first
GAMES = ["connect_four", "chess", "kalah", "othello", "togyzkumalak", "tic_tac_toe", "backgammon", "bridge"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PICTURES, default=list(PICTURES))
    parser.add_argument("--runs", type=Path, help="a folder of runs to show")
    arguments = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        runs = arguments.runs or Path(folder) / "runs"
        if arguments.runs is None and "runs" in arguments.only:
            train(runs / "tic_tac_toe")
        with serving(Path(folder), runs) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name in arguments.only:
                take(browser, address, name)
            browser.close()


def train(folder: Path) -> None:
    command = ["train", "tic_tac_toe", "--algo", "alphazero", "--set", "rate_every=5", "--run", str(folder)]
    subprocess.run([sys.executable, "-m", "beamzero", *command], check=True, cwd=ROOT)


@contextlib.contextmanager
def serving(folder: Path, runs: Path) -> Iterator[str]:
    """Run a server for as long as the block lasts. Yields its address."""
    command = [sys.executable, "-m", "beamzero", "serve", "--port", "0", "--no-browser", "--no-warm", "--json"]
    command += ["--keep", str(folder / "games.sqlite"), "--runs", str(runs)]
    command += [word for game in GAMES for word in ("--game", game)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["address"]
    finally:
        process.terminate()
        process.wait()


def take(browser: Browser, address: str, name: str) -> None:
    """Take one picture, in a browser of its own."""
    draw, options = PICTURES[name]
    settings: dict[str, Any] = {"viewport": {"width": 1200, "height": 800}, "reduced_motion": "reduce", **options}
    context = browser.new_context(base_url=address, **settings)
    page = context.new_page()
    page.set_default_timeout(LONG)
    page.goto("/")
    draw(page)
    page.mouse.move(2, 2)
    page.evaluate("() => scrollTo(0, 0)")
    page.evaluate("() => document.activeElement.blur()")
    page.wait_for_function("() => scrollY === 0")
    picture = small(page.screenshot())
    (FOLDER / f"{name}.png").write_bytes(picture)
    print(f"{name}.png  {len(picture) / 1000:.0f} kB")
    context.close()


def small(picture: bytes) -> bytes:
    """Reduce the colours of a picture that is too large."""
    if len(picture) <= MOST_BYTES:
        return picture
    file = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(256).save(file, "PNG", optimize=True)
    return file.getvalue()


# --- what is shown ---------------------------------------------------------------------------------------------------


def sit_down(page: Page, game: str, seats: list[str], moves: str, **more: Any) -> None:
    """Begin a game after some moves, and wait until it is a person's turn."""
    ask = """async (body) => {
      const headers = {"Content-Type": "application/json"};
      const answer = await fetch("/api/tables", {method: "POST", headers, body: JSON.stringify(body)});
      const {id, error} = await answer.json();
      if (error) throw new Error(error);
      location.hash = `t=${id}`;
    }"""
    page.evaluate(ask, {"game": game, "seats": seats, "moves": moves.split(), **more})
    page.wait_for_function("() => document.querySelector('#status.mine') && document.querySelector('.hit.legal')")


def analyse(page: Page, analyst: str) -> None:
    page.get_by_test_id("analysis-toggle").click()
    page.get_by_test_id("analyst-select").select_option(analyst)
    page.locator("#analysis-rows tr").first.wait_for()


def connect_four(page: Page) -> None:
    """Show the analysis, and a review of the game."""
    sit_down(page, "connect_four", ["human", "lookahead:3"], "d d c e d d b")
    analyse(page, "alphabeta:seconds=2")
    page.get_by_test_id("review").click()
    page.wait_for_function("() => document.getElementById('review-state').textContent.includes('??')")
    page.locator("#analysis-rows tr").first.wait_for()


def chess(page: Page) -> None:
    """Show dark mode, clocks, and a piece picked up."""
    moves = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O"
    sit_down(page, "chess", ["human", "alphabeta:seconds=2"], moves, clock={"minutes": 10, "increment": 5})
    page.locator('[data-place="2,5"]').click()


def kalah(page: Page) -> None:
    sit_down(page, "kalah", ["human", "lookahead:3"], "5 6 2 1 5 3 6 3 6 3")


def othello(page: Page) -> None:
    moves = "e6 f4 c3 d6 f5 c6 c5 e7 f6 d3 d7 c4 f7 g5 g4 g6 h5 c8"
    sit_down(page, "othello", ["human", "lookahead:2"], moves)
    analyse(page, "alphabeta:seconds=0.2")


def backgammon(page: Page) -> None:
    """Show a checker picked up, with the analysis of the roll."""
    position = "XGID=a-B-BBCB-A--cB-a-c-db---A-:0:0:1:64"
    sit_down(page, "backgammon", ["human", "expectiminimax:depth=1"], "", position=position)
    analyse(page, "expectiminimax:depth=2")


def bridge(page: Page) -> None:
    """Show the declarer's next card, with the analysis by clairvoyance."""
    deal = "N:AQ4.KT2.AJ85.Q93 JT93.Q964.T3.K76 K52.A53.KQ92.A42 876.J87.764.JT85 3NT S"
    sit_down(page, "bridge", ["human", "clairvoyance:worlds=10"], "S8 S4 SJ SK HA H7 H2 H4 D2 D4", position=deal)
    analyse(page, "clairvoyance:worlds=40")


def runs(page: Page) -> None:
    page.goto("/runs")
    page.get_by_test_id("chart-elo").wait_for()


def phone(page: Page) -> None:
    sit_down(page, "togyzkumalak", ["human", "lookahead:2"], "43 11 99 67 91x 56 88 93 79 73")


PICTURES: dict[str, tuple[Callable[[Page], None], dict[str, Any]]] = {
    "connect_four": (connect_four, {}),
    "chess": (chess, {"color_scheme": "dark"}),
    "kalah": (kalah, {}),
    "othello": (othello, {}),
    "backgammon": (backgammon, {}),
    "bridge": (bridge, {}),
    "runs": (runs, {}),
    "phone": (phone, {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}),
}


if __name__ == "__main__":
    main()
