"""An endgame table as one file: a line of JSON about the table, then a byte for each position."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from beamzero.core.errors import BadInput
from beamzero.solvers.endgame import MOST_POSITIONS, EndgameTable, count_positions
from beamzero.storage.files import check_writable, open_ordinary, reason, write_atomically, writing

_FORMAT = "beamzero-table-1"
TABLE_SUFFIX = ".table"
_LONGEST_LINE = 1000


def check_table_path(path: str | os.PathLike[str]) -> Path:
    """Return the path; raise BadInput where no table can be written to it, so that it is known before one is made."""
    path = Path(path)
    if path.suffix != TABLE_SUFFIX:
        raise BadInput(f"a table's file must end in {TABLE_SUFFIX}, but {path.name!r} does not")
    check_writable(path, "a table is")
    return path


def save_table(path: str | os.PathLike[str], table: EndgameTable) -> None:
    """Write a table, whole or not at all, replacing one that is there. The same table gives the same bytes."""
    path = check_table_path(path)
    values = np.asarray(table.values, np.int8).tobytes()
    info = {"game": "kalah", "houses": table.houses, "empty_capture": table.empty_capture, "seeds": table.seeds}
    header = {"format": _FORMAT, **info, "sha256": _digest(info, values)}
    with writing(str(path), otherwise=BadInput):
        write_atomically(path, json.dumps(header).encode() + b"\n" + values)


def load_table(path: str | os.PathLike[str]) -> EndgameTable:
    """Read the table that `save_table` wrote; BadInput where that fails."""
    path = Path(path)
    try:
        with open(path, "rb", opener=open_ordinary) as file:
            return _read(file, path)
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"there is no table file {path}") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}") from None


def _read(file: IO[bytes], path: Path) -> EndgameTable:
    """Read the header and the values of an open file."""
    header = _header(file.readline(_LONGEST_LINE), path)
    digest = header.pop("sha256", None)
    match header:
        case {"game": "kalah", "houses": int(houses), "empty_capture": bool(capture), "seeds": int(seeds)} if (
            len(header) == 4 and 1 <= houses <= 10 and 1 <= seeds <= 240
        ):
            positions = count_positions(houses, seeds)
        case _:
            raise BadInput(f"{path} is damaged: what it says about the table cannot be read")
    if positions > MOST_POSITIONS:
        raise BadInput(f"{path} holds {positions} positions, but a table can have at most {MOST_POSITIONS}")
    size = os.fstat(file.fileno()).st_size - file.tell()
    if size != positions:
        raise BadInput(f"{path} is {'cut short' if size < positions else 'too long'}: {size} of {positions} positions")
    values = file.read()
    if digest != _digest(header, values):
        raise BadInput(f"{path} is damaged: its content does not match its SHA-256")
    return EndgameTable(houses, capture, seeds, np.frombuffer(values, np.int8))


def _header(line: bytes, path: Path) -> dict[str, Any]:
    """Decode the first line, without its format."""
    try:
        header = json.loads(line)
        format = header.pop("format")
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        raise BadInput(f"{path} is not a beamzero table") from None
    if format == _FORMAT:
        return header
    if isinstance(format, str) and format.startswith("beamzero-table-"):
        raise BadInput(f"{path} has the format {format!r}, but this version of beamzero reads {_FORMAT!r}")
    raise BadInput(f"{path} is not a beamzero table")


def _digest(info: Mapping[str, Any], values: bytes) -> str:
    digest = hashlib.sha256(json.dumps(info, sort_keys=True).encode())
    digest.update(values)
    return digest.hexdigest()
