"""Programs of others: where they are on this machine."""

from __future__ import annotations

import os
import shutil

from beamzero.core.errors import BadInput

_GAME_FOLDERS = ("/usr/games", "/usr/local/games")
"""Folders of games in Debian, which are not always on PATH."""


def find_program(name: str) -> str:
    """Find the path of a program; BadInput where it is neither on PATH nor in the folders of games."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_GAME_FOLDERS])
    found = shutil.which(name, path=path)
    if found is None:
        raise BadInput(f"there is no program {name!r}: install it, or give its path")
    return found
