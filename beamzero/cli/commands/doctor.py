"""`beamzero doctor`: what a machine has for beamzero. It works where JAX does not, and says why that is."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from beamzero import __version__
from beamzero.cli.common import RUNS_FOLDER, AsJson, out, print_json
from beamzero.core.errors import BadInput
from beamzero.core.leaving import importing
from beamzero.core.programs import find_program

_NEEDED = (
    *("jax", "jaxlib", "flax", "optax", "orbax-checkpoint", "mctx", "numpy", "scipy", "ml_dtypes", "matplotlib"),
    *("safetensors", "tensorboardX", "rich", "typer"),
)
"""Packages without which beamzero does not work."""


class Extra(NamedTuple):
    """Something that may be missing."""

    use: str
    how: str


PROGRAMS = {
    "stockfish": Extra("uci:stockfish, for chess", "apt install stockfish"),
    "fairy-stockfish": Extra("uci:fairy-stockfish, for chess6x6", "apt install fairy-stockfish"),
    "gtp-rhino": Extra("gtp:gtp-rhino, for othello", "apt install grhino"),
    "gnubg": Extra("the agent gnubg, for backgammon", "apt install gnubg"),
    "gnugo": Extra("gtp:gnugo, for pgx:go_9x9", "apt install gnugo"),
    "chromium": Extra("tests of the page in the browser", "apt install chromium"),
}
"""Programs of others by name, as PATH knows them; how to get them is said in the words of Debian."""

_CLUSTER, _WEB = "pip install 'beamzero[cluster]'", "pip install 'beamzero[web]'"
PACKAGES = {
    "jax-cuda13-plugin": Extra("NVIDIA GPUs", "pip install 'beamzero[cuda]'"),
    "endplay": Extra("the agent clairvoyance, for bridge", "pip install 'beamzero[cards]'"),
    "pgx": Extra("games such as pgx:go_9x9; beamzero.adapters.pgx", "pip install 'beamzero[pgx]'"),
    "open-spiel": Extra("games such as open_spiel:breakthrough", "pip install 'beamzero[open_spiel]'"),
    "pettingzoo": Extra("beamzero.adapters.pettingzoo", "pip install 'beamzero[pettingzoo]'"),
    "ray": Extra("--cluster", _CLUSTER),
    "prometheus-client": Extra("train --prometheus", _CLUSTER),
    "wandb": Extra("train --wandb", "pip install 'beamzero[wandb]'"),
    "fastapi": Extra("serve", _WEB),
    "uvicorn": Extra("serve", _WEB),
    "websockets": Extra("serve", _WEB),
    "ipython": Extra("boards and progress in notebooks", "pip install ipython"),
}
"""Packages that some commands or agents need, by the names of pip."""

_NVIDIA_DRIVER = Path("/proc/driver/nvidia/version")
_NARROW = 100 * 10**6
"""Free bytes of a disk below which a checkpoint or a compiled program may not fit."""


def doctor(json: AsJson = False) -> int:
    """Say what this machine has for beamzero, and what is missing or broken.

    Exit status 1 where something is broken. What is only missing is named with what needs it, and how to get it.
    """
    broken: list[str] = []
    devices = _devices(broken)
    found = {
        "versions": _versions(broken),
        "devices": devices,
        "unseen_gpu": _has_unseen_gpu(devices),
        "cores": os.cpu_count(),
        "memory": _memory(),
        "runs": _runs(broken),
        "cache": _cache(broken),
        "programs": {name: _program(name) for name in PROGRAMS},
        "packages": {name: _version(name) for name in PACKAGES},
        "broken": broken,
    }
    if json:
        print_json(found)
    else:
        _show(found)
    return 1 if broken else 0


# --- what there is ----------------------------------------------------------------------------------------------------


def _version(package: str) -> str | None:
    """Read the version of a package that is installed, without importing it."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _versions(broken: list[str]) -> dict[str, str | None]:
    """Read the versions of Python, of beamzero and of what it needs."""
    needed = {name: _version(name) for name in _NEEDED}
    if missing := [name for name, version in needed.items() if version is None]:
        broken.append(f"beamzero needs {', '.join(missing)}: pip install {' '.join(missing)}")
    return {"beamzero": __version__, "Python": platform.python_version(), **needed}


def _devices(broken: list[str]) -> list[dict[str, Any]]:
    """List the devices that JAX sees, after one small sum on the first."""
    try:
        with importing():
            import jax

            from beamzero.core.compiler import keep_compiled_code

        keep_compiled_code()
        jax.block_until_ready(jax.numpy.zeros(8) + 1)
        return [_device(device) for device in jax.devices()]
    except Exception as error:
        broken.append(_why_no_devices(error))
        return []


def _has_unseen_gpu(devices: list[dict[str, Any]]) -> bool:
    """Tell whether there is an NVIDIA GPU here and JAX sees the CPU alone."""
    return {device["platform"] for device in devices} == {"cpu"} and _NVIDIA_DRIVER.exists()


def _device(device: Any) -> dict[str, Any]:
    stats = device.memory_stats() or {}
    return {"platform": device.platform, "kind": device.device_kind, "memory": stats.get("bytes_limit")}


