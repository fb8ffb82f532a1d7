"""A worker of a cluster: the files that it needs beside the package, and the process that does work items."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from beamzero.cluster.connect import versions
from beamzero.core.spec import parse
from beamzero.core.user_code import load_user_file, user_modules

Files = Mapping[str, bytes]
"""The contents of files, by their names as seen from the folder that the command was started in."""

Function = Callable[[Any, Any], Any]
"""A function of an object that all workers share and of an item; the command and the workers can import it."""


class Worker:
    """A process on a machine of the cluster, which does items."""

    def hello(self, folder: str, files: Files, loaded: Sequence[str]) -> dict[str, Any]:
        """Write the files that the worker needs, and load those that the command has `loaded`.

        Items may hold states whose class such a file defines. Returns where the worker is, and its versions.
        """
        others = write_files(folder, files)
        for path in () if others else loaded:
            load_user_file(path, "what the command uses")
        where = {"host": socket.gethostname(), "pid": os.getpid(), "device": jax.default_backend()}
        return {**where, "other_files": others, **versions()}

    def do(self, function: Function, shared: Any, item: Any) -> tuple[Any, float]:
        """Do an item. Returns its result, and the seconds it took."""
        begun = time.perf_counter()
        return function(shared, item), time.perf_counter() - begun


def files_of(*names: str) -> dict[str, bytes]:
    """Read the Python files below this folder that the texts of games, algorithms and agents name."""
    heads = (parse(name).head for name in names)
    return {head: Path(head).read_bytes() for head in heads if head.endswith(".py") and _is_below(head)}


def loaded_files() -> list[str]:
    """List the users' Python files that this process has loaded; those below this folder as seen from here."""
    paths = [Path(str(module.__file__)) for module in user_modules()]
    here = Path.cwd()
    return [str(path.relative_to(here) if path.is_relative_to(here) else path) for path in paths]


def _is_below(path: str) -> bool:
    """Tell whether a path leads from this folder to a file below it, without links and detours."""
    below = Path(path).resolve().is_relative_to(Path.cwd())
    return below and not Path(path).is_absolute() and ".." not in path


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
