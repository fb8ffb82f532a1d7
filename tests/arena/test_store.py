"""Results that were kept are found again, by what agents are and not by what they are called."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from beamzero.arena import store as module
from beamzero.arena.battle import Battle, NothingNew, battle
from beamzero.arena.intervals import score_interval
from beamzero.arena.store import Store
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player

GAME = make_game("tic_tac_toe")


def played(seed: int, agents: tuple[str, str] = ("one", "other"), pairs: int = 5, game: str = "tic_tac_toe") -> Battle:
    """A battle that nobody played."""
    rng = np.random.default_rng(seed)
    scores = rng.choice([0.0, 0.5, 1.0], (pairs, 2))
    hashes = tuple(rng.bytes(8) for _ in range(pairs))
    return Battle(game, agents, scores, hashes, 2, 7.5, score_interval(scores))


def test_what_was_added_is_found_from_both_sides_and_in_order(tmp_path):
    store, one, two = Store(tmp_path / "results.db"), played(1), played(2, ("renamed", "one"))
    store.add(one, ("A", "B"), 2, seed=1)
    store.add(two, ("B", "A"), 2, seed=2)
    again = Store(tmp_path / "results.db")
    found = again.meetings("tic_tac_toe", 2, {"one": "A", "other": "B"})
    assert set(found) == {("one", "other")}
    met = found["one", "other"]
    np.testing.assert_array_equal(met.pair_scores, np.vstack([one.pair_scores, 1 - two.pair_scores[:, ::-1]]))
    assert met.openings == {*one.opening_hashes, *two.opening_hashes} and met.battles == 2
    (turned,) = again.meetings("tic_tac_toe", 2, {"other": "B", "one": "A"}).values()
    np.testing.assert_array_equal(turned.pair_scores, 1 - met.pair_scores[:, ::-1])
    for game, plies, agents in (
        ("kalah", 2, {"one": "A", "other": "B"}),
        ("tic_tac_toe", 3, {"one": "A", "other": "B"}),
        ("tic_tac_toe", 2, {"one": "A", "third": "C"}),
    ):
        assert again.meetings(game, plies, agents) == {}


def test_reading_makes_no_file(tmp_path):
    path = tmp_path / "results.db"
    assert Store(path).meetings("tic_tac_toe", 2, {"one": "A"}) == {} and not path.exists()


def test_a_battle_is_kept_whole_or_not_at_all(tmp_path):
    store = Store(tmp_path / "results.db")
    store.add(played(1), ("A", "B"), 2, seed=1)
    broken = dataclasses.replace(played(2), opening_hashes=(b"8 bytes.", None) * 2 + (b"",))
    with pytest.raises(BadInput):
        store.add(broken, ("A", "B"), 2, seed=2)
    assert store.meetings("tic_tac_toe", 2, {"one": "A", "other": "B"})["one", "other"].battles == 1


def test_a_new_file_is_never_seen_empty(tmp_path, monkeypatch):
    opened, sizes = Store._open, []

    def look(store):
        sizes.append(store.path.stat().st_size)
        return opened(store)

    monkeypatch.setattr(Store, "_open", look)
    Store(tmp_path / "results.db").add(played(1), ("A", "B"), 2, seed=1)
    assert sizes and 0 not in sizes


@pytest.mark.slow
def test_several_processes_add_at_a_time(tmp_path):
    path = tmp_path / "results.db"
    program = """if True:
        import sys, numpy
        from beamzero.arena.battle import Battle
        from beamzero.arena.intervals import Interval
        from beamzero.arena.store import Store
        hashes = tuple(bytes([i]) * 8 for i in range(5))
        battle = Battle("tic_tac_toe", ("one", "other"), numpy.ones((5, 2)), hashes, 2, 7.5, Interval(0.5, 1.0))
        print("ready", flush=True)
        for seed in range(20):
            Store(sys.argv[1]).add(battle, ("A", "B"), 2, seed)
    """
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"ready\n"
        for seed in range(20):
            Store(path).add(played(1), ("A", "B"), 2, seed)
    assert other.returncode == 0
    met = Store(path).meetings("tic_tac_toe", 2, {"one": "A", "other": "B"})["one", "other"]
    assert met.battles == 40 and met.pair_scores.shape == (200, 2)


def test_what_is_no_store_gets_one_line_and_stays_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.1)
    good = tmp_path / "good.db"
    Store(good).add(played(1, pairs=400), ("A", "B"), 2, seed=1)
    text, cut, flipped, other = (tmp_path / name for name in ("text.db", "cut.db", "flipped.db", "other.db"))
    text.write_text("no database at all, and long enough to be looked at\n" * 20)
    whole = good.read_bytes()
    cut.write_bytes(whole[: len(whole) // 2])
    pages = bytearray(whole)
    pages[4096 * 3 : 4096 * 3 + 200] = b"\xff" * 200
    flipped.write_bytes(pages)
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE mine (x)")
    for path, message in (
        (text, "is damaged or no file of results"),
        (cut, "is damaged"),
        (flipped, "is damaged"),
        (other, "not one of results"),
        (tmp_path, "is a folder"),
        (tmp_path / "none" / "x.db", "there is no folder"),
    ):
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(BadInput, match=message) as error:
            Store(path)
        assert "\n" not in str(error.value)
        assert before is None or path.read_bytes() == before
    with sqlite3.connect(good, isolation_level=None) as database:
        database.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BadInput, match="in use by another program"):
            Store(good).add(played(2), ("A", "B"), 2, seed=2)
    newer = tmp_path / "newer.db"
    newer.write_bytes(whole)
    with sqlite3.connect(newer) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(BadInput, match="newer beamzero"):
        Store(newer)


AGENTS = {"one": "A", "other": "B"}


def results(path):
    """All that a store knows of two agents."""
    return {
        pair: (met.pair_scores.tolist(), met.openings, met.battles)
        for pair, met in Store(path).meetings("tic_tac_toe", 2, AGENTS).items()
    }


def small_store(path):
    """A store of as few bytes as can be."""
    for seed in (1, 2):
        Store(path).add(played(seed, pairs=4), ("A", "B"), 2, seed)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA page_size = 512")
        database.execute("VACUUM")
    return results(path)


def flip_and_look(path, places, rng):
    """Flip one bit at each of the places, one at a time: how often the store was refused, and how often it was not."""
    whole, before = path.read_bytes(), results(path)
    refused = 0
    for place in places:
        data = bytearray(whole)
        data[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(data)
        try:
            assert results(path) == before, f"another result after a flip in byte {place}"
        except BadInput as error:
            assert "\n" not in str(error)
            refused += 1
        for leftover in ("-wal", "-shm", "-journal"):
            path.with_name(path.name + leftover).unlink(missing_ok=True)
    path.write_bytes(whole)
    return refused, len(places) - refused


def test_a_flipped_bit_changes_no_result(tmp_path):
    path, rng = tmp_path / "results.db", np.random.default_rng(0)
    small_store(path)
    places = rng.choice(path.stat().st_size, 300, replace=False)
    refused, harmless = flip_and_look(path, places, rng)
    assert refused > 50 and harmless > 50, "what lies between the rows is of no account"


@pytest.mark.slow
def test_a_flipped_bit_in_any_byte_changes_no_result(tmp_path):
    path = tmp_path / "results.db"
    small_store(path)
    flip_and_look(path, range(path.stat().st_size), np.random.default_rng(1))


def change(path, *statements):
    """Change a store as no program of ours would."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        ("UPDATE pairs SET moving_first = 0.25 WHERE rowid = 1", "battle 1 does not match its SHA-256"),
        ("UPDATE pairs SET opening = x'00' WHERE rowid = 1", "battle 1 does not match its SHA-256"),
        ("DELETE FROM pairs WHERE rowid = 6", "battle 2 does not match its SHA-256"),
        ("INSERT INTO pairs VALUES (1, x'0011223344556677', 1, 1)", "battle 1 does not match its SHA-256"),
        ("UPDATE battles SET game = 'kalah' WHERE id = 2", "battle 2 does not match its SHA-256"),
        ("UPDATE battles SET first = 'B', second = 'A' WHERE id = 1", "battle 1 does not match its SHA-256"),
        ("DELETE FROM digests WHERE battle = 1", "battle 1 does not match its SHA-256"),
        ("INSERT INTO digests VALUES (9, x'00')", "a row is missing that others belong to"),
        ("UPDATE pairs SET moving_first = 7 WHERE rowid = 1", "has a score that is not 0 to 1"),
        ("CREATE TABLE more (x)", "its tables are not those of a file of results"),
        ("DROP INDEX by_game", "its tables are not those of a file of results"),
    ],
)
def test_results_that_were_changed_are_refused(tmp_path, statement, wrong):
    path = tmp_path / "results.db"
    small_store(path)
    change(path, "PRAGMA foreign_keys = OFF", statement)
    with pytest.raises(BadInput, match=f"is damaged: .*{wrong}.*; it was left as it is"):
        results(path)


