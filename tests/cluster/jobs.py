"""Functions of work items, for tests."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import jax
import numpy as np
import ray

from beamzero.core.errors import BadInput
from beamzero.games import make_game


def add(shared: int, item: int) -> int:
    return shared + item


def add_slowly(seconds: float, item: int) -> int:
    time.sleep(seconds)
    return item + 1


def die_at_first(folder: str, item: int) -> int:
    """The worker that gets an item first is killed, as the kernel does when memory runs out."""
    if _first(folder, item):
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def full_at_first(folder: str, item: int) -> int:
    if _first(folder, item):
        raise ray.exceptions.ObjectStoreFullError("no room")
    return item


def starve_at_first(folder: str, item: int) -> int:
    """The worker that gets an item first asks for too much memory."""
    if _first(folder, item):
        raise MemoryError
    return item


def devour_at_first(folder: str, item: int) -> int:
    """The worker that gets an item first takes memory until it is killed, or has taken far too much."""
    held = []
    if _first(folder, item):
        for _ in range(40):
            held.append(b"1" * (200 * 2**20))
            time.sleep(0.1)
    return item


def refuse(shared: int, item: int) -> None:
    raise BadInput("no such thing (there are: others)")


def play_first_moves(shared: str, item: int) -> str:
    """The name of a game that was read from a file, and of its first moves."""
    game = make_game(shared)
    state = game.init(jax.random.key(0))
    return " ".join([game.name, *(game.action_name(state, action) for action in game.legal_actions(state))])


def look_at(shared: dict[str, np.ndarray], item: int) -> tuple[str, int, str]:
    """On which machine who looks at what all share, and which place of which file in memory that is."""
    time.sleep(0.05)
    data = shared["weights"].__array_interface__["data"][0]
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, _, offset, device, inode, *_ = line.split()
        low, high = (int(end, 16) for end in span.split("-"))
        if low <= data < high:
            node = ray.get_runtime_context().get_node_id()
            return node, os.getpid(), f"{device} {inode} {int(offset, 16) + data - low}"
    raise AssertionError("it lies nowhere")


def stop_at_first(folder: str, item: int) -> int:
    """The worker that gets item 0 first is stopped in the middle of it, as a machine that hangs."""
    if item == 0 and _first(folder, item):
        os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(0.05)
    return item


def _first(folder: str, item: int) -> bool:
    try:
        (Path(folder) / str(item)).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def die(shared: int, item: int) -> None:
    os._exit(1)


def fail(shared: int, item: int) -> None:
    raise ValueError(f"item {item} is wrong")


def weigh(shared: bytes, item: int) -> bytes:
    """Something large, made of something large."""
    return shared[:item]


def where(shared: None, item: int) -> tuple[str, int]:
    time.sleep(0.1)
    return ray.get_runtime_context().get_node_id(), os.getpid()
