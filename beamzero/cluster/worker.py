"""A worker of a cluster: the files that it needs beside the package, and the process that does work items."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax

from beamzero.cluster.connect import versions
from beamzero.core.registry import ALGORITHMS
from beamzero.core.spec import parse
from beamzero.games import Game

Files = Mapping[str, bytes]
"""The contents of files, by their names as seen from the folder that the command was started in."""

Function = Callable[[Any, Any], Any]
"""A function of an object that all workers share and of an item; the command and the workers can import it."""


class Worker:
    """A process on a machine of the cluster, which does items."""

    def hello(self, folder: str, files: Files) -> dict[str, Any]:
        """Write the files that the worker needs. Returns where it is, and its versions."""
        others = write_files(folder, files)
        where = {"host": socket.gethostname(), "pid": os.getpid(), "device": jax.default_backend()}
        return {**where, "other_files": others, **versions()}

    def do(self, function: Function, shared: Any, item: Any) -> tuple[Any, float]:
        """Do an item. Returns its result, and the seconds it took."""
        begun = time.perf_counter()
        return function(shared, item), time.perf_counter() - begun


def files_of(game: Game, algorithm: str = "") -> dict[str, bytes]:
    """Read the files below this folder that a game and an algorithm are defined in; none for those of packages."""
    return {**_file_named(game.spec), **_file_named(ALGORITHMS.source(algorithm))}


def _file_named(text: str) -> dict[str, bytes]:
    name = parse(text).head
    below = Path(name).resolve().is_relative_to(Path.cwd()) and not Path(name).is_absolute() and ".." not in name
    return {name: Path(name).read_bytes()} if name.endswith(".py") and below else {}


def write_files(folder: str, files: Files) -> list[str]:
    """Go to `folder`, where this machine has it; if `files` are not there, to a new folder that has them.

    Returns the names of files that are there already, and are not the same.
    """
    with contextlib.suppress(OSError):  # where there is no such folder, nothing can be read from it either
        os.chdir(folder)
    if any(not Path(name).exists() for name in files):
        os.chdir(tempfile.mkdtemp(prefix="beamzero-"))
        atexit.register(shutil.rmtree, os.getcwd(), ignore_errors=True)
        for name, data in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(data)
    return [name for name, data in files.items() if Path(name).read_bytes() != data]
