"""What is asked of a table is done as a whole, even if whoever asked has left."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import Any

import pytest

from beamzero.core.errors import BadInput
from beamzero.web.clock import Clock
from beamzero.web.hub import Hub


@pytest.mark.parametrize(
    ("fault", "logged"), [(BadInput("the game is over"), []), (KeyError("x"), ["beamzero.web.hub"])]
)
def test_a_change_that_fails_after_who_asked_has_left_is_logged_only_if_it_is_a_fault(caplog, fault, logged):
    async def leave_before_it_ends() -> None:
        go, hub = asyncio.Event(), Hub.__new__(Hub)

        async def fail(*_: Any) -> None:
            await go.wait()
            raise fault

        hub._tasks, hub._changed = set(), fail  # type: ignore[method-assign]
        asked = asyncio.create_task(hub._change(None, None))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        go.set()
        while hub._tasks:
            await asyncio.sleep(0)

    with caplog.at_level(logging.ERROR):
        asyncio.run(leave_before_it_ends())
        gc.collect()
    assert [record.name for record in caplog.records] == logged


def test_a_game_that_ends_in_another_thread_while_its_clock_is_read_is_no_fault():
    class Ending:
        """A table whose last move is made as soon as its side to move was asked."""

        clock = Clock(left=[5.0, 7.0], increment=0.0, since=0.0)
        asked = 0

        @property
        def turn(self) -> int | None:
            self.asked += 1
            return 1 if self.asked == 1 else None

    table: Any = Ending()
    assert Hub._left(table) is not None
    assert Hub._left(table) is None
