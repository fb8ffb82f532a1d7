"""Send garbage to engines, line by line, and to the web server, by HTTP and by sockets: nothing may fall over.

A line or a message is random bytes, or something right with some of it changed. In the end each of them must still
answer as in the beginning, and must not have grown by more than 50 MB.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from soak.damage import HOSTILE, _change_json, damaged
from soak.tally import Clock, Tally

MOST_GROWTH = 50.0
"""MB that a process may have more in the end."""

ENGINES = {
    "gtp": ("connect_four:rows=4,columns=4,length=3", "name",
            ["boardsize 4", "clear_board", "play b a1", "genmove w", "undo", "showboard", "list_commands", "komi 1.5"]),
    "uci": ("chess6x6", "isready",
            ["position startpos moves e2e3", "go depth 1", "setoption name Hash value 1", "ucinewgame", "uci", "stop"]),
    "nboard": ("othello", "ping 1",
               ["set game (;GM[Othello]PC[x]DT[]PB[]PW[]RE[?]TI[0]TY[4]BO[4 ----*O--O*----- *];)", "move A2", "hint 1",
                "set depth 1", "go", "learn", "ping 7"]),
}  # fmt: skip
"""Protocol, game, a line that is always answered, and lines to change."""


def garbage_trials(tally: Tally, folder: Path, seed: int, lines: int, messages: int, clock: Clock) -> None:
    """Send so many lines to the engines, shared among them, and messages to a server."""
    for protocol in ENGINES:
        if not clock.is_over:
            _engine(tally, protocol, random.Random(f"{seed}-{protocol}"), lines // len(ENGINES), clock)
    if not clock.is_over and messages:
        _server(tally, folder, random.Random(f"{seed}-server"), messages, clock)


def _lines(examples: list[str], rng: random.Random, number: int) -> list[bytes]:
    """Yield lines that are wrong in many ways."""
    found: list[bytes] = []
    while len(found) < number:
        text = rng.choice(examples).encode()
        for _ in range(rng.randrange(4)):
            text = damaged(text, rng)[:5000]
        line = text.replace(b"\n", b" ").replace(b"\r", b" ")
        if b"quit" not in line:
            found.append(line + b"\n")
    return found


def _engine(tally: Tally, protocol: str, rng: random.Random, number: int, clock: Clock) -> None:
    game, question, examples = ENGINES[protocol]
    words = [sys.executable, "-m", "beamzero", "engine", protocol, game, "random"]
    pool = _lines(examples, rng, 20_000)
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        answers, heard = [0], threading.Event()
        listener = threading.Thread(target=_listen, args=(process.stdout, answers, heard), daemon=True)
        listener.start()
        errors: list[bytes] = []
        threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True).start()  # type: ignore[union-attr]
        sent, started = 0, None
        try:
            while sent < number and not clock.is_over:
                batch = rng.choices(pool, k=1000)
                _ask(process.stdin, b"".join(batch), question, heard)
                sent += len(batch)
                started = started if started or sent < number / 10 else _megabytes(process.pid)
            grown = _megabytes(process.pid) - (started or 0.0)
            process.stdin.write(b"quit\n")
            process.stdin.close()
            status = process.wait(60)
        except (OSError, TimeoutError, subprocess.TimeoutExpired) as error:
            process.kill()
            tally.fail(f"lines to {protocol}", sent, f"{error!r} after {sent} lines: {b''.join(errors)[-500:]!r}")
            return
    tally.add(f"lines to the engine {protocol}", sent)
    said = b"".join(errors)
    if status or b"Traceback" in said:
        tally.fail(f"lines to {protocol}", sent, f"ended with status {status}: {said[-500:]!r}")
    if started and grown > MOST_GROWTH:
        tally.fail(f"lines to {protocol}", sent, f"grew by {grown:.0f} MB")


def _listen(stream: Any, answers: list[int], heard: threading.Event) -> None:
    for line in stream:
        answers[0] += 1
        if b"beamzero" in line or b"readyok" in line or b"pong" in line:
            heard.set()
    heard.set()


def _ask(stream: Any, data: bytes, question: str, heard: threading.Event) -> None:
    heard.clear()
    stream.write(data)
    stream.write(question.encode() + b"\n")
    stream.flush()
    if not heard.wait(120):
        raise TimeoutError("no answer for two minutes")


def _megabytes(process: int) -> float:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise OSError("it has ended")


# --- the server -------------------------------------------------------------------------------------------------------

MESSAGES: list[dict[str, Any]] = [
    {"type": "move", "ply": 0, "move": "a1"}, {"type": "undo"}, {"type": "swap"}, {"type": "resign"}, {"type": "go"},
    {"type": "look", "request": 1, "ply": 0, "variation": ["a1"]},
    {"type": "analyse", "request": 2, "ply": 0, "variation": [], "agent": "lookahead:1"},
    {"type": "review", "request": 3, "agent": "random"},
]  # fmt: skip
TABLE = {"game": "tic_tac_toe", "seats": ["human", "random"], "moves": [], "clock": {"minutes": 1.0, "increment": 0.0}}


def _server(tally: Tally, folder: Path, rng: random.Random, number: int, clock: Clock) -> None:
    words = [sys.executable, "-m", "beamzero", "serve", "--port", "0", "--no-browser", "--no-warm", "--json"]
    words += ["--game", "tic_tac_toe", "--keep", str(folder / "served.sqlite"), "--runs", str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        address = json.loads(process.stdout.readline())["address"]
        errors: list[str] = []
        threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True).start()  # type: ignore[union-attr]
        threading.Thread(target=process.stdout.read, daemon=True).start()
        try:
            asyncio.run(_talk(address, rng, 200, clock, tally))
            before = _megabytes(process.pid)
            asyncio.run(_talk(address, rng, number, clock, tally))
            _request(address, rng, number // 100, tally)
            if urllib.request.urlopen(f"{address}api/games", timeout=60).status != 200:
                tally.fail("messages to the server", "-", "no answer in the end")
            grown = _megabytes(process.pid) - before
            if grown > MOST_GROWTH:
                tally.fail("messages to the server", "-", f"grew by {grown:.0f} MB")
        except (OSError, TimeoutError) as error:
            tally.fail("messages to the server", "-", repr(error))
        process.terminate()
        process.wait(60)
    if "Traceback" in "".join(errors):
        tally.fail("messages to the server", "-", "".join(errors)[-500:])


async def _talk(address: str, rng: random.Random, number: int, clock: Clock, tally: Tally) -> None:
    """Open many pages at once, each as quick as a page may be."""
    share = -(-number // 64)
    seeds = [rng.random() for _ in range(64)]
    await asyncio.gather(*(_page(address, random.Random(seed), share, clock, tally) for seed in seeds))


async def _page(address: str, rng: random.Random, number: int, clock: Clock, tally: Tally) -> None:
    import httpx2
    import websockets

    sent = 0
    while sent < number and not clock.is_over:
        async with httpx2.AsyncClient(base_url=address, verify=False, timeout=120) as browser:
            answer = await browser.post("/api/tables", json=TABLE)
            cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        socket = f"{address.replace('http', 'ws')}api/tables/{answer.json()['id']}/socket"
        origin: Any = address.rstrip("/")
        with contextlib.suppress(websockets.ConnectionClosed):  # after too much of it, which is right
            async with websockets.connect(socket, additional_headers={"Cookie": cookie}, origin=origin) as page:
                reader = asyncio.create_task(_read_all(page))
                for _ in range(100):
                    await page.send(_message(rng))
                    sent += 1
                    tally.add("messages to the server")
                reader.cancel()


async def _read_all(page: Any) -> None:
    async for _ in page:
        pass


def _message(rng: random.Random) -> str | bytes:
    message = json.loads(json.dumps(rng.choice(MESSAGES)))
    if rng.random() < 0.5:
        message = _change_json(message, rng)
    text = json.dumps(message if rng.random() < 0.9 else rng.choice(HOSTILE))
    if rng.random() < 0.3:
        data = damaged(text.encode(), rng)[:16_000]
        return data if rng.random() < 0.2 else data.decode("latin-1")
    return text


def _request(address: str, rng: random.Random, number: int, tally: Tally) -> None:
    """Send requests that are wrong in many ways; none may be answered by 500."""
    for _ in range(number):
        path = rng.choice(["api/games", "api/tables", "api/runs", "api/tables/x", "static/../x", "runs", ""])
        if rng.random() < 0.5:
            path = damaged(path.encode(), rng)[:300].hex() if rng.random() < 0.5 else f"{path}?{rng.random()}=%00"
        body = json.dumps(_change_json(json.loads(json.dumps(TABLE)), rng)).encode()
        post = rng.random() < 0.6
        request = urllib.request.Request(address + path, data=body if post else None, method="POST" if post else "GET")
        try:
            status = urllib.request.urlopen(request, timeout=60).status
        except urllib.error.HTTPError as error:
            status = error.code
        tally.add("requests to the server")
        if status >= 500:
            tally.fail("requests to the server", path, f"status {status}")
