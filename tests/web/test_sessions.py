"""A change of a game is made as a whole, even if the page that asked has left."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import Any

import pytest

from beamzero.core.errors import BadInput
from beamzero.web.background import Background
from beamzero.web.requests import Requests
from beamzero.web.session import GameClock
from beamzero.web.turns import seconds_left


@pytest.mark.parametrize(
    ("fault", "logged"), [(BadInput("the game is over"), []), (KeyError("x"), ["beamzero.web.requests"])]
)
def test_a_change_that_fails_after_who_asked_has_left_is_logged_only_if_it_is_a_fault(caplog, fault, logged):
    async def leave_before_it_ends() -> None:
        go, requests, background = asyncio.Event(), Requests.__new__(Requests), Background()

        async def fail(*_: Any) -> None:
            await go.wait()
            raise fault

        requests._background, requests._changed = background, fail  # type: ignore[method-assign]
        asked = asyncio.create_task(requests._change(None, None))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        go.set()
        while background._tasks:
            await asyncio.sleep(0)

    with caplog.at_level(logging.ERROR):
        asyncio.run(leave_before_it_ends())
        gc.collect()
    assert [record.name for record in caplog.records] == logged


def test_a_game_that_ends_in_another_thread_while_its_clock_is_read_is_no_fault():
    class Ending:
        """A session whose last move is made as soon as its side to move was asked."""

        clock = GameClock(left=[5.0, 7.0], increment=0.0, since=0.0)
        asked = 0

        @property
        def to_move(self) -> int | None:
            self.asked += 1
            return 1 if self.asked == 1 else None

    session: Any = Ending()
    assert seconds_left(session) is not None
    assert seconds_left(session) is None
