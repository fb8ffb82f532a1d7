"""Tables that are in use: who looks at them, whose turn it is, and what everyone hears of it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import logging
import secrets
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from beamzero.core.errors import BadInput
from beamzero.games import State
from beamzero.records.files import parse_records
from beamzero.records.record import GameRecord, is_chance
from beamzero.web.brains import READY, Brains, Stopped
from beamzero.web.limits import Limits
from beamzero.web.messages import Analyse, Look, Message, Move, NewTable, Plain, ReviewGame
from beamzero.web.offers import HUMAN, AgentOffer, Offers, title_of
from beamzero.web.store import Store
from beamzero.web.table import Table, result_of, side_names

Send = Callable[[dict[str, Any]], Coroutine[Any, Any, None]]
"""Tells one page something, which waits in line there; it never raises."""

T = TypeVar("T")

DELETED = "this game was deleted"
_PATIENCE = 120.0
"""Seconds after which a table is put away that nobody came to look at."""

_LOG = logging.getLogger(__name__)


class Unknown(Exception):
    """There is no such table, or it is someone else's."""


@dataclasses.dataclass(eq=False)
class Live:
    """A table in memory."""

    table: Table
    lock: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)
    """Held by whoever reads the table in another thread, or changes it, until that was told to all pages: so nobody
    hears the older news last."""
    holders: int = 0
    """How many have opened it and need it in memory."""
    pages: set[Send] = dataclasses.field(default_factory=set)
    driver: asyncio.Task[None] | None = None
    """Makes the agents' moves and watches the clock."""
    changed: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)
    thinking: bool = False
    preparing: str | None = None
    trouble: str | None = None


