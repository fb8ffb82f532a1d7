"""The web server under load: many games at once, the first page, an agent's first move, and memory over many moves.

    python benchmarks/web_load.py [--games 100] [--moves 10000]

A server is started as users start it, on this machine, with Connect Four against `lookahead:1`, which looks once. The
clients run in a process of their own, on the same cores. They answer after `--pause` seconds, as quick people do, and
then without any pause, which is as much as the server can take.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import httpx2
import numpy as np
import websockets

AGENT = "lookahead:1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--pause", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--moves", type=int, default=10_000, help="over which memory is watched")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process, address = start(Path(folder))
        try:
            asyncio.run(measure(options, process, address))
        finally:
            process.terminate()
            process.wait()


def start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "beamzero", "serve", "--port", "0", "--no-warm", "--json"]
    command += ["--keep", str(folder / "games.sqlite"), "--runs", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())["address"]


async def measure(options: argparse.Namespace, process: subprocess.Popen[str], address: str) -> None:
    print(f"the first page and all it loads: {first_page(address):.2f} s")
    compiling, first = await first_move(address)
    print(f"an agent's first move: {first * 1000:.0f} ms after it is ready, which took {compiling:.1f} s of compiling")
    for pause in (options.pause, 0.0):
        times = await play(address, options.games, pause, options.seconds)
        shares = " ".join(f"{np.percentile(times, share) * 1000:.0f}" for share in (50, 95, 99))
        rate = len(times) / options.seconds
        print(f"{options.games} games, {pause:g} s between moves: 50, 95, 99% within {shares} ms; {rate:.0f} answers/s")
    memory, done = [megabytes(process.pid)], 0
    while done < options.moves:
        done += len(await play(address, options.games, 0.0, 5.0))
        memory.append(megabytes(process.pid))
    half = memory[len(memory) // 2]
    print(f"memory over {done:,} answers: {memory[0]:.0f} MiB, {half:.0f} half way, {memory[-1]:.0f} at the end")


def megabytes(process: int) -> float:
    """Return the memory of a process, in megabytes."""
    return int(subprocess.check_output(["ps", "-o", "rss=", "-p", str(process)])) / 1024


def first_page(address: str) -> float:
    """Measure the seconds for the page, its styles and scripts, and the list of games."""
    static = Path(__file__).parent.parent / "beamzero" / "web" / "static"
    names = [f"static/{path.relative_to(static)}" for path in sorted(static.rglob("*")) if path.is_file()]
    began = time.perf_counter()
    for name in ["", *names, "api/games"]:
        urllib.request.urlopen(address + name).read()
    return time.perf_counter() - began


async def first_move(address: str) -> tuple[float, float]:
    """Measure the seconds until a new agent is ready, and from then to its answer."""
    client, id = await begin(address, ("lookahead:1", "human"))
    began = time.perf_counter()
    ready = began
    async with connect(address, client, id) as page:
        while not (table := json.loads(await page.recv()))["moves"]:
            if table["preparing"]:
                ready = time.perf_counter()
            elif ready > began:
                ready = time.perf_counter()
                break
        while not table["moves"]:
            table = json.loads(await page.recv())
    return ready - began, time.perf_counter() - ready


async def begin(address: str, seats: tuple[str, str]) -> tuple[str, str]:
    """Begin a game in a new browser. Returns its cookie and the id of the game."""
    # Without verify=False each new browser would read all certificates of this machine, for tens of milliseconds.
    async with httpx2.AsyncClient(base_url=address, verify=False) as browser:
        answer = await browser.post("/api/tables", json={"game": "connect_four", "seats": list(seats)})
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items()), answer.json()["id"]


def connect(address: str, cookie: str, id: str) -> websockets.connect:
    socket = address.replace("http", "ws") + f"api/tables/{id}/socket"
    return websockets.connect(socket, additional_headers={"Cookie": cookie}, origin=address.rstrip("/"))  # type: ignore[arg-type]


async def play(address: str, games: int, pause: float, seconds: float) -> list[float]:
    """Measure the seconds from each move to the agent's answer, with many games at once."""
    times: list[float] = []
    ends = time.perf_counter() + seconds

    async def one(number: int) -> None:
        draw = random.Random(number)
        while time.perf_counter() < ends:
            cookie, id = await begin(address, ("human", AGENT))
            async with connect(address, cookie, id) as page:
                table = json.loads(await page.recv())
                await asyncio.sleep(draw.random() * pause)  # people do not move all at the same moment
                while not table["over"] and time.perf_counter() < ends:
                    move = draw.choice(table["now"]["legal"])["move"]
                    began, before = time.perf_counter(), len(table["moves"])
                    await page.send(json.dumps({"type": "move", "ply": before, "move": move}))
                    while not table["over"] and (len(table["moves"]) < before + 2 or table["thinking"]):
                        table = json.loads(await page.recv())
                    times.append(time.perf_counter() - began)
                    await asyncio.sleep(pause)

    await asyncio.gather(*(one(number) for number in range(games)))
    return times


if __name__ == "__main__":
    main()
