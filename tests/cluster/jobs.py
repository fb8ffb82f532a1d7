"""Pieces of work for tests."""

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


def add(shared: int, piece: int) -> int:
    return shared + piece


def add_slowly(seconds: float, piece: int) -> int:
    time.sleep(seconds)
    return piece + 1


def die_at_first(folder: str, piece: int) -> int:
    """The worker that gets a piece first is killed, as the kernel does when memory runs out."""
    if _first(folder, piece):
        os.kill(os.getpid(), signal.SIGKILL)
    return piece


def full_at_first(folder: str, piece: int) -> int:
    if _first(folder, piece):
        raise ray.exceptions.ObjectStoreFullError("no room")
    return piece


def starve_at_first(folder: str, piece: int) -> int:
    """What asks for too much memory, and is told so."""
    if _first(folder, piece):
        raise MemoryError
    return piece


def devour_at_first(folder: str, piece: int) -> int:
    """The worker that gets a piece first takes memory until it is killed, or has taken far too much."""
    held = []
    if _first(folder, piece):
        for _ in range(40):
            held.append(b"1" * (200 * 2**20))
            time.sleep(0.1)
    return piece


def refuse(shared: int, piece: int) -> None:
    raise BadInput("no such thing (there are: others)")


def play_first_moves(shared: str, piece: int) -> str:
    """The name of a game that was read from a file, and of its first moves."""
    game = make_game(shared)
    state = game.init(jax.random.key(0))
    return " ".join([game.name, *(game.action_name(state, action) for action in game.legal_actions(state))])


def look_at(shared: dict[str, np.ndarray], piece: int) -> tuple[str, int, str]:
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


def stop_at_first(folder: str, piece: int) -> int:
    """The worker that gets piece 0 first is stopped in the middle of it, as a machine that hangs."""
    if piece == 0 and _first(folder, piece):
        os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(0.05)
    return piece


def _first(folder: str, piece: int) -> bool:
    try:
        (Path(folder) / str(piece)).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def die(shared: int, piece: int) -> None:
    os._exit(1)


def fail(shared: int, piece: int) -> None:
    raise ValueError(f"piece {piece} is wrong")


def weigh(shared: bytes, piece: int) -> bytes:
    """Something large, made of something large."""
    return shared[:piece]


def where(shared: None, piece: int) -> tuple[str, int]:
    time.sleep(0.1)
    return ray.get_runtime_context().get_node_id(), os.getpid()
