"""Results that were kept are found again, by what agents are and not by what they are called."""

from __future__ import annotations

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
from beamzero.errors import BadInput
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
