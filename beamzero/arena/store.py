"""Results of battles, kept in one SQLite file, runs/results.db by default: what was played once need not be again.

Agents are known by their fingerprints, so that a result belongs to the weights and settings that earned it, whatever
they are called. Results are only ever added. Each opening pair is kept with a hash of its opening: two agents that
always answer alike would play the same game from it again.

Each battle is kept with the SHA-256 of its row and its pairs, and the whole file is checked before anything in it
is used: results that a failing disk has changed are refused and not rated. That guards against damage, not against a
person who writes other results with digests that fit them.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import platform
import sqlite3
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from beamzero.arena.battle import Battle
from beamzero.core.errors import BadInput
from beamzero.storage.files import check_writable, create_atomically, reason, warn_if_empty, writing

_APPLICATION = 0x62306172
"""A number in the head of the file, so that no other database is taken for one of ours."""
_VERSION = 2
_WITHOUT_DIGESTS = 1
"""The version of files that are read as they are; the first battle that is added gives digests to all in them."""
_PATIENCE_SECONDS = 10.0

_TABLES = """\
CREATE TABLE agents (
    fingerprint TEXT PRIMARY KEY,
    name TEXT NOT NULL             -- as it was called last
) STRICT;
CREATE TABLE battles (
    id INTEGER PRIMARY KEY,
    game TEXT NOT NULL,
    first TEXT NOT NULL REFERENCES agents (fingerprint),
    second TEXT NOT NULL REFERENCES agents (fingerprint),
    random_plies INTEGER NOT NULL, -- as they were asked for
    seed INTEGER NOT NULL,
    mean_plies REAL NOT NULL,
    played TEXT NOT NULL,          -- when, in UTC
    machine TEXT NOT NULL
) STRICT;
CREATE TABLE pairs (
    battle INTEGER NOT NULL REFERENCES battles (id),
    opening BLOB NOT NULL,         -- 8 bytes, a hash
    moving_first REAL NOT NULL,    -- what `first` scored where it moved first
    moving_second REAL NOT NULL
) STRICT;
CREATE INDEX by_game ON battles (game, random_plies);
CREATE INDEX by_battle ON pairs (battle)"""
_DIGESTS = """\
CREATE TABLE digests (
    battle INTEGER PRIMARY KEY REFERENCES battles (id),
    sha256 BLOB NOT NULL           -- of its row in battles and of its pairs, in order
) STRICT"""
_STATEMENTS = (*_TABLES.split(";\n"), _DIGESTS)
"""These make a file, which keeps them as they are written here: to change one is to change the version."""


class _Kept(NamedTuple):
    """A battle as it is kept."""

    id: int
    game: str
    first: str
    second: str
    random_plies: int
    seed: int
    mean_plies: float
    played: str
    machine: str
    pairs: list[tuple[bytes, float, float]]

    @property
    def digest(self) -> bytes:
        """Compute the SHA-256 of all fields."""
        digest = hashlib.sha256(json.dumps(self[:-1]).encode())
        for opening, one, other in self.pairs:
            digest.update(struct.pack("<qdd", len(opening), one, other) + opening)
        return digest.digest()


class Met(NamedTuple):
    """All games of two agents so far, as the first-named sees them."""

    pair_scores: np.ndarray  # float [P, 2]
    openings: frozenset[bytes]
    battles: int


class Store:
    """A file of results; it is made where there is none. Several processes may use it at a time."""

    def __init__(self, path: str | os.PathLike[str], make_folder: bool = False) -> None:
        """Open the file, if it is there. With `make_folder` its folder is made too, when there is something to keep."""
        self.path, self.make_folder = Path(path), make_folder
        if self.path.is_dir():
            raise BadInput(f"{self.path} is a folder, but results are kept in one file")
        if self.path.exists() and not self.path.is_file():
            raise BadInput(f"{self.path} is no ordinary file, but results are kept in one")
        if not self.path.parent.is_dir() and not make_folder:
            raise BadInput(f"there is no folder {self.path.parent} to keep {self.path.name} in")
        warn_if_empty(self.path, "results")
        if self.path.exists():
            with self._open() as database:
                self._check(database)

    def check_writable(self) -> None:
        """Raise BadInput where nothing could be added, so that it is known before games are played."""
        folder = next(one for one in self.path.absolute().parents if one.exists())
        check_writable(folder / self.path.name, "results are")
        if self.path.exists():
            with self._open() as database:
                database.execute("BEGIN IMMEDIATE")
                database.execute("ROLLBACK")

    def add(self, battle: Battle, fingerprints: tuple[str, str], asked_plies: int, seed: int) -> None:
        """Keep the result of a battle, whole or not at all."""
        if self.make_folder:
            with writing(str(self.path), otherwise=BadInput):
                self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():  # whole at once: an empty file would be taken for one that lost its results
            with writing(str(self.path), otherwise=BadInput):
                create_atomically(self.path, _without_results())
        with writing(str(self.path), otherwise=BadInput), self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            if self._empty(database):
                _make_tables(database)
            self._add_digests(database)
            for name, fingerprint in zip(battle.agents, fingerprints, strict=True):
                database.execute(
                    "INSERT INTO agents VALUES (?, ?) ON CONFLICT DO UPDATE SET name = excluded.name",
                    (fingerprint, name),
                )
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            number = database.execute(
                "INSERT INTO battles (game, first, second, random_plies, seed, mean_plies, played, machine)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (battle.game, *fingerprints, asked_plies, seed, battle.mean_plies, now, _machine()),
            ).lastrowid
            database.executemany(
                "INSERT INTO pairs VALUES (?, ?, ?, ?)",
                [
                    (number, opening, float(one), float(other))
                    for opening, (one, other) in zip(battle.opening_hashes, battle.pair_scores, strict=True)
                ],
            )
            self._seal(database, number)
            database.execute("COMMIT")

    def meetings(self, game: str, asked_plies: int, fingerprints: Mapping[str, str]) -> dict[tuple[str, str], Met]:
        """Read the games of the agents, {name: fingerprint}, against each other, by (earlier name, later name)."""
        found: dict[tuple[str, str], list[tuple[int, bytes, float, float]]] = {}
        places = {fingerprint: place for place, fingerprint in enumerate(fingerprints.values())}
        names = list(fingerprints)
        for battle in self._read():
            if (battle.game, battle.random_plies) != (game, asked_plies):
                continue
            if battle.first not in places or battle.second not in places:
                continue
            first, second = sorted((places[battle.first], places[battle.second]))
            pairs = found.setdefault((names[first], names[second]), [])
            turned = places[battle.first] > places[battle.second]
            for opening, one, other in battle.pairs:
                pairs.append((battle.id, opening, *((1.0 - other, 1.0 - one) if turned else (one, other))))
        return {
            pair: Met(
                np.array([scores for _, _, *scores in games]),
                frozenset(opening for _, opening, *_ in games),
                len({battle for battle, *_ in games}),
            )
            for pair, games in found.items()
        }

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the database; BadInput in one line where something is wrong with it, and it is left as it is."""
        try:
            with contextlib.closing(
                sqlite3.connect(self.path, timeout=_PATIENCE_SECONDS, isolation_level=None)
            ) as database:
                database.execute("PRAGMA foreign_keys = ON")
                yield database
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise BadInput(
                    f"{self.path} is in use by another program, and was for {_PATIENCE_SECONDS:g} seconds: try again"
                ) from error
            raise BadInput(f"{self.path} cannot be used: {reason(error):.200}") from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # SQLite may quote bytes that are no text
            why = f"{reason(error):.200}; it was left as it is"
            raise BadInput(f"{self.path} is damaged or no file of results: {why}") from error

    def _check(self, database: sqlite3.Connection) -> None:
        """Raise BadInput where the file is no store, or its pages, tables and indexes do not belong together."""
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        empty = self._empty(database)
        if application != _APPLICATION and not empty:
            raise BadInput(f"{self.path} is a database, but not one of results; it was left as it is")
        if version > _VERSION:
            raise BadInput(f"{self.path} was written by a newer beamzero; it was left as it is")
        if not empty or application == _APPLICATION:
            self._check_tables(database, version)
        ((state,), *_) = database.execute("PRAGMA integrity_check(1)").fetchall()
        if state != "ok":
            raise self._damaged(state)
        if database.execute("PRAGMA foreign_key_check").fetchone():
            raise self._damaged("a row is missing that others belong to")

    def _check_tables(self, database: sqlite3.Connection, version: int) -> None:
        wanted = set(_STATEMENTS)
        if version == _WITHOUT_DIGESTS:
            wanted.remove(_DIGESTS)
        # SQLite has tables and indexes of its own
        found = database.execute("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'").fetchall()
        if {sql for (sql,) in found} != wanted:
            raise self._damaged("its tables are not those of a file of results")

    def _damaged(self, what: str) -> BadInput:
        return BadInput(f"{self.path} is damaged: {' '.join(what.split())}; it was left as it is")

    def _read(self) -> list[_Kept]:
        """Read all battles, each of them as it was written; BadInput where one is not."""
        if not self.path.exists():
            return []
        with self._open() as database:
            database.execute("BEGIN")  # so that nothing is added between the checks and the last row
            self._check(database)
            if self._empty(database):
                return []
            battles = self._battles(database)
            if self._has_digests(database):
                digests = dict(database.execute("SELECT battle, sha256 FROM digests").fetchall())
                for battle in battles:
                    if digests.pop(battle.id, None) != battle.digest:
                        raise self._damaged(f"battle {battle.id} does not match its SHA-256")
                if digests:
                    raise self._damaged(f"battle {min(digests)} is missing")
            return battles

    def _battles(self, database: sqlite3.Connection, number: int | None = None) -> list[_Kept]:
        """Read the battles with their pairs, in the order in which they were added; or the one of that number."""
        which, numbers = ("", ()) if number is None else ("WHERE {} = ?", (number,))
        found = {
            row[0]: _Kept._make([*row, []])
            for row in database.execute(
                "SELECT id, game, first, second, random_plies, seed, mean_plies, played, machine FROM battles"
                f" {which.format('id')} ORDER BY id",
                numbers,
            )
        }
        for battle, opening, one, other in database.execute(
            f"SELECT battle, opening, moving_first, moving_second FROM pairs {which.format('battle')} ORDER BY rowid",
            numbers,
        ):
            if not (0 <= one <= 1 and 0 <= other <= 1):
                raise self._damaged(f"battle {battle} has a score that is not 0 to 1")
            found[battle].pairs.append((opening, one, other))
        return list(found.values())

    def _seal(self, database: sqlite3.Connection, number: int | None = None) -> None:
        """Write the digests of all battles, or of the one of that number, as they are read back."""
        rows = [(battle.id, battle.digest) for battle in self._battles(database, number)]
        database.executemany("INSERT INTO digests VALUES (?, ?)", rows)

    def _add_digests(self, database: sqlite3.Connection) -> None:
        """Make the file one of this version, in the transaction that is under way."""
        if not self._has_digests(database):
            self._check(database)
            database.execute(_DIGESTS)
            self._seal(database)
            database.execute(f"PRAGMA user_version = {_VERSION}")

    def _has_digests(self, database: sqlite3.Connection) -> bool:
        return database.execute("PRAGMA user_version").fetchone() != (_WITHOUT_DIGESTS,)

    def _empty(self, database: sqlite3.Connection) -> bool:
        return database.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)


def _without_results() -> bytes:
    """Return the content of a file that holds no battle yet."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        _make_tables(database)
        return database.serialize()


def _make_tables(database: sqlite3.Connection) -> None:
    for statement in _STATEMENTS:
        database.execute(statement)
    database.execute(f"PRAGMA application_id = {_APPLICATION}")
    database.execute(f"PRAGMA user_version = {_VERSION}")


def _machine() -> str:
    """Name the machine that the games are played on: processor and number of cores."""
    return f"{platform.machine()}, {os.cpu_count()} cores"
