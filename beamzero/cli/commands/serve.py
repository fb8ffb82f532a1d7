"""`beamzero serve`: the server of the page in the browser."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Annotated

import jax
import typer

from beamzero.cli.common import RUNS_FOLDER, AsJson, err, out, print_json
from beamzero.core.errors import BadInput
from beamzero.core.leaving import PATIENT_PRESSES
from beamzero.games import GAMES, make_game
from beamzero.players import make_player

if TYPE_CHECKING:  # it needs what the extra `web` installs
    from beamzero.web.agents import AgentPool
    from beamzero.web.offers import Offers

GamesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--game", metavar="GAME", help="A game to offer, also a file of yours; may be repeated. By default all."
    ),
]
AgentsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        metavar="GAME=AGENT",
        help="Another agent to offer, such as connect_four=probs:runs/c4; may be repeated.",
    ),
]


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes any free one.")] = 8000,
    host: Annotated[
        str, typer.Option(help="The address to listen on; another one than 127.0.0.1 lets other machines in.")
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another name that this server goes by; may be repeated.")
    ] = None,
    game: GamesOption = None,
    agent: AgentsOption = None,
    runs: Annotated[Path, typer.Option(help="The folder of the training runs to show.")] = RUNS_FOLDER,
    keep: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The SQLite file of the games; by default in your home folder.")
    ] = None,
    think_seconds: Annotated[
        float, typer.Option(min=0.05, max=3600, help="The longest that an agent may think about a move.")
    ] = 10.0,
    warm: Annotated[
        bool, typer.Option(help="Compile the default opponents of the games that --game names at the start.")
    ] = True,
    browser: Annotated[bool, typer.Option(help="Open the page in your browser.")] = True,
    json: AsJson = False,
) -> None:
    """Serve the web page: play with the mouse, see what agents think, watch training runs. Ctrl-C ends it."""
    if missing := [name for name in ("fastapi", "uvicorn", "websockets") if importlib.util.find_spec(name) is None]:
        raise BadInput(f"the web page needs {', '.join(missing)}: pip install 'beamzero[web]'")
    import uvicorn

    from beamzero.web.app import HOSTS, make_app
    from beamzero.web.limits import Limits
    from beamzero.web.offers import Offers
    from beamzero.web.store import SessionStore

    if runs.exists() and not runs.is_dir():
        raise BadInput(f"{runs} is a file, but runs are kept in a folder")
    names = _games(game)
    offers = Offers(names, _agents(agent or [], names), runs)
    for name in names:
        offers.agents_of(name)
    jax.devices()  # where JAX cannot be used, that is found before anything is written
    file = _file(keep)
    listening = _listen(host, port)
    with contextlib.ExitStack() as undo:
        undo.callback(listening.close)
        alone = undo.enter_context(_alone(file))
        undo.callback(os.remove, alone.name)
        store = SessionStore(file)
        undo.pop_all()
    app = make_app(offers, store, {*HOSTS, host, *(allow_host or [])}, Limits(think_seconds=think_seconds))
    shown = "127.0.0.1" if host in ("0.0.0.0", "") else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}/"
    config = uvicorn.Config(
        app,
        log_level="warning",
        ws="websockets-sansio",
        ws_max_size=2**20,
        ws_per_message_deflate=False,
        server_header=False,
    )
    server = uvicorn.Server(config)
    setattr(server, "handle_exit", _patient(server.handle_exit))  # noqa: B010 - mypy knows it as a method

    def greet() -> None:
        while not server.started:
            time.sleep(0.01)
        if json:
            print_json({"address": address, "games": names})
        else:
            out.print(f"beamzero is at {address} (Ctrl-C ends it)")
        if browser and out.is_terminal and not json:
            webbrowser.open(address)
        if warm and game:
            _warm(offers, app.app.state.agents, names)  # type: ignore[attr-defined]

    threading.Thread(target=greet, daemon=True).start()
    try:
        server.run(sockets=[listening])
    finally:
        alone.close()


def _patient(handle_exit: Callable[[int, FrameType | None], None]) -> Callable[[int, FrameType | None], None]:
    """Make a handler that ignores the second Ctrl-C and the next few.

    The first ends the server. At the second, uvicorn would leave its tasks undone and show their errors, so that only
    a person who presses on and on gets there.
    """
    presses = itertools.count(1)

    def hear(number: int, frame: FrameType | None) -> None:
        press = next(presses)
        if press == 1 or press > PATIENT_PRESSES:
            handle_exit(number, frame)

    return hear


def _games(wanted: list[str] | None) -> list[str]:
    names = list(dict.fromkeys(wanted)) if wanted else list(GAMES.built_in)
    for name in names:
        make_game(name)
    return names


def _agents(wanted: list[str], names: list[str]) -> list[tuple[str, str]]:
    found = []
    for text in wanted:
        game, _, agent = text.partition("=")
        if game not in names or not agent:
            raise BadInput(f"{text!r} must be GAME=AGENT with a game that is offered ({', '.join(names)})")
        make_player(agent, make_game(game))
        found.append((game, agent))
    return found


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise BadInput(f"cannot listen on {host}:{port}: {(error.strerror or str(error)).lower()}") from None
    return listening


def _alone(file: Path) -> IO[str]:
    """Lock the file of games against other servers, until the process ends. Returns the open lock file."""
    try:
        lock = open(f"{file}.lock", "a+")  # noqa: SIM115 - held for as long as the server runs
    except OSError as error:
        raise BadInput(f"{file} cannot keep games: {error.strerror}") from None
    try:
        import fcntl

        fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # Windows has no such lock
        pass
    except BlockingIOError:
        lock.close()
        raise BadInput(f"another server keeps its games in {file}: name another file with --keep") from None
    return lock


def _file(keep: Path | None) -> Path:
    """Return the file of games; the default folder is made where it is missing."""
    if keep is not None:
        if not keep.parent.is_dir():
            raise BadInput(f"{keep}: there is no folder {keep.parent}")
        return keep
    folder = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "beamzero"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder} cannot be made ({error.strerror}): name a file with --keep") from None
    return folder / "games.sqlite"


def _warm(offers: Offers, agents: AgentPool, names: list[str]) -> None:
    """Compile the default opponent of every game, one after the other."""
    for name in names:
        worker = agents.get(offers.game(name), offers.default_agent(name).text)
        try:
            worker.prepare().result()
        except Exception as error:
            err.print(f"{name}: {error}", style="yellow")
