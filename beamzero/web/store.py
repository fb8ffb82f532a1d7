"""All game sessions, in one SQLite file: each answer is on disk before it is sent.

The file is checked when it is opened, and each session has the SHA-256 of its row: a game that a failing disk has
changed is not shown as another game.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import sqlite3
import threading
from pathlib import Path
from typing import Any, NamedTuple

from beamzero.core.errors import BadInput
from beamzero.storage.files import reason, warn_if_empty

_VERSION = 2
_WITHOUT_DIGESTS = 1

_TABLE = """
create table tables (
    id text primary key,
    client text not null,
    game text not null,
    created text not null,
    updated text not null,
    told text not null,
    summary text not null,
    sha256 text
) without rowid
"""
_INDEX = "create index of_client on tables (client, updated)"


class StoredSession(NamedTuple):
    """A session as it is kept."""

    id: str
    client: str
    game: str
    updated: str
    data: dict[str, Any]
    """The session as `GameSession.as_json` writes it; the column `told`."""
    summary: dict[str, Any]
    """The part that a list of games shows."""


class SessionStore:
    """The sessions of a server. Safe to use from several threads; two servers must not share a file."""

    def __init__(self, path: Path | str) -> None:
        self._lock = threading.Lock()
        warn_if_empty(Path(path), "games")
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        except sqlite3.Error as error:
            raise BadInput(f"{path} cannot keep games: {error}") from None
        try:
            # Text that was damaged is read as well as it can be, and does not match its digest then.
            self._db.text_factory = lambda data: data.decode(errors="replace")
            version = self._find_version()
            # A killed server loses nothing so; a machine without power may lose its last moves, but not the file.
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            self._prepare(version)
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite may quote bytes that are no text
            self._db.close()
            raise BadInput(f"{path} cannot keep games: {reason(error):.200}") from None

    def _find_version(self) -> int:
        """Return the version that wrote the file, 0 for a new one; raises where the file is another program's."""
        (version,) = self._db.execute("pragma user_version").fetchone()
        names = {name for (name,) in self._db.execute("select name from sqlite_schema where type = 'table'")}
        if names and "tables" not in names:
            raise sqlite3.DatabaseError("it is a database, but not one of games")
        if version not in (0, _WITHOUT_DIGESTS, _VERSION):
            raise sqlite3.DatabaseError(f"another version of beamzero wrote it (format {version})")
        return int(version)

    def _prepare(self, version: int) -> None:
        """Check the file, and make it one of this version."""
        ((state,), *_) = self._db.execute("pragma integrity_check(1)").fetchall()
        if state != "ok":
            raise sqlite3.DatabaseError(f"it is damaged ({state}); it was left as it is")
        if version == _VERSION:
            self._db.execute(f"{_SELECT} limit 1")  # finds columns that are missing
            return
        self._db.execute("begin immediate")
        if version == _WITHOUT_DIGESTS:
            self._db.execute("alter table tables add column sha256 text")
            rows = self._db.execute(f"select {_COLUMNS} from tables").fetchall()
            self._db.executemany("update tables set sha256 = ? where id = ?", [(_digest(row), row[0]) for row in rows])
        else:
            self._db.execute(_TABLE)
            self._db.execute(_INDEX)
        self._db.execute(f"pragma user_version = {_VERSION}")
        self._db.execute("commit")

    def add(self, id: str, client: str, game: str, data: dict[str, Any], summary: dict[str, Any]) -> None:
        """Keep a new session."""
        now = _now()
        values = (id, client, game, now, now, json.dumps(data), json.dumps(summary))
        with self._lock:
            self._db.execute("insert into tables values (?, ?, ?, ?, ?, ?, ?, ?)", (*values, _digest(values)))

    def put(self, id: str, data: dict[str, Any], summary: dict[str, Any]) -> None:
        """Keep a session that changed; do nothing where it was deleted meanwhile."""
        values = (_now(), json.dumps(data), json.dumps(summary))
        with self._lock:
            found = self._db.execute("select client, game, created from tables where id = ?", (id,)).fetchone()
            if found:
                self._db.execute(
                    "update tables set updated = ?, told = ?, summary = ?, sha256 = ? where id = ?",
                    (*values, _digest((id, *found, *values)), id),
                )

    def get(self, id: str) -> StoredSession | None:
        """Return the session of that id, None for none; BadInput where it is not as it was put."""
        with self._lock:
            found = self._db.execute(f"{_SELECT} where id = ?", (id,)).fetchone()
        if found and not _is_whole(found):
            raise BadInput("this game was damaged on the disk and cannot be opened")
        return _row(found) if found else None

    def client_of(self, id: str) -> str | None:
        """Return the browser of a session, be it whole or damaged; None where there is none."""
        with self._lock:
            found = self._db.execute("select client from tables where id = ?", (id,)).fetchone()
        return found[0] if found else None

    def of_client(self, client: str, most: int) -> list[StoredSession]:
        """Return the sessions of a browser, the last changed first; without those that are not as they were put."""
        with self._lock:
            found = self._db.execute(
                f"{_SELECT} where client = ? order by updated desc limit ?", (client, most)
            ).fetchall()
        return [_row(row) for row in found if _is_whole(row)]

    def delete(self, id: str) -> None:
        with self._lock:
            self._db.execute("delete from tables where id = ?", (id,))

    def keep_newest(self, client: str, most: int) -> list[str]:
        """Delete the sessions of a browser beyond the newest `most`. Returns their ids."""
        old = "select id from tables where client = ? order by updated desc limit -1 offset ?"
        with self._lock:
            ids = [row[0] for row in self._db.execute(old, (client, most)).fetchall()]
            self._db.executemany("delete from tables where id = ?", [(id,) for id in ids])
        return ids

    def close(self) -> None:
        with self._lock:
            self._db.close()


_COLUMNS = "id, client, game, created, updated, told, summary"
_SELECT = f"select {_COLUMNS}, sha256 from tables"


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _digest(values: tuple[str, ...]) -> str:
    """Return the SHA-256 of a row, its columns in the order of `_COLUMNS`."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def _is_whole(found: tuple[str, ...]) -> bool:
    *values, digest = found
    return all(isinstance(value, str) for value in values) and digest == _digest(tuple(values))


def _row(found: tuple[str, ...]) -> StoredSession:
    id, client, game, _, updated, data, summary, _ = found
    return StoredSession(id, client, game, updated, json.loads(data), json.loads(summary))
