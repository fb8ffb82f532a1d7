"""Pieces of work for tests."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import ray


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
