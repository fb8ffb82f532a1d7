"""One open page of a game: its messages are read, checked and handled; messages to it wait in a queue."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect

from beamzero.core.errors import BadInput
from beamzero.web.background import Background
from beamzero.web.limits import Limits
from beamzero.web.messages import AnalyseMessage, Message, ReviewMessage, read_message, request_of
from beamzero.web.pages import LiveSession
from beamzero.web.requests import Requests

_LOG = logging.getLogger(__name__)

_QUEUE = 200
"""The most messages that wait for a slow page; it is closed where there are more."""


class RateLimit:
    """A limit of messages: `burst` at once, and `rate` a second for long."""

    def __init__(self, rate: float, burst: int) -> None:
        self.rate, self.burst = rate, burst
        self._left, self._then = float(burst), time.monotonic()

    def allows(self, now: float) -> bool:
        self._left = min(self.burst, self._left + (now - self._then) * self.rate)
        self._then = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Page:
    """A socket that was accepted."""

    def __init__(
        self, socket: WebSocket, requests: Requests, background: Background, live: LiveSession, limits: Limits
    ) -> None:
        self.socket, self.requests, self.background = socket, requests, background
        self.live, self.limits = live, limits
        self._queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(_QUEUE)
        self._slow: asyncio.Task[None] | None = None
        self._rate_limit = RateLimit(limits.messages_per_second, limits.burst)

    async def run(self) -> None:
        """Serve the page until it is closed."""
        writer = self.background.start(self._write())
        try:
            await self.requests.join(self.live, self.send)
            reader = self.background.start(self._read())
            await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
            reader.cancel()
        finally:
            self.requests.leave(self.live, self.send)
            writer.cancel()
            if self._slow is not None:
                self._slow.cancel()

    async def send(self, message: dict[str, Any]) -> None:
        """Queue a message; a page that takes none for too long is closed."""
        if self._queue.full():
            with contextlib.suppress(RuntimeError):
                await self.socket.close(1013, "too slow")
            return
        self._queue.put_nowait(message)

    async def _write(self) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                message = await self._queue.get()
                await self.socket.send_text(json.dumps(message, separators=(",", ":")))

    async def _read(self) -> None:
        while True:
            event = await self.socket.receive()
            if event["type"] == "websocket.disconnect":
                return
            text = event.get("text")
            if not self._rate_limit.allows(time.monotonic()):
                await self._problem(None, "too many messages: wait a moment")
            elif text is None:
                await self._problem(None, "a message must be text")
            elif len(text) > self.limits.message_bytes:
                await self._problem(None, f"too large: a message may have {self.limits.message_bytes // 1024} kB")
            else:
                await self._take(text)

    async def _take(self, text: str) -> None:
        try:
            message = read_message(text)
        except BadInput as error:
            return await self._problem(request_of(text), str(error))
        if isinstance(message, AnalyseMessage | ReviewMessage):
            # A page that asks again does not need the last answer.
            if self._slow is not None:
                self._slow.cancel()
            self._slow = self.background.start(self._handle(message))
        else:
            await self._handle(message)
        return None

    async def _handle(self, message: Message) -> None:
        try:
            await self.requests.handle(self.live, self.send, message)
        except BadInput as error:
            await self._problem(getattr(message, "request", None), str(error))
        except Exception:
            _LOG.exception("%s", message)
            await self._problem(getattr(message, "request", None), "that did not work: the server has a fault")

    async def _problem(self, request: int | None, why: str) -> None:
        await self.send({"type": "error", "request": request, "message": why})
