"""The event loop never waits for the rules of a game: they may compile, and every page would wait with it."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import pytest

from beamzero.games import make_game
from tests.web.serving import begin, seat, server

RULES = type(make_game("tic_tac_toe"))


@pytest.fixture
def on_the_loop(monkeypatch):
    """Names of the rules' methods that were called in a thread that runs an event loop."""
    noted: list[str] = []

    def watched(name: str, method: Any) -> Any:
        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                pass
            else:
                noted.append(name)
            return method(*args, **kwargs)

        return call

    for name in dir(RULES):
        method = getattr(RULES, name)
        if not name.startswith("_") and callable(method):
            monkeypatch.setattr(RULES, name, watched(name, method))
    return noted


def test_the_rules_are_never_called_on_the_event_loop(tmp_path, on_the_loop):
    with server(tmp_path, ["tic_tac_toe"]) as browsers:
        one = browsers()
        on_the_loop.clear()  # the games are described before the loop begins
        id = begin(one, clock={"minutes": 5.0, "increment": 1.0})
        with seat(one, id) as page:
            page.my_turn()
            page.move("b2")
            page.my_turn_after(1)
            page.move("b2")
            page.hear("error")
            page.say(type="look", request=1, ply=1, variation=["c3"] if page.session["moves"][1] != "c3" else ["a3"])
            page.hear("position")
            page.say(type="analyse", request=2, ply=1, agent="lookahead:1")
            page.hear("analysis")
            page.say(type="review", request=3, agent="lookahead:1")
            page.hear("review", lambda found: len(found["values"]) > 0)
            page.say(type="undo")
            page.my_turn()
            page.say(type="swap")
            page.my_turn_after(0)
            page.say(type="resign")
            page.hear("table", lambda table: table["over"])
        assert one.get(f"/api/tables/{id}/record").status_code == 200

        over = begin(one, seats=("human", "human"), moves=["a1", "b1", "a2", "b2", "a3"])
        with seat(one, over) as page:
            page.hear("table")
            page.say(type="analyse", request=4, ply=5, agent="random")
            assert page.hear("error")["message"].startswith("the game is over there")

        late = begin(one, seats=("human", "human"), moves=["a1", "b1"], clock={"minutes": 0.001, "increment": 0.0})
        with seat(one, late) as page:
            page.hear("table", lambda table: table["over"])

        watched = begin(one, seats=("random", "random"), clock={"minutes": 5.0, "increment": 0.0})
        with seat(one, watched) as page:
            page.say(type="pause")
            page.hear("table", lambda table: table["paused"])
            page.say(type="go")
            page.hear("table", lambda table: table["over"])
    assert not on_the_loop, f"called on the event loop: {sorted(set(on_the_loop))}"
