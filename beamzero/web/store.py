"""All tables, in one SQLite file: what was answered is on disk before it is sent."""

from __future__ import annotations

import datetime
import json
import sqlite3
import threading
from pathlib import Path
from typing import Any, NamedTuple

from beamzero.errors import BadInput

_VERSION = 1

_SCHEMA = """
create table if not exists tables (
    id text primary key,
    client text not null,
    game text not null,
    created text not null,
    updated text not null,
    told text not null,
    summary text not null
) without rowid;
create index if not exists of_client on tables (client, updated);
"""


class Row(NamedTuple):
    """A table as it is kept."""

    id: str
    client: str
    game: str
    updated: str
    told: dict[str, Any]
    """See `Table.as_json`."""
    summary: dict[str, Any]
    """What a list of games shows of it."""


class Store:
    """The tables of a server. Safe to use from several threads; two servers must not share a file."""

    def __init__(self, path: Path | str) -> None:
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        except sqlite3.Error as error:
            raise BadInput(f"{path} cannot keep games: {error}") from None
        try:
            self._check()
            # A killed server loses nothing so; a machine without power may lose its last moves, but not the file.
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            self._db.executescript(_SCHEMA)
            self._db.execute(f"pragma user_version = {_VERSION}")
        except sqlite3.Error as error:
            self._db.close()
            raise BadInput(f"{path} cannot keep games: {error}") from None

    def _check(self) -> None:
        """An error where the file is another program's, which is left as it is."""
        (found,) = self._db.execute("pragma user_version").fetchone()
        names = {name for (name,) in self._db.execute("select name from sqlite_schema where type = 'table'")}
        if names and "tables" not in names:
            raise sqlite3.DatabaseError("it is a database, but not one of games")
        if found not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"another version of beamzero wrote it (format {found})")

    def add(self, id: str, client: str, game: str, told: dict[str, Any], summary: dict[str, Any]) -> None:
        """Keep a new table."""
        now = _now()
        values = (id, client, game, now, now, json.dumps(told), json.dumps(summary))
        with self._lock:
            self._db.execute("insert into tables values (?, ?, ?, ?, ?, ?, ?)", values)

    def put(self, id: str, told: dict[str, Any], summary: dict[str, Any]) -> None:
        """Keep what became of a table; nothing where it was deleted meanwhile."""
        values = (_now(), json.dumps(told), json.dumps(summary), id)
        with self._lock:
            self._db.execute("update tables set updated = ?, told = ?, summary = ? where id = ?", values)

    def get(self, id: str) -> Row | None:
        with self._lock:
            found = self._db.execute(f"{_SELECT} where id = ?", (id,)).fetchone()
        return _row(found) if found else None

    def of_client(self, client: str, most: int) -> list[Row]:
        """The tables of a browser, the last changed first."""
        with self._lock:
            found = self._db.execute(
                f"{_SELECT} where client = ? order by updated desc limit ?", (client, most)
            ).fetchall()
        return [_row(row) for row in found]

    def delete(self, id: str) -> None:
        with self._lock:
            self._db.execute("delete from tables where id = ?", (id,))

    def keep_newest(self, client: str, most: int) -> list[str]:
        """Delete what a browser has beyond `most` tables, and say which these were."""
        old = "select id from tables where client = ? order by updated desc limit -1 offset ?"
        with self._lock:
            ids = [row[0] for row in self._db.execute(old, (client, most)).fetchall()]
            self._db.executemany("delete from tables where id = ?", [(id,) for id in ids])
        return ids

    def close(self) -> None:
        with self._lock:
            self._db.close()


_SELECT = "select id, client, game, updated, told, summary from tables"


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _row(found: tuple[str, ...]) -> Row:
    id, client, game, updated, told, summary = found
    return Row(id, client, game, updated, json.loads(told), json.loads(summary))