class Hub:
    """All tables of a server."""

    def __init__(self, offers: Offers, brains: Brains, store: Store, limits: Limits) -> None:
        self.offers, self.brains, self.store, self.limits = offers, brains, store, limits
        self._live: dict[str, Live] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._titles: dict[tuple[str, str], str] = {}
        # One thread for the work at all tables: several would spend more time on taking turns than on the work.
        self._desk = concurrent.futures.ThreadPoolExecutor(1, "desk")
        self._tasks: set[asyncio.Task[Any]] = set()

    # --- tables ----------------------------------------------------------------------------------------------------

    async def create(self, client: str, wish: NewTable) -> str:
        """Begin a game for a browser; its id."""
        id = secrets.token_urlsafe(16)
        # A game that is handed in may be long: it must not hold up the others.
        table, too_old = await asyncio.to_thread(self._begin_and_keep, id, client, wish)
        for old in too_old:
            self._forget(old)
        live = self._live[id] = Live(table)
        self._drive(live)
        asyncio.get_running_loop().call_later(_PATIENCE, self._rest_if_live, id)
        return id

    def _rest_if_live(self, id: str) -> None:
        if (live := self._live.get(id)) is not None:
            self.rest(live)

    def _begin_and_keep(self, id: str, client: str, wish: NewTable) -> tuple[Table, list[str]]:
        """A new table, and the client's oldest ones, which make room for it."""
        table = self._begin(id, client, wish)
        self.store.add(id, client, table.name, table.as_json(time.monotonic()), self._summary(table))
        return table, self.store.keep_newest(client, self.limits.tables)

    def _begin(self, id: str, client: str, wish: NewTable) -> Table:
        name, moves, start = wish.game, list(wish.moves), wish.position
        if wish.record is not None:
            record = _read_record(wish.record, name)
            name, moves, start = self.offers.named_by_record(record.game), list(record.moves), record.start
        if len(moves) > self.limits.moves:
            raise BadInput(f"the record has {len(moves)} moves, but at most {self.limits.moves} are played again")
        game = self.offers.game(name)
        seats = [self.offers.settled(name, seat) for seat in wish.seats]
        clock = wish.clock and {"left": [60.0 * wish.clock.minutes] * 2, "increment": wish.clock.increment}
        told = {"moves": moves, "start": start, "seats": seats, "clock": clock}
        return Table.open(id, client, name, game, told, time.monotonic())

    async def open(self, client: str, id: str) -> Live:
        """The table of a browser, to be released at last; Unknown where it has none of this id."""
        lock = self._opening.setdefault(id, asyncio.Lock())
        try:
            async with lock:
                live = self._live.get(id)
                if live is None:
                    live = Live(await asyncio.to_thread(self._load, id))
                    if live.table.client == client:
                        self._live[id] = live
        finally:
            self._opening.pop(id, None)
        if live.table.client != client:
            raise Unknown
        live.holders += 1
        return live

    def release(self, live: Live) -> None:
        """Who opened a table is done with it."""
        live.holders -= 1
        self.rest(live)

    def _load(self, id: str) -> Table:
        row = self.store.get(id)
        if row is None:
            raise Unknown
        return Table.open(id, row.client, row.game, self.offers.game(row.game), row.told, time.monotonic())

    async def delete(self, client: str, id: str) -> None:
        """Forget a game, even one that can no longer be played."""
        if await asyncio.to_thread(self.store.client_of, id) != client:
            raise Unknown
        await asyncio.to_thread(self.store.delete, id)
        self._forget(id)

    def _forget(self, id: str) -> None:
        live = self._live.pop(id, None)
        if live is None:
            return
        if live.driver is not None:
            live.driver.cancel()
        for page in live.pages:
            self.later(page({"type": "error", "request": None, "message": DELETED}))

    def _save(self, table: Table) -> None:
        self.store.put(table.id, table.as_json(time.monotonic()), self._summary(table))

    def _summary(self, table: Table) -> dict[str, Any]:
        result = result_of(table, side_names(table.game, table.state))
        return {
            "names": self.names(table), "moves": table.ply, "over": table.over, "result": result and result["text"],
        }  # fmt: skip

    def names(self, table: Table) -> list[str]:
        """What the two players are called."""
        return ["Human" if seat == HUMAN else self._title(table.name, seat) for seat in table.seats]

    def _title(self, game: str, agent: str) -> str:
        if (game, agent) not in self._titles:
            try:
                self._titles[game, agent] = self.offers.agent(game, agent).title
            except BadInput:  # a run that is gone by now
                return agent
        return self._titles[game, agent]

    async def close(self) -> None:
        self._desk.shutdown(wait=False, cancel_futures=True)
        for task in [*self._tasks, *(live.driver for live in self._live.values() if live.driver)]:
            task.cancel()

    # --- pages -----------------------------------------------------------------------------------------------------

    async def join(self, live: Live, page: Send) -> None:
        """Begin to tell a page what happens at a table."""
        live.pages.add(page)
        live.changed.set()
        self._drive(live)
        async with live.lock:
            await page(await self._at_desk(self._describe, live))

    def leave(self, live: Live, page: Send) -> None:
        """Stop telling it."""
        live.pages.discard(page)
        live.changed.set()

    def rest(self, live: Live) -> None:
        """Put a table away where nobody looks and nothing goes on."""
        waits = live.driver is None or live.driver.done()
        if not live.holders and waits and self._live.get(live.table.id) is live:
            del self._live[live.table.id]

    async def tell(self, live: Live) -> None:
        """Tell all pages of a table how it stands."""
        async with live.lock:
            if live.pages:
                await self._send(live, await self._at_desk(self._describe, live))

    async def _send(self, live: Live, message: dict[str, Any]) -> None:
        for page in tuple(live.pages):
            await page(message)

    async def _at_desk(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._desk, work, *arguments)

    def _describe(self, live: Live) -> dict[str, Any]:
        table, game = live.table, live.table.game
        now = table.position(table.ply)
        if table.over:
            now |= {"turn": None, "over": True, "legal": []}
        sides, clock = side_names(game, table.state), table.clock
        return {
            "type": "table", "id": table.id, "game": table.name, "title": title_of(table.name),
            "seats": table.seats, "names": self.names(table), "sides": sides, "moves": table.moves,
            "hidden": game.hidden, "secret": table.secret, "turn": table.turn, "over": table.over,
            "start": None if table.secret else table.followed.record.start,
            "result": result_of(table, sides), "thinking": live.thinking, "preparing": live.preparing,
            "trouble": live.trouble, "paused": table.paused,
            "clock": clock and {
                "left": clock.now(table.turn, time.monotonic()), "increment": clock.increment,
                "running": table.turn if clock.since is not None else None,
            },
            "agents": self.list_agents(table.name), "formats": table.formats,
            "now": now,
        }  # fmt: skip

    def list_agents(self, name: str) -> list[dict[str, Any]]:
        """The agents of a game as pages know them."""
        game = self.offers.game(name)
        return [
            {
                "id": offer.id, "title": offer.title, "about": offer.about, "level": offer.level,
                "ready": self.brains.status(game, offer.text) == READY,
            }
            for offer in self.offers.agents_of(name)
        ]  # fmt: skip

    # --- what a page asks for --------------------------------------------------------------------------------------

    async def hear(self, live: Live, page: Send, message: Message) -> None:
        """Do what a page asks for; BadInput where that cannot be."""
        match message:
            case Move():
                await self._change(live, lambda table, now: table.play_named(message.move, message.ply, now))
            case Plain(type="undo"):
                await self._change(live, lambda table, now: table.undo(now))
            case Plain(type="resign"):
                await self._change(live, lambda table, now: table.resign())
            case Plain(type="swap"):
                await self._change(live, lambda table, now: table.swap(now))
            case Plain(type=kind):
                await self._change(live, lambda table, now: table.pause(kind == "pause", now))
            case Look():
                async with live.lock:
                    now = await self._at_desk(live.table.position, message.ply, message.variation)
                await page({"type": "position", "request": message.request, "now": now})
            case Analyse():
                await self._analyse(live, page, message)
            case ReviewGame():
                await self._review(live, page, message)

    async def _change(self, live: Live, change: Callable[[Table, float], None]) -> None:
        """Change a table as a whole, keep it, and tell everyone; even if whoever asked for it leaves meanwhile."""
        task = self.later(self._changed(live, change))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_log_unless_refused)  # nobody else will ask how it ended
            raise

    async def _changed(self, live: Live, change: Callable[[Table, float], None]) -> None:
        async with live.lock:
            if self._live.get(live.table.id) is not live:
                raise BadInput(DELETED)
            message = await self._at_desk(self._change_and_save, live, change)
            await self._send(live, message)
        live.changed.set()
        self._drive(live)

    def _change_and_save(self, live: Live, change: Callable[[Table, float], None]) -> dict[str, Any]:
        """Change a table and keep it; what is to be told of it."""
        change(live.table, time.monotonic())
        self._save(live.table)
        live.trouble = None
        live.thinking = self._is_agents_turn(live)
        return self._describe(live)

    @staticmethod
    def _is_agents_turn(live: Live) -> bool:
        """Whether an agent is about to think."""
        table = live.table
        return not table.over and table.mover != HUMAN and not table.paused

    async def _analyse(self, live: Live, page: Send, message: Analyse) -> None:
        table = live.table
        async with live.lock:
            state = await self._at_desk(table.look, message.ply, message.variation)
        if bool(table.game.over(state)):
            raise BadInput(f"the game is over there: {table.game.outcome_reason(state)}")
        if is_chance(table.game, state):
            raise BadInput("the dice decide next there, and nobody has to choose")
        if not table.may_choose(state):
            raise BadInput("it is not your turn there, and what the others hold is hidden")
        offer = self.offers.agent(table.name, message.agent)
        try:
            analysis = await asyncio.wrap_future(self.brains.get(table.game, offer.text, plays=False).analyse(state))
        except BadInput as error:
            raise BadInput(_public(offer, error)) from None
        told = {"ply": message.ply, "variation": list(message.variation), "agent": message.agent}
        turn = int(table.game.player(state))
        await page({"type": "analysis", "request": message.request, **told, "turn": turn, **analysis.as_json()})

    async def _review(self, live: Live, page: Send, message: ReviewGame) -> None:
        table, loop, gone = live.table, asyncio.get_running_loop(), threading.Event()
        table.must_be_told("a review looks at all hands")
        offer = self.offers.agent(table.name, message.agent)
        async with live.lock:
            followed = dataclasses.replace(
                table.followed, states=list(table.followed.states), actions=list(table.followed.actions)
            )
        head = {"type": "review", "request": message.request, "of": len(followed.states)}

        def progress(done: int, of: int) -> None:
            if gone.is_set():
                raise Stopped
            asyncio.run_coroutine_threadsafe(page({**head, "done": done, "values": [], "moves": []}), loop)

        try:
            brain = self.brains.get(table.game, offer.text, plays=False)
            found = await asyncio.wrap_future(brain.review(followed, progress))
        except BadInput as error:
            raise BadInput(_public(offer, error)) from None
        finally:
            gone.set()
        moves = [
            {"number": m.number, "side": m.side, "move": m.move, "best": m.best, "cost": m.cost, "mark": m.mark}
            for m in found.moves
        ]
        await page({**head, "done": len(followed.states), "values": found.curve, "moves": moves})

    # --- agents and clocks -----------------------------------------------------------------------------------------

    def _drive(self, live: Live) -> None:
        """See to it that what a table waits for happens."""
        if live.driver is None or live.driver.done():
            if live.table.over or (live.table.mover == HUMAN and live.table.clock is None):
                return
            live.driver = asyncio.create_task(self._driven(live))

    async def _driven(self, live: Live) -> None:
        table = live.table
        while not table.over:
            live.changed.clear()
            if table.mover == HUMAN:
                left = self._left(table)
                if table.clock is None or (left is None and not live.pages):
                    break
                await self._wait(live, left)
            elif table.paused or (HUMAN not in table.seats and not live.pages):
                table.stop_clock(time.monotonic())
                if not live.pages:
                    break
                await self._wait(live, None)
                table.start_clock(time.monotonic())
            else:
                await self._agent_moves(live)
                if live.trouble and not live.pages:
                    break
            async with live.lock:
                flagged = table.flag(time.monotonic())
                if flagged:
                    await self._at_desk(self._save, table)
            if flagged:
                await self.tell(live)
        # The task is not done yet while it runs this, so that a table nobody looks at is put away by its own hand.
        live.driver = None
        self.rest(live)

    @staticmethod
    def _left(table: Table) -> float | None:
        clock, turn = (
            table.clock,
            table.turn,
        )  # once: a move in another thread may end the game
        if clock is None or clock.since is None or turn is None:
            return None
        return clock.now(turn, time.monotonic())[turn] + 0.01

    @staticmethod
    async def _wait(live: Live, seconds: float | None) -> None:
        """Until something changes, or for so long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(live.changed.wait(), seconds)

    async def _agent_moves(self, live: Live) -> None:
        """Let an agent make its move, unless someone changes the table meanwhile or its time is over first."""
        table = live.table
        state, agent = table.state, table.mover
        assert agent is not None
        try:
            offer = await self._at_desk(self.offers.agent, table.name, agent)
        except BadInput as error:
            return await self._give_up(live, state, agent, str(error))
        if self.brains.get(table.game, offer.text).status != READY:
            if not await self._prepare(live, offer, state, agent):
                return None
        elif not live.thinking:
            live.thinking = True
            await self.tell(live)
        if HUMAN not in table.seats:
            table.stop_clock(time.monotonic())
            await asyncio.sleep(self.limits.watch_seconds)
            table.start_clock(time.monotonic())
        # It was asked for a moment ago, so it is not asleep: nobody else had a turn between this line and the next.
        answer = asyncio.wrap_future(self.brains.get(table.game, offer.text).choose(state))
        await asyncio.wait({answer}, timeout=self._left(table))
        if not answer.done():
            live.thinking = False
            return None  # its flag has fallen
        problem = answer.exception()
        if problem is None and answer.result() not in table.game.legal_actions(state):
            problem = BadInput("its move is not legal")
        if problem is not None:
            return await self._give_up(live, state, agent, _public(offer, problem))
        async with live.lock:
            # The same position, and not only the same number of moves: some may have been taken back and others made.
            if table.state is state and table.mover == agent and not table.paused:
                action = answer.result()
                message = await self._at_desk(self._change_and_save, live, lambda table, now: table.play(action, now))
                await self._send(live, message)
                return None
            live.thinking = self._is_agents_turn(live)
        await self.tell(live)
        return None

    async def _prepare(self, live: Live, offer: AgentOffer, state: State, agent: str) -> bool:
        """Wait until an agent is compiled, and say so; nobody loses time to that. Whether it can play.

        `agent` was to move at `state` when it was asked for: it may no longer be.
        """
        table = live.table
        live.thinking, live.preparing = True, f"compiling {offer.title}: the first time this takes a while"
        table.stop_clock(time.monotonic())
        await self.tell(live)
        problem = None
        try:
            await asyncio.wrap_future(self.brains.get(table.game, offer.text).prepare())
        except BadInput as error:
            problem = error
        live.preparing = None
        if table.state is state:
            table.start_clock(time.monotonic())
        if problem is not None:
            await self._give_up(live, state, agent, _public(offer, problem))
            return False
        await self.tell(live)
        return True

    async def _give_up(self, live: Live, state: State, agent: str | None, why: str) -> None:
        """An agent that cannot play: people can undo, swap or begin anew."""
        if live.table.state is not state or live.table.mover != agent:
            return  # it is no longer asked
        live.trouble, live.thinking = why, False
        await self.tell(live)
        if live.pages:
            await self._wait(live, None)

    def later(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something beside everything else."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _log_unless_refused(task: asyncio.Task[None]) -> None:
    """Log the fault that ended a task; a change that was refused is none."""
    fault = None if task.cancelled() else task.exception()
    if fault is not None and not isinstance(fault, BadInput):
        _LOG.error("a change ended in a fault", exc_info=fault)


def _public(offer: AgentOffer, problem: BaseException) -> str:
    """Why an agent cannot play, without what only the server's owner may know, such as a path."""
    if offer.text == offer.id:
        return f"{offer.title} cannot play: {problem}"
    _LOG.warning("%s: %s", offer.text, problem)
    return f"{offer.title} cannot play: the server's own messages say why"


def _read_record(text: str, game: str) -> GameRecord:
    """The first game in a text of any format."""
    head = text.lstrip()[:1]
    kind = ".jsonl" if head == "{" else ".pgn" if head == "[" or "1." in text[:200] else ".txt"
    found = next(iter(parse_records(text, kind, game)), None)
    if found is None:
        raise BadInput("the record holds no game")
    return found
