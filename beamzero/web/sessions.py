"""All sessions of a server: those in use are in memory, every one is on disk."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.records.files import parse_records
from beamzero.records.record import GameRecord
from beamzero.web.background import Background
from beamzero.web.limits import Limits
from beamzero.web.messages import NewTable
from beamzero.web.offers import Offers
from beamzero.web.pages import LiveSession, Pages
from beamzero.web.session import GameSession
from beamzero.web.store import SessionStore

Change = Callable[[GameSession, float], None]
"""Changes a session, at a time in seconds; BadInput where that cannot be."""

DELETED = "this game was deleted"
_PATIENCE = 120.0
"""Seconds after which a new session is dropped from memory where no page has opened it."""


class UnknownSession(Exception):
    """There is no such session, or it is another browser's."""


class Sessions:
    """The sessions of a server, by their ids."""

    def __init__(
        self, offers: Offers, store: SessionStore, pages: Pages, background: Background, limits: Limits
    ) -> None:
        self._offers, self._store, self._pages = offers, store, pages
        self._background, self._limits = background, limits
        self._live: dict[str, LiveSession] = {}
        self._opening: dict[str, asyncio.Lock] = {}

    # --- new sessions ------------------------------------------------------------------------------------------------

    async def create(self, client: str, wish: NewTable) -> LiveSession:
        """Begin a game for a browser, and keep it."""
        id = secrets.token_urlsafe(16)
        # A game that is handed in may be long: it must not hold up the others, so it is not for the worker thread.
        session, too_old = await asyncio.to_thread(self._begin_and_keep, id, client, wish)
        for old in too_old:
            self._forget(old)
        live = self._live[id] = LiveSession(session)
        asyncio.get_running_loop().call_later(_PATIENCE, self._unload_if_idle, id)
        return live

    def _unload_if_idle(self, id: str) -> None:
        if (live := self._live.get(id)) is not None:
            self.unload_if_idle(live)

    def _begin_and_keep(self, id: str, client: str, wish: NewTable) -> tuple[GameSession, list[str]]:
        """Return a new session, and the ids of the client's oldest ones, which made room for it."""
        session = self._begin(id, client, wish)
        data, summary = session.as_json(time.monotonic()), self._pages.summarise(session)
        self._store.add(id, client, session.name, data, summary)
        return session, self._store.keep_newest(client, self._limits.sessions)

    def _begin(self, id: str, client: str, wish: NewTable) -> GameSession:
        name, moves, start = wish.game, list(wish.moves), wish.position
        if wish.record is not None:
            record = _read_record(wish.record, name)
            name, moves, start = self._offers.named_by_record(record.game), list(record.moves), record.start
        if len(moves) > self._limits.moves:
            raise BadInput(f"the record has {len(moves)} moves, but at most {self._limits.moves} are played again")
        game = self._offers.game(name)
        seats = [self._offers.fix_checkpoint(name, seat) for seat in wish.seats]
        clock = wish.clock and {"left": [60.0 * wish.clock.minutes] * 2, "increment": wish.clock.increment}
        data = {"moves": moves, "start": start, "seats": seats, "clock": clock}
        return GameSession.open(id, client, name, game, data, time.monotonic())

    # --- into memory and out of it -----------------------------------------------------------------------------------

    async def open(self, client: str, id: str) -> LiveSession:
        """Return the session of a browser, to be released at last; UnknownSession where it has none of this id."""
        lock = self._opening.setdefault(id, asyncio.Lock())
        try:
            async with lock:
                live = self._live.get(id)
                if live is None:
                    live = LiveSession(await asyncio.to_thread(self._load, id))
                    if live.session.client == client:
                        self._live[id] = live
        finally:
            self._opening.pop(id, None)
        if live.session.client != client:
            raise UnknownSession
        live.holders += 1
        return live

    def _load(self, id: str) -> GameSession:
        row = self._store.get(id)
        if row is None:
            raise UnknownSession
        return GameSession.open(id, row.client, row.game, self._offers.game(row.game), row.data, time.monotonic())

    def release(self, live: LiveSession) -> None:
        """Let go of a session that was opened."""
        live.holders -= 1
        self.unload_if_idle(live)

    def unload_if_idle(self, live: LiveSession) -> None:
        """Drop a session from memory where no page has it open and no agent or clock runs."""
        idle = live.turns is None or live.turns.done()
        if not live.holders and idle and self.has(live):
            del self._live[live.session.id]

    def has(self, live: LiveSession) -> bool:
        """Tell whether a session is still the one in memory: it may have been deleted."""
        return self._live.get(live.session.id) is live

    async def delete(self, client: str, id: str) -> None:
        """Forget a game, even one that can no longer be played."""
        if await asyncio.to_thread(self._store.client_of, id) != client:
            raise UnknownSession
        await asyncio.to_thread(self._store.delete, id)
        self._forget(id)

    def _forget(self, id: str) -> None:
        live = self._live.pop(id, None)
        if live is None:
            return
        if live.turns is not None:
            live.turns.cancel()
        for page in live.pages:
            self._background.start(page({"type": "error", "request": None, "message": DELETED}))

    # --- in the worker thread ----------------------------------------------------------------------------------------

    def change_and_save(self, live: LiveSession, change: Change) -> dict[str, Any]:
        """Change a session and keep it. Returns the message for its pages."""
        change(live.session, time.monotonic())
        self.save(live.session)
        live.trouble = None
        live.thinking = live.is_agents_turn
        return self._pages.describe(live)

    def save(self, session: GameSession) -> None:
        """Keep a session as it stands."""
        self._store.put(session.id, session.as_json(time.monotonic()), self._pages.summarise(session))


def _read_record(text: str, game: str) -> GameRecord:
    """Read the first game in a text of any format."""
    head = text.lstrip()[:1]
    kind = ".jsonl" if head == "{" else ".pgn" if head == "[" or "1." in text[:200] else ".txt"
    found = next(iter(parse_records(text, kind, game)), None)
    if found is None:
        raise BadInput("the record holds no game")
    return found
