"""Folders that one process works in at a time, and that it may leave and take up again, if it is for the same work."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from beamzero.core.errors import BadInput, RunStopped
from beamzero.storage.files import TEMPORARY, write_atomically, writing


def prepare_folder(
    folder: Path,
    file: str,
    terms: Mapping[str, Any],
    what: str,
    free: Collection[str] = (),
    renew: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> None:
    """Make the folder, with a `file` of the terms; or check that it holds the same work. The `free` terms may differ.

    `what` is the name of such work in errors. `renew` turns the terms of an earlier version into those of this one.
    Raises BadInput where the folder holds anything else.
    """
    path = folder / file
    terms = json.loads(json.dumps(terms))
    if path.exists():
        try:
            before = renew(json.loads(path.read_text()))
            changed = sorted(key for key in terms if before.get(key) != terms[key] and key not in free)
        except (OSError, ValueError, AttributeError, TypeError, KeyError):
            raise BadInput(f"{path} is damaged or cannot be read: give another folder") from None
        if changed:
            raise BadInput(f"{folder} holds another {what}, with other {', '.join(changed)}: give another folder")
        return
    if folder.exists() and (not folder.is_dir() or any(not one.name.startswith(TEMPORARY) for one in folder.iterdir())):
        raise BadInput(f"{folder} is there already and holds no {what} to go on with: give another folder")
    with writing(str(folder), otherwise=BadInput):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(terms, indent=1))


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[Callable[[], None]]:
    """Lock a folder, so that no other process works in it; BadInput where one does. The lock ends with the process.

    Yields a function that raises RunStopped if the folder is no longer there, or another one has its name.
    """
    with contextlib.ExitStack() as stack:
        path = folder / "lock"
        with writing(f"the lock of {folder}", otherwise=BadInput):
            file = stack.enter_context(open(path, "a+"))
            _take(file.fileno(), folder)

        def check_folder() -> None:
            try:
                same = os.path.samestat(os.fstat(file.fileno()), path.stat())
            except OSError:
                same = False
            if not same:
                raise RunStopped(f"{folder} was deleted or moved while it was worked in, so nothing more can be saved")

        yield check_folder


def is_locked(folder: Path) -> bool:
    """Tell whether a process works in a folder just now, as far as this system can tell."""
    try:
        import fcntl

        with open(folder / "lock") as file:
            # Shared, so that two processes that ask at once do not take each other for one that works there.
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return False
    return False


def _take(descriptor: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BadInput(f"another process is training in {folder}: stop it first, or name another folder") from None
