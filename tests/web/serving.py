"""A server inside the test's own process, and browsers that speak to it."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient, WebSocketTestSession

from beamzero.web.app import make_app
from beamzero.web.limits import Limits
from beamzero.web.offers import Offers
from beamzero.web.store import SessionStore

ADDRESS = "http://127.0.0.1:8000"
GAMES = ["tic_tac_toe", "kalah", "connect_four", "chess6x6"]


@contextlib.contextmanager
def server(
    folder: Path, games: list[str] | None = None, limits: Limits | None = None, **offers: Any
) -> Iterator[Callable[[], TestClient]]:
    """Gives browsers, each with cookies of its own, for a server whose games lie in `folder`."""
    before = threading.enumerate()
    limits = limits or Limits(think_seconds=30.0, watch_seconds=0.01)
    app = make_app(Offers(games or GAMES, **offers), SessionStore(folder / "games.sqlite"), limits=limits)
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(TestClient(app, ADDRESS, raise_server_exceptions=True))

        def browser() -> TestClient:
            new = TestClient(app, ADDRESS)
            new.portal = first.portal  # one event loop, as in a true server
            return new

        yield browser
    wait_for(thread for thread in threading.enumerate() if thread not in before)


def wait_for(threads: Iterable[threading.Thread]) -> None:
    """Until the agents of a test are done: what they compile would be counted by the tests that come next."""
    for thread in threads:
        if thread.name.startswith("agent "):
            thread.join(timeout=120)


def begin(browser: TestClient, game: str = "tic_tac_toe", seats: tuple[str, str] = ("human", "random"), **more) -> str:
    """The id of a new game."""
    answer = browser.post("/api/tables", json={"game": game, "seats": list(seats), **more})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


class Seat:
    """A page that looks at a game."""

    def __init__(self, socket: WebSocketTestSession) -> None:
        self.socket = socket
        self.session: dict[str, Any] = {}

    def say(self, **message: Any) -> None:
        self.socket.send_text(json.dumps(message))

    def hear(self, kind: str, until: Callable[[dict[str, Any]], bool] = lambda message: True) -> dict[str, Any]:
        """The next message of a kind for which `until` holds; the last one of type `table` is kept."""
        ends = time.monotonic() + 120
        while time.monotonic() < ends:
            message = self.socket.receive_json()
            if message["type"] == "table":
                self.session = message
            if message["type"] == kind and until(message):
                return message
        raise AssertionError(f"no {kind} came")

    def my_turn(self) -> dict[str, Any]:
        """Return the session's message once a person is to move, or the game is over."""
        return self.hear("table", lambda t: t["over"] or (t["seats"][t["turn"]] == "human" and not t["thinking"]))

    def my_turn_after(self, made: int) -> dict[str, Any]:
        """Return the message of `my_turn` once more than `made` moves were made."""
        return self.hear(
            "table",
            lambda t: (
                len(t["moves"]) > made and (t["over"] or (t["seats"][t["turn"]] == "human" and not t["thinking"]))
            ),
        )

    def move(self, move: str) -> None:
        self.say(type="move", ply=len(self.session["moves"]), move=move)


@contextlib.contextmanager
def seat(browser: TestClient, id: str, origin: str = ADDRESS) -> Iterator[Seat]:
    """Look at a game."""
    with browser.websocket_connect(
        f"{ADDRESS.replace('http', 'ws')}/api/tables/{id}/socket", headers={"origin": origin}
    ) as socket:
        yield Seat(socket)
