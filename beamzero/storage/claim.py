"""A folder for work that may be stopped and goes on later, if it is still the same work."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.storage.files import TEMPORARY, write_atomically, writing


def claim_folder(
    folder: Path,
    file: str,
    terms: Mapping[str, Any],
    what: str,
    free: Collection[str] = (),
    renew: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> None:
    """Make the folder, with a `file` of the terms; or find that it holds the same work, where only `free` terms differ.

    `what` is what such work is called. `renew` makes of terms of an earlier version those of this one. BadInput where
    the folder holds anything else.
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
