"""Tables on disk."""

from __future__ import annotations

import sqlite3

import pytest

from beamzero.errors import BadInput
from beamzero.web.store import Store


@pytest.fixture
def open_store():
    """Opens stores that are closed at the end of the test."""
    opened = []

    def open_one(path):
        opened.append(Store(path))
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
    assert (row.client, row.game, row.told, row.summary) == ("me", "kalah", {"moves": [1, 5]}, {"moves": 2})
    assert second.get("t9") is None
    assert second.of_client("me", 10)[0].id == "t1", "the last changed comes first"


def test_a_browser_sees_its_own_tables_only_and_the_oldest_make_room(tmp_path, open_store):
    store = fill(open_store(tmp_path / "games.sqlite"))
    assert {row.id for row in store.of_client("me", 10)} == {"t0", "t1", "t2", "t3"}
    assert store.keep_newest("me", 2) == ["t1", "t0"]
    assert [row.id for row in store.of_client("me", 10)] == ["t3", "t2"]
    store.delete("t3")
    store.put("t3", {"moves": [7]}, {})
    assert [row.id for row in store.of_client("me", 10)] == ["t2"]
    assert [row.id for row in store.of_client("you", 10)] == ["other"]


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "a.sqlite").write_text("no database " * 100)
    with pytest.raises(BadInput, match="cannot keep games: file is not a database"):
        Store(tmp_path / "a.sqlite")
    db = sqlite3.connect(tmp_path / "b.sqlite")
    db.execute("pragma user_version = 7")
    db.close()
    with pytest.raises(BadInput, match="another version of beamzero wrote it"):
        Store(tmp_path / "b.sqlite")
    with pytest.raises(BadInput, match="unable to open"):
        Store(tmp_path / "no" / "c.sqlite")


def test_another_program_s_database_is_left_as_it_is(tmp_path):
    db = sqlite3.connect(tmp_path / "a.sqlite")
    db.execute("create table notes (text)")
    db.close()
    before = (tmp_path / "a.sqlite").read_bytes()
    with pytest.raises(BadInput, match="cannot keep games: it is a database, but not one of games"):
        Store(tmp_path / "a.sqlite")
    assert (tmp_path / "a.sqlite").read_bytes() == before and len(list(tmp_path.iterdir())) == 1
