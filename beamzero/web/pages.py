"""Sessions in memory and what their pages are told: all of it as plain data, which becomes JSON."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import Callable, Coroutine
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.web.agents import READY, AgentPool
from beamzero.web.background import Background
from beamzero.web.offers import HUMAN_SEAT, Offers, title_of
from beamzero.web.session import GameSession, names_of_sides, result_of

TellPage = Callable[[dict[str, Any]], Coroutine[Any, Any, None]]
"""Tells one page something, which waits in line there; it never raises."""


@dataclasses.dataclass(eq=False)
class LiveSession:
    """A session in memory, the pages that watch it, and how far its agent is."""

    session: GameSession
    lock: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)
    """Held by each task that reads the session in another thread, or changes it, until that was told to all pages: so
    no page hears the older news last."""
    holders: int = 0
    """How many have opened it and need it in memory."""
    pages: set[TellPage] = dataclasses.field(default_factory=set)
    turns: asyncio.Task[None] | None = None
    """Makes the agents' moves and watches the clock: see `SessionTurns`."""
    changed: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)
    thinking: bool = False
    preparing: str | None = None
    trouble: str | None = None

    @property
    def is_agents_turn(self) -> bool:
        """True where an agent is about to search for its move."""
        session = self.session
        return not session.over and session.mover != HUMAN_SEAT and not session.paused

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message to all pages."""
        for page in tuple(self.pages):
            await page(message)

    async def wait(self, seconds: float | None) -> None:
        """Wait until something changes, `seconds` at most."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.changed.wait(), seconds)


class Pages:
    """Describes sessions, and tells their pages."""

    def __init__(self, offers: Offers, agents: AgentPool, background: Background) -> None:
        self._offers, self._agents, self._background = offers, agents, background
        self._titles: dict[tuple[str, str], str] = {}

    async def tell(self, live: LiveSession) -> None:
        """Tell all pages of a session how it stands."""
        async with live.lock:
            if live.pages:
                await live.send(await self._background.in_worker(self.describe, live))

    def describe(self, live: LiveSession) -> dict[str, Any]:
        """Return the message `table`: a session as it stands. It asks the rules, so it is for the worker thread."""
        session, game = live.session, live.session.game
        now = session.position(session.ply)
        if session.over:
            now |= {"turn": None, "over": True, "legal": []}
        sides, clock = names_of_sides(game, session.state), session.clock
        return {
            "type": "table", "id": session.id, "game": session.name, "title": title_of(session.name),
            "seats": session.seats, "names": self.names(session), "sides": sides, "moves": session.moves,
            "hidden": game.hidden, "secret": session.secret, "turn": session.turn, "over": session.over,
            "start": None if session.secret else session.followed.record.start,
            "result": result_of(session, sides), "thinking": live.thinking, "preparing": live.preparing,
            "trouble": live.trouble, "paused": session.paused,
            "clock": clock and {
                "left": clock.now(session.turn, time.monotonic()), "increment": clock.increment,
                "running": session.turn if clock.since is not None else None,
            },
            "agents": self.list_agents(session.name), "formats": session.formats,
            "now": now,
        }  # fmt: skip

    def summarise(self, session: GameSession) -> dict[str, Any]:
        """Return the data of a session that a list of games shows. For the worker thread, as `describe`."""
        result = result_of(session, names_of_sides(session.game, session.state))
        return {
            "names": self.names(session), "moves": session.ply, "over": session.over,
            "result": result and result["text"],
        }  # fmt: skip

    def list_agents(self, name: str) -> list[dict[str, Any]]:
        """Return the agents of a game as pages know them."""
        game = self._offers.game(name)
        return [
            {
                "id": offer.id, "title": offer.title, "about": offer.about, "level": offer.level,
                "ready": self._agents.status(game, offer.text) == READY,
            }
            for offer in self._offers.agents_of(name)
        ]  # fmt: skip

    def names(self, session: GameSession) -> list[str]:
        """Return the names of the two players."""
        return ["Human" if seat == HUMAN_SEAT else self._title(session.name, seat) for seat in session.seats]

    def _title(self, game: str, agent: str) -> str:
        if (game, agent) not in self._titles:
            try:
                self._titles[game, agent] = self._offers.agent(game, agent).title
            except BadInput:  # a run that is gone by now
                return agent
        return self._titles[game, agent]