def _why_no_devices(error: Exception) -> str:
    try:
        from beamzero.core.compiler import missing_platform

        said = missing_platform(error)
    except Exception:  # JAX cannot even be imported
        said = None
    return said or f"JAX does not work: {type(error).__name__}: {' '.join(str(error).split())}"


def _memory() -> dict[str, int] | None:
    """Count the bytes of memory and those that are free, by the cgroups too; None where they cannot be read."""
    try:
        with importing():
            from beamzero.search.memory import host_free_bytes, host_memory_bytes

        return {"total": host_memory_bytes(), "free": host_free_bytes()}
    except Exception:  # JAX does not work, which is said elsewhere; or this is Windows
        return None


def _runs(broken: list[str]) -> dict[str, Any]:
    """Look at the folder of training runs, or at the one in which it would be made."""
    if RUNS_FOLDER.exists() and not (RUNS_FOLDER.is_dir() and os.access(RUNS_FOLDER, os.W_OK)):
        broken.append(f"no training run can be kept in {RUNS_FOLDER}: it is no folder that you may write to")
    return {"folder": str(RUNS_FOLDER), "free": _free(RUNS_FOLDER, broken)}


def _cache(broken: list[str]) -> dict[str, Any] | None:
    """Look at the folder of compiled programs; None where none are kept, or JAX does not work."""
    try:
        from beamzero.core.compiler import cache_folder, why_nothing_is_kept
    except Exception:  # which is said elsewhere
        return None
    folder = cache_folder()
    if not folder or "://" in folder:
        return {"folder": folder, "files": None, "bytes": None, "free": None} if folder else None
    why = why_nothing_is_kept(folder)
    if why is not None:
        broken.append(why)
    sizes = _sizes(Path(folder))
    return {"folder": folder, "files": len(sizes), "bytes": sum(sizes), "free": _free(Path(folder), broken)}


def _sizes(folder: Path) -> list[int]:
    """List the bytes of the files in a folder; none of one that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [entry.stat(follow_symlinks=False).st_size for entry in entries]
    except OSError:
        return []


def _free(folder: Path, broken: list[str]) -> int | None:
    """Count the free bytes of the disk on which a folder is, or would be; None where that cannot be read."""
    try:
        there = next((place for place in (folder, *folder.absolute().parents) if place.exists()), folder)
        free = shutil.disk_usage(there).free
    except OSError:
        return None
    if free < _NARROW:
        broken.append(f"the disk of {folder} is full: {_size(free)} are free")
    return free


def _program(name: str) -> str | None:
    try:
        return find_program(name)
    except BadInput:
        return None


# --- how it is shown --------------------------------------------------------------------------------------------------


def _show(found: dict[str, Any]) -> None:
    """Print tables that fit into 80 columns, and a line for each thing that is broken."""
    out.print(_machine(found))
    for title, extras in (("programs", PROGRAMS), ("packages", PACKAGES)):
        out.print()
        out.print(_extras(title, extras, found[title]))
    out.print()
    for line in found["broken"]:
        out.print(f"broken: {line}", style="red", soft_wrap=True)
    if found["unseen_gpu"]:
        out.print(f"JAX does not see the NVIDIA GPU that is here: {PACKAGES['jax-cuda13-plugin'].how}", soft_wrap=True)
    if not found["broken"]:
        out.print("all that is needed is here", style="bold")


def _machine(found: dict[str, Any]) -> Table:
    """Make the table of what the machine is and has."""
    table = Table(box=None, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    memory, runs, cache = found["memory"], found["runs"], found["cache"]
    table.add_row("versions", ", ".join(f"{key} {value or 'missing'}" for key, value in found["versions"].items()))
    table.add_row("devices", "\n".join(map(_name_device, found["devices"])) or "none")
    table.add_row("cores", str(found["cores"]))
    table.add_row("memory", f"{_size(memory['total'])}, {_size(memory['free'])} free" if memory else "unknown")
    table.add_row("runs", f"{runs['folder']}: {_size(runs['free'])} free")
    table.add_row("compiled programs", _describe_cache(cache) if cache else "none are kept")
    return table


def _name_device(device: dict[str, Any]) -> str:
    memory = _size(device["memory"]) if device["memory"] else ""
    return ", ".join(dict.fromkeys(filter(None, (device["platform"], device["kind"], memory))))


def _describe_cache(cache: dict[str, Any]) -> str:
    if cache["files"] is None:
        return str(cache["folder"])
    return f"{cache['folder']}: {cache['files']:,} files, {_size(cache['bytes'])}; {_size(cache['free'])} free"


def _extras(title: str, extras: dict[str, Extra], found: dict[str, str | None]) -> Table:
    """Make the table of what may be missing."""
    table = Table(box=None, header_style="bold")
    table.add_column(title, no_wrap=True)
    table.add_column("here", overflow="fold")
    table.add_column("what needs it")
    for name, (use, how) in extras.items():
        table.add_row(name, found[name] or "missing", use if found[name] else f"{use}\n{how}")
    return table


def _size(number: int | None) -> str:
    """Write a number of bytes for people."""
    if number is None:
        return "unknown"
    return f"{number / 2**30:.1f} GB" if number >= 2**30 else f"{number / 2**20:.0f} MB"
