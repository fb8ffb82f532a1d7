"""Memory: how much is free, how much something would take, and an error where that is more.

Estimates are products of shapes and whole numbers: nothing large is made or compiled for them. They count what grows
with the settings and leave out what every process takes, so that they are rather too low than too high.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax

from beamzero.core.errors import BadInput
from beamzero.games import Game

Needs = Mapping[str, int]
"""Bytes that something takes, about, by the advice that would lower them, such as "fewer games (now 100)"."""


def fewer(**settings: int) -> str:
    """Write the advice to lower settings that count something, such as "fewer games (now 100)"."""
    return "fewer " + " or ".join(f"{name} (now {now})" for name, now in settings.items())


def smaller(**settings: Any) -> str:
    """Write the advice to lower settings that are sizes, such as "a smaller batch (now 64)"."""
    return "a smaller " + " or ".join(f"{name} (now {now})" for name, now in settings.items())


def together(*needs: Needs) -> Needs:
    """Add up needs of the same time, by advice."""
    return {what: sum(one.get(what, 0) for one in needs) for one in needs for what in one}


def heaviest(*needs: Needs) -> Needs:
    """Choose the largest of needs that come one after another."""
    return max(needs, key=total_bytes)


def total_bytes(needs: Needs) -> int:
    """Add up all bytes of some needs."""
    return sum(needs.values())


def bytes_of(tree: Any) -> int:
    """Count the bytes of a pytree of arrays or of shapes."""
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


@functools.lru_cache(maxsize=256)
def state_bytes(game: Game) -> int:
    """Count the bytes of one state of a game."""
    return bytes_of(jax.eval_shape(game.init, jax.eval_shape(jax.random.key, 0)))


def check_memory(needs: Needs, what: str = "this", on_host: bool = False, instead: str | None = None) -> None:
    """Raise BadInput where `what` would take more than is free, with the figures and what to lower.

    With `on_host` it is the memory of the machine that counts, even where programs run on a GPU. `instead` is the
    advice where nothing can be lowered.
    """
    needed, free = total_bytes(needs), host_free_bytes() if on_host else free_bytes()
    if needed <= free:
        return
    raise BadInput(
        f"{what} would take about {_gigabytes(needed)}, but {_gigabytes(free)} are free: {instead or _advice(needs)}"
    )


def _advice(needs: Needs) -> str:
    """Write the advice that lowers most, and all that lower at least a quarter as much."""
    most = max(needs.values())
    largest = sorted((what for what in needs if 4 * needs[what] >= most), key=lambda what: -needs[what])
    return f"use {', or '.join(largest)}"


def _gigabytes(number: int) -> str:
    """Write a number of bytes in GB or MB."""
    if number >= 10 * 2**30:
        return f"{number // 2**30:,} GB"
    return f"{number / 2**30:.1f} GB" if number >= 2**30 else f"{number // 2**20} MB"


# --- what there is ---------------------------------------------------------------------------------------------------


def free_bytes() -> int:
    """Count the bytes that this process may still take, on the device that programs run on."""
    if jax.default_backend() == "cpu":
        return host_free_bytes()
    stats = jax.devices()[0].memory_stats() or {}
    return int(stats.get("bytes_limit", 2**40)) - int(stats.get("bytes_in_use", 0))


def host_free_bytes() -> int:
    """Count the bytes of the machine's own memory that this process may still take, also by its cgroups.

    The page cache counts as free.
    """
    return max(0, min([_available_bytes(), *cgroup_rooms()]))


def host_memory_bytes() -> int:
    """Count the bytes of this machine's memory, free or not, without that of its GPU."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _available_bytes() -> int:
    """Count the bytes that Linux says are available; all memory on other systems."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return host_memory_bytes()


_CGROUPS = {
    "": ("", "memory.max", "memory.current", "inactive_file"),
    "memory": ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""The folder and the names of limit, usage and page cache, by controller in /proc/self/cgroup: version 2, then 1."""


def cgroup_rooms(groups: str | None = None, root: Path = Path("/sys/fs/cgroup")) -> list[int]:
    """List the bytes that each control group with a limit leaves to this process.

    `groups` is the text of /proc/self/cgroup.
    """
    try:
        groups = Path("/proc/self/cgroup").read_text() if groups is None else groups
    except OSError:
        return []
    rooms = []
    for line in groups.splitlines():
        _, controller, path = line.split(":", 2)
        if controller not in _CGROUPS:
            continue
        top, *names = _CGROUPS[controller]
        for folder in _and_parents(root / top, path):
            room = _room(folder, *names)
            rooms += [] if room is None else [room]
    return rooms


def _and_parents(top: Path, path: str) -> Iterator[Path]:
    """Yield the folder `path` under `top` and all folders above it, up to `top`."""
    parts = [part for part in path.split("/") if part]
    return (top.joinpath(*parts[:number]) for number in range(len(parts), -1, -1))


def _room(folder: Path, limit: str, used: str, copies: str) -> int | None:
    """Read how many bytes a control group has left; None where it has no limit, or cannot be read."""
    try:
        most, now = int((folder / limit).read_text()), int((folder / used).read_text())
        counts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return most - now + int(counts.get(copies, 0))
    except (OSError, ValueError):
        return None
