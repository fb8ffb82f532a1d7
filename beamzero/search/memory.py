"""How much memory there is, how much something would take, and the refusal where that is more.

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
"""About how many bytes are taken, by what a person would have to change for them to be fewer, as `fewer` says it."""


def fewer(**settings: int) -> str:
    """Name settings that count something, and what they are now."""
    return "fewer " + " or ".join(f"{name} (now {now})" for name, now in settings.items())


def smaller(**settings: Any) -> str:
    """Name settings, and what they are now."""
    return "a smaller " + " or ".join(f"{name} (now {now})" for name, now in settings.items())


def together(*needs: Needs) -> Needs:
    """Add up what is taken at the same time."""
    return {what: sum(one.get(what, 0) for one in needs) for one in needs for what in one}


def heaviest(*needs: Needs) -> Needs:
    """Choose the one that takes most, of things that are done one after another."""
    return max(needs, key=total_bytes)


def total_bytes(needs: Needs) -> int:
    """Add up all bytes."""
    return sum(needs.values())


def bytes_of(tree: Any) -> int:
    """Count the bytes of the arrays of a pytree, or of those that shapes stand for."""
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
    """Name what takes most, and what takes at least a quarter as much."""
    most = max(needs.values())
    largest = sorted((what for what in needs if 4 * needs[what] >= most), key=lambda what: -needs[what])
    return f"use {', or '.join(largest)}"


def _gigabytes(number: int) -> str:
    if number >= 10 * 2**30:
        return f"{number // 2**30:,} GB"
    return f"{number / 2**30:.1f} GB" if number >= 2**30 else f"{number // 2**20} MB"


# --- what there is ---------------------------------------------------------------------------------------------------


def free_bytes() -> int:
    """Find out how much memory this process may still take, on the device that programs run on."""
    if jax.default_backend() == "cpu":
        return host_free_bytes()
    stats = jax.devices()[0].memory_stats() or {}
    return int(stats.get("bytes_limit", 2**40)) - int(stats.get("bytes_in_use", 0))


def host_free_bytes() -> int:
    """Find out how much of the machine's own memory this process may still take: what others and its cgroups leave.

    What holds copies of files counts as free, since it is given up where it is needed.
    """
    return max(0, min([_available_bytes(), *cgroup_rooms()]))


def host_memory_bytes() -> int:
    """Count the memory of this machine, free or not, beside that of its GPU."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _available_bytes() -> int:
    """Ask Linux for what is available; elsewhere the whole memory stands for that."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return host_memory_bytes()


_CGROUPS = {
    "": ("", "memory.max", "memory.current", "inactive_file"),
    "memory": ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""By the controller in /proc/self/cgroup, version 2 and version 1: the folder, and the names of the limit, of what is
used, and of the files' copies among that."""


def cgroup_rooms(groups: str | None = None, root: Path = Path("/sys/fs/cgroup")) -> list[int]:
    """Find out what the control groups of this process leave it, a number of bytes for each that has a limit.

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
    parts = [part for part in path.split("/") if part]
    return (top.joinpath(*parts[:number]) for number in range(len(parts), -1, -1))


def _room(folder: Path, limit: str, used: str, copies: str) -> int | None:
    """Read how much a control group has left; None where it has no limit, or is not to be seen from here."""
    try:
        most, now = int((folder / limit).read_text()), int((folder / used).read_text())
        counts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return most - now + int(counts.get(copies, 0))
    except (OSError, ValueError):
        return None
