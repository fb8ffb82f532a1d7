"""Results of battles, kept in one SQLite file: what was played once need not be played again.

Agents are known by their fingerprints, so that a result belongs to the weights and settings that earned it, whatever
they are called. Results are only ever added. Each opening pair is kept with a hash of its opening: two agents that
always answer alike would play the same game from it again.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from beamzero.arena.battle import Battle
from beamzero.errors import BadInput
from beamzero.runs.files import check_writable, writing

_APPLICATION = 0x62306172
"""In the head of the file, so that no other database is taken for one of ours."""
_VERSION = 1
_PATIENCE_SECONDS = 10.0

_TABLES = """
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
CREATE INDEX by_battle ON pairs (battle);
"""


class Met(NamedTuple):
    """All games of two agents so far, as the first-named sees them."""

    pair_scores: np.ndarray  # float [P, 2]
    openings: frozenset[bytes]
    battles: int


class Store:
    """A file of results; it is made where there is none. Several processes may use it at a time."""

    def __init__(self, path: str | os.PathLike[str], make_folder: bool = False) -> None:
        """With `make_folder` the folder of the file is made too, when there is something to keep."""
        self.path, self.make_folder = Path(path), make_folder
        if self.path.is_dir():
            raise BadInput(f"{self.path} is a folder, but results are kept in one file")
        if self.path.exists() and not self.path.is_file():
            raise BadInput(f"{self.path} is no ordinary file, but results are kept in one")
        if not self.path.parent.is_dir() and not make_folder:
            raise BadInput(f"there is no folder {self.path.parent} to keep {self.path.name} in")
        if self.path.exists():
            with self._open() as database:
                self._check(database)

    def check_writable(self) -> None:
        """BadInput where nothing could be added, so that it is known before games are played."""
        folder = next(one for one in self.path.absolute().parents if one.exists())
        check_writable(folder / self.path.name, "results are")
        if self.path.exists():
            with self._open() as database:
                database.execute("BEGIN IMMEDIATE")
                database.execute("ROLLBACK")

    def add(self, battle: Battle, fingerprints: tuple[str, str], asked_plies: int, seed: int) -> None:
        """Keep what came of a battle, whole or not at all."""
        if self.make_folder:
            with writing(str(self.path), otherwise=BadInput):
                self.path.parent.mkdir(parents=True, exist_ok=True)
        with writing(str(self.path), otherwise=BadInput), self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            self._make_tables(database)
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
            database.execute("COMMIT")

    def meetings(self, game: str, asked_plies: int, fingerprints: Mapping[str, str]) -> dict[tuple[str, str], Met]:
        """What the agents, {name: fingerprint}, have played against each other, by (earlier name, later name)."""
        found: dict[tuple[str, str], list[tuple[int, bytes, float, float]]] = {}
        places = {fingerprint: place for place, fingerprint in enumerate(fingerprints.values())}
        names = list(fingerprints)
        if not self.path.exists():
            return {}
        with self._open() as database:
            self._check(database)
            rows = database.execute(
                "SELECT battles.id, first, second, opening, moving_first, moving_second FROM pairs"
                " JOIN battles ON battles.id = pairs.battle WHERE game = ? AND random_plies = ?"
                " ORDER BY pairs.rowid",
                (game, asked_plies),
            ).fetchall()
        for battle, first, second, opening, one, other in rows:
            if first not in places or second not in places:
                continue
            if places[first] < places[second]:
                pair, scores = (names[places[first]], names[places[second]]), (one, other)
            else:
                pair, scores = (names[places[second]], names[places[first]]), (1.0 - other, 1.0 - one)
            found.setdefault(pair, []).append((battle, opening, *scores))
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
        """The database; in one line what is wrong with it, which is left as it is."""
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
            raise BadInput(f"{self.path} cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            raise BadInput(f"{self.path} is damaged or no file of results: {error}; it was left as it is") from error

    def _check(self, database: sqlite3.Connection) -> None:
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION and not self._empty(database):
            raise BadInput(f"{self.path} is a database, but not one of results; it was left as it is")
        if version > _VERSION:
            raise BadInput(f"{self.path} was written by a newer beamzero; it was left as it is")
        ((state,), *_) = database.execute("PRAGMA quick_check(1)").fetchall()
        if state != "ok":
            raise BadInput(f"{self.path} is damaged: {' '.join(state.split())}; it was left as it is")

    def _empty(self, database: sqlite3.Connection) -> bool:
        return database.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)

    def _make_tables(self, database: sqlite3.Connection) -> None:
        if not self._empty(database):
            return
        for statement in _TABLES.split(";"):
            if statement.strip():
                database.execute(statement)
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.execute(f"PRAGMA user_version = {_VERSION}")


def _machine() -> str:
    """What the games were played on: processor and number of cores."""
    return f"{platform.machine()}, {os.cpu_count()} cores"
