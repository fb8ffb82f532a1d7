"""The requests of browsers: to begin games, moves, positions, analysis, reviews and records."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import threading
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.games import State
from beamzero.records.files import format_record
from beamzero.records.record import Followed, GameRecord, is_chance
from beamzero.web.agents import AgentPool, Stopped
from beamzero.web.background import Background
from beamzero.web.messages import (
    AnalyseMessage,
    LookMessage,
    Message,
    MoveMessage,
    NewTable,
    PlainMessage,
    ReviewMessage,
)
from beamzero.web.offers import AgentOffer, Offers
from beamzero.web.pages import LiveSession, Pages, SendToPage, describe_position
from beamzero.web.session import GameSession
from beamzero.web.sessions import DELETED, Change, Sessions
from beamzero.web.turns import SessionTurns

_LOG = logging.getLogger(__name__)


class Requests:
    """Handles the requests of browsers."""

    def __init__(
        self,
        offers: Offers,
        agents: AgentPool,
        sessions: Sessions,
        pages: Pages,
        turns: SessionTurns,
        background: Background,
    ) -> None:
        self._offers, self._agents, self._sessions, self._pages = offers, agents, sessions, pages
        self._turns, self._background = turns, background

    async def create(self, client: str, wish: NewTable) -> str:
        """Begin a game for a browser. Returns its id."""
        live = await self._sessions.create(client, wish)
        self._turns.start(live)
        return live.session.id

    async def join(self, live: LiveSession, page: SendToPage) -> None:
        """Begin to send a page all changes of a session."""
        live.pages.add(page)
        live.changed.set()
        self._turns.start(live)
        async with live.lock:
            await page(await self._background.in_worker(self._pages.describe, live))

    def leave(self, live: LiveSession, page: SendToPage) -> None:
        """Stop sending to a page."""
        live.pages.discard(page)
        live.changed.set()

    async def write_record(self, live: LiveSession, format: str) -> str:
        """Write a game in a format; BadInput where that cannot be."""
        async with live.lock:
            played = await self._background.in_worker(self._record, live.session, format)
            return await asyncio.to_thread(format_record, played, f".{format}")

    def _record(self, session: GameSession, format: str) -> GameRecord:
        played = session.record(self._pages.names(session))
        if format not in session.formats:
            allowed = ", ".join(session.formats)
            raise BadInput(f"this game cannot be written as {format} (it can as {allowed})")
        return played

    async def handle(self, live: LiveSession, page: SendToPage, message: Message) -> None:
        """Do what a page asks for; BadInput where that cannot be."""
        match message:
            case MoveMessage():
                await self._change(live, lambda session, now: session.play_named(message.move, message.ply, now))
            case PlainMessage(type="undo"):
                await self._change(live, lambda session, now: session.undo(now))
            case PlainMessage(type="resign"):
                await self._change(live, lambda session, now: session.resign())
            case PlainMessage(type="swap"):
                await self._change(live, lambda session, now: session.swap(now))
            case PlainMessage(type=kind):
                await self._change(live, lambda session, now: session.pause(kind == "pause", now))
            case LookMessage():
                async with live.lock:
                    now = await self._background.in_worker(
                        describe_position, live.session, message.ply, message.variation
                    )
                await page({"type": "position", "request": message.request, "now": now})
            case AnalyseMessage():
                await self._analyse(live, page, message)
            case ReviewMessage():
                await self._review(live, page, message)

    # --- changes -----------------------------------------------------------------------------------------------------

    async def _change(self, live: LiveSession, change: Change) -> None:
        """Change a session, save it and send it to all pages, even if the page that asked leaves meanwhile."""
        task = self._background.start(self._changed(live, change))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_log_unless_refused)  # no caller waits for it any more
            raise

    async def _changed(self, live: LiveSession, change: Change) -> None:
        async with live.lock:
            if not self._sessions.has(live):
                raise BadInput(DELETED)
            message = await self._background.in_worker(self._sessions.change_and_save, live, change)
            await live.send(message)
        live.changed.set()
        self._turns.start(live)

    # --- analysis and reviews ----------------------------------------------------------------------------------------

    async def _analyse(self, live: LiveSession, page: SendToPage, message: AnalyseMessage) -> None:
        async with live.lock:
            state, side, offer = await self._background.in_worker(self._to_analyse, live.session, message)
        agent = self._agents.get(live.session.game, offer.text, plays=False)
        try:
            analysis = await asyncio.wrap_future(agent.analyse(state))
        except BadInput as error:
            raise BadInput(offer.cannot_play(error)) from None
        asked = {"ply": message.ply, "variation": list(message.variation), "agent": message.agent}
        await page({"type": "analysis", "request": message.request, **asked, "turn": side, **analysis.as_json()})

    def _to_analyse(self, session: GameSession, message: AnalyseMessage) -> tuple[State, int, AgentOffer]:
        """Return the position to analyse, its side to move and the agent; BadInput where there is nothing to choose."""
        game, state = session.game, session.state_at(message.ply, message.variation)
        if bool(game.over(state)):
            raise BadInput(f"the game is over there: {game.outcome_reason(state)}")
        if is_chance(game, state):
            raise BadInput("the dice decide next there, and nobody has to choose")
        if not session.may_choose(state):
            raise BadInput("it is not your turn there, and what the others hold is hidden")
        return state, int(game.player(state)), self._offers.agent(session.name, message.agent)

    async def _review(self, live: LiveSession, page: SendToPage, message: ReviewMessage) -> None:
        loop, gone = asyncio.get_running_loop(), threading.Event()
        async with live.lock:
            followed, offer = await self._background.in_worker(self._to_review, live.session, message)
        head: dict[str, Any] = {"type": "review", "request": message.request, "of": len(followed.states)}

        def progress(done: int, of: int) -> None:
            if gone.is_set():
                raise Stopped
            asyncio.run_coroutine_threadsafe(page({**head, "done": done, "values": [], "moves": []}), loop)

        agent = self._agents.get(live.session.game, offer.text, plays=False)
        try:
            found = await asyncio.wrap_future(agent.review(followed, progress))
        except BadInput as error:
            raise BadInput(offer.cannot_play(error)) from None
        finally:
            gone.set()
        moves = [
            {"number": m.number, "side": m.side, "move": m.move, "best": m.best, "cost": m.cost, "mark": m.mark}
            for m in found.moves
        ]
        await page({**head, "done": len(followed.states), "values": found.curve, "moves": moves})

    def _to_review(self, session: GameSession, message: ReviewMessage) -> tuple[Followed, AgentOffer]:
        """Return a copy of the game so far, which stays as it is, and the agent."""
        session.forbid_while_secret("a review looks at all hands")
        offer = self._offers.agent(session.name, message.agent)
        followed = session.followed
        return dataclasses.replace(followed, states=list(followed.states), actions=list(followed.actions)), offer


def _log_unless_refused(task: asyncio.Task[None]) -> None:
    """Log the exception that ended a task, unless it is a BadInput."""
    fault = None if task.cancelled() else task.exception()
    if fault is not None and not isinstance(fault, BadInput):
        _LOG.error("a change ended in a fault", exc_info=fault)