def without_digests(path):
    """Make of a store what the version before made."""
    change(path, "DROP TABLE digests", "PRAGMA user_version = 1")


def test_a_store_without_digests_is_read_and_gets_them_with_the_next_battle(tmp_path):
    path = tmp_path / "results.db"
    before = small_store(path)
    without_digests(path)
    old = path.read_bytes()
    assert results(path) == before and path.read_bytes() == old, "reading changes nothing"
    Store(path).add(played(3, pairs=4), ("A", "B"), 2, seed=3)
    (now,) = results(path).values()
    (then,) = before.values()
    assert now[0] == then[0] + played(3, pairs=4).pair_scores.tolist() and now[2] == 3
    change(path, "UPDATE pairs SET moving_first = 0.25 WHERE rowid = 1")
    with pytest.raises(BadInput, match="battle 1 does not match its SHA-256"):
        results(path)


def test_a_damaged_store_without_digests_gets_none(tmp_path):
    path = tmp_path / "results.db"
    small_store(path)
    without_digests(path)
    store = Store(path)
    change(path, "PRAGMA foreign_keys = OFF", "DELETE FROM battles WHERE id = 1")
    old = path.read_bytes()
    with pytest.raises(BadInput, match="is damaged"):
        store.add(played(3, pairs=4), ("A", "B"), 2, seed=3)
    assert path.read_bytes() == old


def test_an_empty_file_is_a_store_without_results_and_that_is_said(tmp_path):
    path = tmp_path / "results.db"
    path.touch()
    with pytest.warns(UserWarning, match="was empty and is begun anew: if it held results, they are lost"):
        assert results(path) == {}
    with pytest.warns(UserWarning, match="was empty"):
        store = Store(path)
    store.add(played(1), ("A", "B"), 2, seed=1)
    assert len(results(path)) == 1


@pytest.mark.slow
def test_players_that_repeat_themselves_do_not_meet_twice_in_an_opening():
    one = other = dataclasses.replace(make_player("random", GAME), deterministic=True)  # or so it says
    first = battle(GAME, one, other, 20, 2, seed=0)
    second = battle(GAME, one, other, 20, 2, seed=0, avoid=set(first.opening_hashes))
    assert not set(first.opening_hashes) & set(second.opening_hashes) and first.openings == 10
    seen = set(first.opening_hashes) | set(second.opening_hashes)
    while True:
        try:
            seen |= set(battle(GAME, one, other, 400, 2, seed=0, avoid=seen).opening_hashes)
        except NothingNew as error:
            assert "have met in every opening of tic_tac_toe" in str(error)
            break
    assert len(seen) >= 72
