"""Work beside the event loop: one worker thread for the rules and the disk, and the tasks that run to their own end."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """The worker thread and the tasks of a server."""

    def __init__(self) -> None:
        # One thread for the work of all sessions: several would spend more time on taking turns than on the work.
        self._worker = concurrent.futures.ThreadPoolExecutor(1, "web worker")
        self._tasks: set[asyncio.Task[Any]] = set()

    async def in_worker(self, work: Callable[..., T], *arguments: Any) -> T:
        """Call `work` in the worker thread and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work, *arguments)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that no caller has to wait for; it ends with the server at the latest."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def close(self) -> None:
        """Cancel all that waits and all that runs."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        for task in tuple(self._tasks):
            task.cancel()
