"""The agents' moves and the clocks of sessions: one task for each session that waits for either."""

from __future__ import annotations

import asyncio
import time

from beamzero.core.errors import BadInput
from beamzero.games import State
from beamzero.web.agents import READY, AgentPool
from beamzero.web.background import Background
from beamzero.web.limits import Limits
from beamzero.web.offers import HUMAN_SEAT, AgentOffer, Offers
from beamzero.web.pages import LiveSession, Pages
from beamzero.web.session import GameSession
from beamzero.web.sessions import Sessions


class SessionTurns:
    """Lets agents move when it is their turn, and ends games whose clock ran out."""

    def __init__(
        self,
        offers: Offers,
        agents: AgentPool,
        sessions: Sessions,
        pages: Pages,
        background: Background,
        limits: Limits,
    ) -> None:
        self._offers, self._agents, self._sessions, self._pages = offers, agents, sessions, pages
        self._background, self._limits = background, limits

    def start(self, live: LiveSession) -> None:
        """Start the task of a session, unless it has one or waits for a person without a clock."""
        session = live.session
        if live.turns is None or live.turns.done():
            if session.over or (session.mover == HUMAN_SEAT and session.clock is None):
                return
            live.turns = self._background.start(self._run(live))

    async def _run(self, live: LiveSession) -> None:
        session = live.session
        while not session.over:
            live.changed.clear()
            if session.mover == HUMAN_SEAT:
                left = seconds_left(session)
                if session.clock is None or (left is None and not live.pages):
                    break
                await live.wait(left)
            elif session.paused or (HUMAN_SEAT not in session.seats and not live.pages):
                session.stop_clock(time.monotonic())
                if not live.pages:
                    break
                await live.wait(None)
                session.start_clock(time.monotonic())
            else:
                await self._agent_moves(live)
                if live.trouble and not live.pages:
                    break
            async with live.lock:
                flagged = session.flag(time.monotonic())
                if flagged:
                    await self._background.in_worker(self._sessions.save, session)
            if flagged:
                await self._pages.update(live)
        # The task is not done yet while it runs this, so it has to unload a session that no page has open by itself.
        live.turns = None
        self._sessions.unload_if_idle(live)

    async def _agent_moves(self, live: LiveSession) -> None:
        """Let an agent make its move, unless the session changes meanwhile or the agent's time is over first."""
        session = live.session
        state, agent = session.state, session.mover
        assert agent is not None
        try:
            offer = await self._background.in_worker(self._offers.agent, session.name, agent)
        except BadInput as error:
            return await self._give_up(live, state, agent, str(error))
        if self._agents.get(session.game, offer.text).status != READY:
            if not await self._prepare(live, offer, state, agent):
                return None
        elif not live.thinking:
            live.thinking = True
            await self._pages.update(live)
        if HUMAN_SEAT not in session.seats:
            session.stop_clock(time.monotonic())
            await asyncio.sleep(self._limits.watch_seconds)
            session.start_clock(time.monotonic())
        # It has its thread, since `prepare` or the status above was a moment ago: no other task ran in between.
        answer = asyncio.wrap_future(self._agents.get(session.game, offer.text).choose(state))
        await asyncio.wait({answer}, timeout=seconds_left(session))
        if not answer.done():
            live.thinking = False
            return None  # its flag has fallen
        problem = answer.exception()
        if problem is None:
            legal = await self._background.in_worker(session.game.legal_actions, state)
            if answer.result() not in legal:
                problem = BadInput("its move is not legal")
        if problem is not None:
            return await self._give_up(live, state, agent, offer.cannot_play(problem))
        async with live.lock:
            # The same position, and not only the same number of moves: some may have been taken back and others made.
            if session.state is state and session.mover == agent and not session.paused:
                action = answer.result()
                message = await self._background.in_worker(
                    self._sessions.change_and_save, live, lambda session, now: session.play(action, now)
                )
                await live.send(message)
                return None
            live.thinking = live.is_agents_turn
        await self._pages.update(live)
        return None

    async def _prepare(self, live: LiveSession, offer: AgentOffer, state: State, agent: str) -> bool:
        """Wait until an agent is compiled, with the clock stopped. Returns False where it fails.

        `agent` was to move at `state` when the wait began: it may no longer be.
        """
        session = live.session
        live.thinking, live.preparing = True, f"compiling {offer.title}: the first time this takes a while"
        session.stop_clock(time.monotonic())
        await self._pages.update(live)
        problem = None
        try:
            await asyncio.wrap_future(self._agents.get(session.game, offer.text).prepare())
        except BadInput as error:
            problem = error
        live.preparing = None
        if session.state is state:
            session.start_clock(time.monotonic())
        if problem is not None:
            await self._give_up(live, state, agent, offer.cannot_play(problem))
            return False
        await self._pages.update(live)
        return True

    async def _give_up(self, live: LiveSession, state: State, agent: str | None, why: str) -> None:
        """Tell the pages that an agent cannot play: people can undo, swap or begin anew."""
        if live.session.state is not state or live.session.mover != agent:
            return  # it is no longer to move
        live.trouble, live.thinking = why, False
        await self._pages.update(live)
        if live.pages:
            await live.wait(None)


def seconds_left(session: GameSession) -> float | None:
    """Return the seconds until the side to move loses on time; None where no clock runs."""
    clock, side = session.clock, session.to_move  # once: a move in another thread may end the game
    if clock is None or clock.since is None or side is None:
        return None
    return clock.now(side, time.monotonic())[side] + 0.01
