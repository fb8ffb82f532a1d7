"""Sessions in memory, and the messages that describe them to their pages."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import numpy as np

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.records.record import is_chance, write_result
from beamzero.web.agents import READY, AgentPool
from beamzero.web.background import Background
from beamzero.web.offers import HUMAN_SEAT, Offers, title_of
from beamzero.web.session import GameSession

SendToPage = Callable[[dict[str, Any]], Coroutine[Any, Any, None]]
"""Queues a message for one page; it never raises."""


@dataclasses.dataclass(eq=False)
class LiveSession:
    """A session in memory, its open pages, and the state of its agent."""

    session: GameSession
    lock: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)
    """Held by each task that reads the session in another thread, or changes it, until the message is queued for all
    pages: so no page gets an older message last."""
    holders: int = 0
    """The number of callers that have opened it and need it in memory."""
    pages: set[SendToPage] = dataclasses.field(default_factory=set)
    turns: asyncio.Task[None] | None = None
    """Makes the agents' moves and watches the clock: see `SessionTurns`."""
    changed: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)
    thinking: bool = False
    preparing: str | None = None
    trouble: str | None = None

    @property
    def is_agents_turn(self) -> bool:
        """True where an agent is to move and the game is not paused."""
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
    """Describes sessions to their pages."""

    def __init__(self, offers: Offers, agents: AgentPool, background: Background) -> None:
        self._offers, self._agents, self._background = offers, agents, background
        self._titles: dict[tuple[str, str], str] = {}

    async def update(self, live: LiveSession) -> None:
        """Send the state of a session to all its pages."""
        async with live.lock:
            if live.pages:
                await live.send(await self._background.in_worker(self.describe, live))

    def describe(self, live: LiveSession) -> dict[str, Any]:
        """Return the message `table`, the state of a session. It asks the rules, so it is for the worker thread."""
        session, game = live.session, live.session.game
        now = describe_position(session, session.ply)
        if session.over:
            now |= {"turn": None, "over": True, "legal": []}
        sides, clock = names_of_sides(game, session.state), session.clock
        return {
            "type": "table", "id": session.id, "game": session.name, "title": title_of(session.name),
            "seats": session.seats, "names": self.names(session), "sides": sides, "moves": session.moves,
            "hidden": game.hidden, "secret": session.secret, "turn": session.to_move, "over": session.over,
            "start": None if session.secret else session.followed.record.start,
            "result": describe_result(session, sides), "thinking": live.thinking, "preparing": live.preparing,
            "trouble": live.trouble, "paused": session.paused,
            "clock": clock and {
                "left": clock.now(session.to_move, time.monotonic()), "increment": clock.increment,
                "running": session.to_move if clock.since is not None else None,
            },
            "agents": self.list_agents(session.name), "formats": session.formats,
            "now": now,
        }  # fmt: skip

    def summarise(self, session: GameSession) -> dict[str, Any]:
        """Return the data of a session for a list of games. It asks the rules, so it is for the worker thread."""
        result = describe_result(session, names_of_sides(session.game, session.state))
        return {
            "names": self.names(session), "moves": session.ply, "over": session.over,
            "result": result and result["text"],
        }  # fmt: skip

    def list_agents(self, name: str) -> list[dict[str, Any]]:
        """Return the agents of a game for pages."""
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


# --- positions and results as plain data, which becomes JSON; all of it asks the rules --------------------------------


def describe_position(session: GameSession, ply: int, variation: Sequence[str] = ()) -> dict[str, Any]:
    """Return the position after `ply` moves and a `variation`, with its legal moves, as a person may see it."""
    game, state = session.game, session.state_at(ply, variation)
    over = bool(np.asarray(game.over(state)))
    # In a line that is tried out the dice are not thrown: it ends there.
    hidden = over or is_chance(game, state) or not session.may_choose(state)
    return {
        "ply": ply,
        "variation": list(variation),
        "last": _last_places(session, ply, variation),
        "view": game.view(state, session.viewpoint(ply)),
        "turn": None if over else int(game.next_side(state)),
        "over": over,
        "reason": game.outcome_reason(state) if over else None,
        "legal": [
            {"move": game.action_name(state, action), "places": game.places(state, action)}
            for action in ([] if hidden else game.legal_actions(state))
        ],
    }


def _last_places(session: GameSession, ply: int, variation: Sequence[str]) -> list[list[int]]:
    """Return the places of the move that led to a position."""
    game = session.game
    if variation:
        before = session.state_at(ply, variation[:-1])
        return game.places(before, game.parse_action(before, variation[-1]))
    return game.places(session.followed.states[ply - 1], session.followed.actions[ply - 1]) if ply else []


def names_of_sides(game: Game, state: State) -> list[str]:
    """Return the game's names of the two sides."""
    return list(game.view(state).get("sides", ("First", "Second")))


def describe_result(session: GameSession, sides: Sequence[str]) -> dict[str, Any] | None:
    """Return the result of a game; None while it goes on."""
    if not session.over:
        return None
    return {"score": session.score, "text": write_result(session.score), "reason": session.reason(sides)}
