"""Checks that every request passes before any other code sees it.

- The name in the address must be one of the server's own, or another site could have its name point here.
- A request that changes something, and every socket, must come from the server's own pages.
- A browser is known by a cookie that scripts cannot read and that cannot be guessed.
- A request that is too large is refused before it is read.
- Pages may load nothing from elsewhere, and no other site may show them in a frame.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from beamzero.web.limits import Limits

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
AsgiSend = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, AsgiSend], Awaitable[None]]

COOKIE = "beamzero_client"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_SAFE = {"GET", "HEAD", "OPTIONS"}

HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Passes requests on that are allowed, with ``scope["client_token"]`` naming the browser."""

    def __init__(self, app: App, hosts: Collection[str], limits: Limits) -> None:
        self.app, self.hosts, self.limits = app, frozenset(host.lower() for host in hosts), limits

    async def __call__(self, scope: Scope, receive: Receive, send: AsgiSend) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        is_socket = scope["type"] == "websocket"
        problem = self._problem(headers, is_socket, scope.get("method", "GET"))
        if problem:
            return await _refuse(scope, receive, send, 403, problem)
        token = _token(headers.get("cookie", ""))
        if is_socket:
            if token is None:
                return await _refuse(scope, receive, send, 403, "open the page first: this browser has no cookie")
            scope["client_token"] = token
            return await self.app(scope, receive, send)
        scope["client_token"] = token or secrets.token_urlsafe(32)
        if scope["method"] not in _SAFE:
            body = await self._body(headers, receive)
            if body is None:
                most = self.limits.body_bytes // 1024
                return await _refuse(scope, receive, send, 413, f"too large: a request may have {most} kB")
            receive = _again(body, receive)
        cookie = None if token else _set_cookie(scope["client_token"], scope.get("scheme") == "https")
        await self.app(scope, receive, _with_headers(send, scope["path"], cookie))
        return None

    def _problem(self, headers: dict[str, str], is_socket: bool, method: str) -> str | None:
        host = headers.get("host", "")
        if _hostname(f"//{host}") not in self.hosts:
            return "this server does not go by that name: start it with --allow-host to let it"
        origin = headers.get("origin")
        if is_socket or method not in _SAFE:
            if origin is None and is_socket:
                return "a socket must come from a page of this server"
            if origin is not None and origin.lower().partition("://")[2] != host.lower():
                return "this must come from a page of this server"
        return None

    async def _body(self, headers: dict[str, str], receive: Receive) -> bytes | None:
        """Read the whole body; None where it is too large."""
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self.limits.body_bytes:
            return None
        parts, size = [], 0
        while True:
            event = await receive()
            parts.append(event.get("body", b""))
            size += len(parts[-1])
            if size > self.limits.body_bytes:
                return None
            if event["type"] != "http.request" or not event.get("more_body", False):
                return b"".join(parts)


def _hostname(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _token(cookies: str) -> str | None:
    # By hand: http.cookies gives up on all cookies where that of another server on this host is odd.
    for cookie in cookies.split(";"):
        name, _, value = cookie.strip().partition("=")
        if name == COOKIE and _TOKEN.fullmatch(value):
            return value
    return None


def _set_cookie(token: str, secure: bool) -> str:
    year = 365 * 24 * 3600
    # Not Strict: a person who follows a link would not see their own games. Changes are checked by their Origin.
    return f"{COOKIE}={token}; HttpOnly; SameSite=Lax; Path=/; Max-Age={year}{'; Secure' if secure else ''}"


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read once more, and then the events that follow."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Event:
        return waiting.pop() if waiting else await receive()

    return read


def _with_headers(send: AsgiSend, path: str, cookie: str | None) -> AsgiSend:
    async def sent(event: Event) -> None:
        if event["type"] == "http.response.start":
            kept = "no-store" if path.startswith("/api/") else "no-cache"
            more = {**HEADERS, "cache-control": kept, **({"set-cookie": cookie} if cookie else {})}
            event["headers"] = [*event.get("headers", []), *((k.encode(), v.encode()) for k, v in more.items())]
        await send(event)

    return sent


async def _refuse(scope: Scope, receive: Receive, send: AsgiSend, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": why})
        return
    body = json.dumps({"error": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    send = _with_headers(send, "/api/", None)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
