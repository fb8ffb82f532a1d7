"""An opening book as one file: positions by their keys, with a move and its value for each.

A line names the format, the next one is the SHA-256 of all that follows: a line of JSON, which says for which game the
book is and how it was made, and then 12 bytes for each position: all keys in rising order, all moves, all values. The
same book gives the same bytes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from beamzero.core.errors import BadInput
from beamzero.storage.files import check_writable, read_file, reason, write_atomically, writing

_FORMAT = "beamzero-book-1"

_KEY, _MOVE, _VALUE = np.dtype("<u8"), np.dtype("<u2"), np.dtype("<f2")
POSITION_BYTES = _KEY.itemsize + _MOVE.itemsize + _VALUE.itemsize
MAX_ACTIONS = 2 ** (8 * _MOVE.itemsize)


@dataclasses.dataclass(frozen=True, eq=False)
class Book:
    """A move for each of N positions. Keys and moves are those of the one image that stands for all the others."""

    game: str
    """The identity of the game."""
    key_check: str
    """A text that changes when positions get other keys, as they may in another version."""
    about: Mapping[str, Any]
    """How it was made, as JSON can hold it."""
    keys: np.ndarray  # uint64 [N] rising
    moves: np.ndarray  # uint16 [N]
    values: np.ndarray  # float16 [N] for the side to move, in [-1, 1]

    def __len__(self) -> int:
        return len(self.keys)


def check_book_path(path: str | os.PathLike[str]) -> None:
    """Raise BadInput where no book could be written, so that it is known before the work begins."""
    check_writable(Path(path), "an opening book is")


def save_book(path: str | os.PathLike[str], book: Book) -> None:
    """Write a book, replacing one that is there."""
    check_book_path(path)
    header = {"game": book.game, "key_check": book.key_check, "positions": len(book), "about": dict(book.about)}
    parts: list[np.ndarray] = [book.keys.astype(_KEY), book.moves.astype(_MOVE), book.values.astype(_VALUE)]
    content = json.dumps(header, sort_keys=True).encode() + b"\n" + b"".join(part.tobytes() for part in parts)
    digest = hashlib.sha256(content).hexdigest().encode()
    with writing(str(path), otherwise=BadInput):
        write_atomically(path, b"\n".join([_FORMAT.encode(), digest, content]))


def load_book(path: str | os.PathLike[str]) -> Book:
    """Read the book as it was given to `save_book`; BadInput where that fails."""
    path = Path(path)
    try:
        data = read_file(path)
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"there is no opening book {path}") from None
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder, but an opening book is one file") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}") from None
    name, _, rest = data.partition(b"\n")
    if name != _FORMAT.encode():
        raise _other_format(path, name)
    digest, _, content = rest.partition(b"\n")
    if digest != hashlib.sha256(content).hexdigest().encode():
        raise BadInput(f"{path} is damaged: its content does not match its SHA-256")
    header, _, body = content.partition(b"\n")
    try:
        return _read(json.loads(header), body)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise BadInput(f"{path} is no opening book that this version can read") from None


def _other_format(path: Path, name: bytes) -> BadInput:
    if name.startswith(b"beamzero-book-") and len(name) < 40:
        found = name.decode(errors="replace")
        return BadInput(f"{path} has the format {found!r}, but this version of beamzero reads {_FORMAT!r}")
    return BadInput(f"{path} is not a beamzero opening book")


def _read(header: Mapping[str, Any], body: bytes) -> Book:
    """Make the book of a header and the bytes of its positions; ValueError where they are not one."""
    count = header["positions"]
    if not isinstance(count, int) or count < 1 or len(body) != count * POSITION_BYTES:
        raise ValueError
    moves_at, values_at = count * _KEY.itemsize, count * (_KEY.itemsize + _MOVE.itemsize)
    keys = np.frombuffer(body, _KEY, count).astype(np.uint64)
    moves = np.frombuffer(body, _MOVE, count, moves_at).astype(np.uint16)
    values = np.frombuffer(body, _VALUE, count, values_at).astype(np.float16)
    if np.any(keys[1:] <= keys[:-1]) or not np.all(np.abs(values) <= 1):
        raise ValueError
    about = dict(header["about"].items())
    return Book(str(header["game"]), str(header["key_check"]), about, keys, moves, values)
