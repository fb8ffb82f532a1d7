"""Game sessions on disk."""

from __future__ import annotations

import contextlib
import random
import sqlite3

import pytest

from beamzero.core.errors import BadInput
from beamzero.web.store import SessionStore


@pytest.fixture
def open_store():
    """Opens stores that are closed at the end of the test."""
    opened = []

    def open_one(path):
        opened.append(SessionStore(path))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


def fill(store):
    for number in range(4):
        store.add(f"t{number}", "me", "kalah", {"moves": [number]}, {"moves": number})
    store.add("other", "you", "kalah", {}, {})
    return store


def test_what_was_put_is_there_for_whoever_opens_the_file_next(tmp_path, open_store):
    first = fill(open_store(tmp_path / "games.sqlite"))
    first.put("t1", {"moves": [1, 5]}, {"moves": 2})
    # as if the server was killed: nothing is closed
    second = open_store(tmp_path / "games.sqlite")
    row = second.get("t1")
    assert (row.client, row.game, row.data, row.summary) == ("me", "kalah", {"moves": [1, 5]}, {"moves": 2})
    assert second.get("t9") is None
    assert second.of_client("me", 10)[0].id == "t1", "the last changed comes first"


def test_a_browser_sees_its_own_games_only_and_the_oldest_make_room(tmp_path, open_store):
    store = fill(open_store(tmp_path / "games.sqlite"))
    assert {row.id for row in store.of_client("me", 10)} == {"t0", "t1", "t2", "t3"}
    assert store.keep_newest("me", 2) == ["t1", "t0"]
    assert [row.id for row in store.of_client("me", 10)] == ["t3", "t2"]
    store.delete("t3")
    store.put("t3", {"moves": [7]}, {})
    assert [row.id for row in store.of_client("me", 10)] == ["t2"]
    assert [row.id for row in store.of_client("you", 10)] == ["other"]


def all_of(path):
    """All that a file keeps, None for a game that cannot be opened; BadInput where the file is refused."""
    store = SessionStore(path)
    try:
        games = {}
        for id in ("t0", "t1", "t2", "t3", "other"):
            try:
                games[id] = store.get(id)
            except BadInput:
                games[id] = None
        return games, store.of_client("me", 10)
    finally:
        store.close()


def small(path):
    """A file of few bytes in which games are kept."""
    fill(SessionStore(path)).close()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in ("pragma journal_mode = delete", "pragma page_size = 512", "vacuum"):
            db.execute(statement)


def test_a_flipped_bit_makes_no_other_game(tmp_path):
    path, rng = tmp_path / "games.sqlite", random.Random(0)
    small(path)
    whole, (games, listed) = path.read_bytes(), all_of(path)
    refused = 0
    for place in rng.sample(range(len(whole)), 120):
        data = bytearray(whole)
        data[place] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            found, list_now = all_of(path)
        except BadInput as error:
            assert "\n" not in str(error)
            refused += 1
        else:
            assert all(found[id] in (None, row) for id, row in games.items())
            assert [row for row in listed if row in list_now] == list_now
            refused += found != games
        for leftover in ("-wal", "-shm", "-journal"):
            path.with_name(path.name + leftover).unlink(missing_ok=True)
    assert refused > 20


def test_a_game_that_was_changed_on_the_disk_is_refused_and_the_others_are_not(tmp_path, open_store):
    path = tmp_path / "games.sqlite"
    fill(SessionStore(path)).close()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("update tables set told = '{\"moves\": [9]}' where id = 't1'")
        db.execute("update tables set told = 'no JSON' where id = 't2'")
    store = open_store(path)
    for id in ("t1", "t2"):
        with pytest.raises(BadInput, match="this game was damaged on the disk"):
            store.get(id)
    assert [row.id for row in store.of_client("me", 10)] == ["t3", "t0"]
    assert store.client_of("t2") == "me" and store.client_of("t9") is None, "so it can be deleted"
    store.put("t1", {"moves": [1]}, {})
    assert store.get("t1").data == {"moves": [1]}, "what is put anew is whole again"


def test_a_file_without_digests_gets_them(tmp_path, open_store):
    path = tmp_path / "games.sqlite"
    fill(SessionStore(path)).close()
    before = all_of(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("alter table tables drop column sha256")
        db.execute("pragma user_version = 1")
    assert all_of(path) == before
    store = open_store(path)
    store.add("new", "me", "kalah", {}, {})
    store.put("t0", {"moves": [4]}, {})
    assert store.get("new").data == {} and store.get("t0").data == {"moves": [4]}


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "a.sqlite").write_text("no database " * 100)
    with pytest.raises(BadInput, match="cannot keep games: file is not a database"):
        SessionStore(tmp_path / "a.sqlite")
    db = sqlite3.connect(tmp_path / "b.sqlite")
    db.execute("pragma user_version = 7")
    db.close()
    with pytest.raises(BadInput, match="another version of beamzero wrote it"):
        SessionStore(tmp_path / "b.sqlite")
    with pytest.raises(BadInput, match="unable to open"):
        SessionStore(tmp_path / "no" / "c.sqlite")


def test_another_program_s_database_is_left_as_it_is(tmp_path):
    db = sqlite3.connect(tmp_path / "a.sqlite")
    db.execute("create table notes (text)")
    db.close()
    before = (tmp_path / "a.sqlite").read_bytes()
    with pytest.raises(BadInput, match="cannot keep games: it is a database, but not one of games"):
        SessionStore(tmp_path / "a.sqlite")
    assert (tmp_path / "a.sqlite").read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_an_empty_file_is_begun_anew_with_a_warning(tmp_path):
    path = tmp_path / "web.sqlite"
    path.touch()
    with pytest.warns(UserWarning, match="was empty and is begun anew: if it held games, they are lost"):
        SessionStore(path).close()
    SessionStore(path).close()
