"""The server: its addresses, and what answers each."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import importlib.resources
from collections.abc import AsyncIterator, Collection
from pathlib import Path as FilePath
from typing import Annotated, Any

import jax
from fastapi import FastAPI, Path, Query, Request, Response, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from beamzero.core.errors import BadInput
from beamzero.games import Game
from beamzero.web.agents import AgentPool
from beamzero.web.background import Background
from beamzero.web.guard import App, Guard
from beamzero.web.limits import Limits
from beamzero.web.messages import Name, NewTable, first_problem
from beamzero.web.offers import Offers, title_of
from beamzero.web.pages import Pages, names_of_sides
from beamzero.web.requests import Requests
from beamzero.web.runs import describe_runs, run_rows
from beamzero.web.sessions import Sessions, UnknownSession
from beamzero.web.socket import Page
from beamzero.web.store import SessionStore
from beamzero.web.turns import SessionTurns

STATIC = FilePath(str(importlib.resources.files("beamzero.web") / "static"))

HOSTS = ("127.0.0.1", "localhost", "::1")
LIMITS = Limits()

_REASON = 120
"""The longest reason in bytes that fits in the frame that closes a socket."""

SessionId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{22}$")]


class Problem(BaseModel):
    """A problem, in one line."""

    error: str


class Created(BaseModel):
    id: str


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        400: "it cannot be done", 403: "not from here", 404: "there is none", 413: "too large", 422: "not of that form",
    }.items()
}  # fmt: skip


def make_app(offers: Offers, store: SessionStore, hosts: Collection[str] = HOSTS, limits: Limits = LIMITS) -> App:
    """Make the server, an ASGI application. It closes the store when it ends."""
    agents, background = AgentPool(limits.think_seconds), Background()
    pages = Pages(offers, agents, background)
    sessions = Sessions(offers, store, pages, background, limits)
    turns = SessionTurns(offers, agents, sessions, pages, background, limits)
    requests = Requests(offers, agents, sessions, pages, turns, background)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        background.close()
        agents.close()
        store.close()

    app = FastAPI(
        title="beamzero", version=importlib.metadata.version("beamzero"), lifespan=lifespan, docs_url=None,
        redoc_url=None, openapi_url="/api/openapi.json", responses=_PROBLEMS,
    )  # fmt: skip
    app.state.agents = agents
    _add_errors(app)
    _add_games(app, offers, pages, limits)
    _add_sessions(app, requests, sessions, store, limits)
    _add_runs(app, offers)
    _add_socket(app, requests, sessions, background, limits)
    _add_pages(app)
    return Guard(app, hosts, limits)


def _add_errors(app: FastAPI) -> None:
    def problem(status: int, text: str) -> JSONResponse:
        return JSONResponse({"error": text}, status)

    @app.exception_handler(BadInput)
    async def bad_input(request: Request, error: BadInput) -> JSONResponse:
        return problem(400, str(error))

    @app.exception_handler(UnknownSession)
    async def not_there(request: Request, error: UnknownSession) -> JSONResponse:
        return problem(404, "you have no such game")

    @app.exception_handler(RequestValidationError)
    async def not_of_that_form(request: Request, error: RequestValidationError) -> JSONResponse:
        return problem(422, first_problem(error.errors()))

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        answer = problem(error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer


def _add_games(app: FastAPI, offers: Offers, pages: Pages, limits: Limits) -> None:
    # Made now, and not while the first page waits: it takes a position of every game.
    about = {
        name: {
            "id": name, "title": title_of(name), "about": (type(game).__doc__ or "").strip().split("\n")[0],
            "sides": names_of_sides(game, jax.device_get(game.init(jax.random.key(0)))), "first": _first_side(game),
            "default": offers.default_agent(name).id, "hidden": game.hidden,
        }
        for name, game in ((name, offers.game(name)) for name in offers.games)
    }  # fmt: skip

    @app.get("/api/games", summary="The games that can be played here, and who plays them")
    def games() -> dict[str, Any]:
        found = [{**about[name], "agents": pages.list_agents(name)} for name in offers.games]
        return {"games": found, "limits": {"think_seconds": limits.think_seconds}, "version": app.version}


def _add_sessions(app: FastAPI, requests: Requests, sessions: Sessions, store: SessionStore, limits: Limits) -> None:
    @app.post("/api/tables", status_code=201, summary="Begin a game")
    async def create(request: Request, wish: NewTable) -> Created:
        return Created(id=await requests.create(_client(request), wish))

    @app.get("/api/tables", summary="Your own games, the last changed first")
    async def tables(request: Request) -> dict[str, Any]:
        rows = await asyncio.to_thread(store.of_client, _client(request), limits.sessions)
        found = [
            {"id": row.id, "game": row.game, "title": title_of(row.game), **row.summary, "updated": row.updated}
            for row in rows
        ]
        return {"tables": found}

    @app.delete("/api/tables/{id}", status_code=204, summary="Forget a game")
    async def delete(request: Request, id: SessionId) -> None:
        await sessions.delete(_client(request), id)

    @app.get("/api/tables/{id}/record", summary="A game as a file", response_class=Response)
    async def record(
        request: Request, id: SessionId, format: Annotated[str, Query(pattern="^(jsonl|txt|pgn)$")] = "jsonl"
    ) -> Response:
        live = await sessions.open(_client(request), id)
        try:
            text = await requests.write_record(live, format)
        finally:
            sessions.release(live)
        headers = {"content-disposition": f'attachment; filename="game.{format}"'}
        return Response(text, media_type="text/plain; charset=utf-8", headers=headers)


def _add_runs(app: FastAPI, offers: Offers) -> None:
    @app.get("/api/runs", summary="The training runs of the server's folder")
    def runs() -> dict[str, Any]:
        return {"runs": describe_runs(offers)}

    @app.get("/api/runs/{id}", summary="What a run measured after an iteration")
    def run(id: Annotated[Name, Path()], after: Annotated[int, Query(ge=0, le=2**31)] = 0) -> dict[str, Any]:
        return run_rows(offers, id, after)


def _add_socket(app: FastAPI, requests: Requests, sessions: Sessions, background: Background, limits: Limits) -> None:
    open_pages: dict[str, int] = {}

    @app.websocket("/api/tables/{id}/socket")
    async def socket(socket: WebSocket, id: str) -> None:
        client = socket.scope["client_token"]
        if open_pages.get(client, 0) >= limits.sockets or sum(open_pages.values()) >= limits.all_sockets:
            return await socket.close(1008, "too many pages are open")
        open_pages[client] = open_pages.get(client, 0) + 1
        try:
            try:
                live = await sessions.open(client, id)
            except (UnknownSession, BadInput) as error:
                await socket.accept()
                reason = (str(error) or "you have no such game").encode()[:_REASON].decode(errors="ignore")
                await socket.close(4404, reason)
                return None
            try:
                await socket.accept()
                await Page(socket, requests, background, live, limits).run()
            finally:
                sessions.release(live)
        finally:
            open_pages[client] -= 1
            if not open_pages[client]:
                del open_pages[client]
        return None


def _add_pages(app: FastAPI) -> None:
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    def page(path: str, file: str) -> None:
        @app.api_route(path, methods=["GET", "HEAD"], include_in_schema=False)
        def show() -> FileResponse:
            return FileResponse(STATIC / file)

    page("/", "index.html")
    page("/runs", "runs.html")


def _client(request: Request) -> str:
    return request.scope["client_token"]


def _first_side(game: Game) -> int | None:
    """Return the side that moves first; None where that is drawn."""
    first = {int(game.player(game.init(jax.random.key(seed)))) for seed in range(10 if game.num_chance else 1)}
    return first.pop() if len(first) == 1 else None
