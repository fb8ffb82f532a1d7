"""Workers are killed, hang, run out of room and lose their machines; every piece is done, and counted once."""

from __future__ import annotations

import os
import random
import signal
import threading
import time

import pytest

from beamzero.cluster import pool as module
from beamzero.cluster.luggage import files_of
from beamzero.cluster.pool import MOST_TRIES, Pool
from beamzero.errors import BadInput, RunStopped
from beamzero.games import make_game
from tests.cluster import jobs
from tests.cluster.conftest import STORE

pytestmark = pytest.mark.usefixtures("cluster")
PIECES = list(range(12))


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def pool(warnings):
    with Pool(2, warn=warnings.append) as pool:
        yield pool


def wait_until(holds) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_results_come_in_order_whatever_was_asked_before(pool):
    first = pool.begin(jobs.add, 100, PIECES)
    second = pool.begin(jobs.add, 200, PIECES)
    assert list(pool.results(second)) == [200 + piece for piece in PIECES]
    assert list(pool.results(first)) == [100 + piece for piece in PIECES]
    facts = pool.facts()
    assert 1 <= facts["alive"] <= 2 and facts["deaths"] == facts["twice"] == 0
    assert sum(worker["pieces"] for worker in facts["by_worker"].values()) == 2 * len(PIECES)


def test_work_goes_on_while_nobody_asks_for_results(pool):
    list(pool.do(jobs.add, 0, PIECES))
    tickets = pool.begin(jobs.add_slowly, 0.01, PIECES)
    wait_until(lambda: all(ticket.done for ticket in tickets))


def test_a_worker_that_is_killed_is_replaced_and_its_piece_done_again(pool, warnings, tmp_path):
    assert list(pool.do(jobs.die_at_first, str(tmp_path), PIECES[:3])) == PIECES[:3]
    wait_until(lambda: pool.facts()["deaths"] == 3)  # another may have been faster than the news of a death
    list(pool.do(jobs.add, 0, PIECES))
    assert [line.split(":")[1] for line in warnings] == [" another takes its place"] * 3


def test_a_full_store_is_waited_for(pool, warnings, tmp_path):
    assert list(pool.do(jobs.full_at_first, str(tmp_path), PIECES)) == PIECES
    assert 1 <= len(warnings) <= len(PIECES) and all("store is full" in line for line in warnings)
    assert pool.facts()["deaths"] == 0


def test_more_goes_through_the_store_than_it_holds(pool):
    size = STORE // 10
    shared = os.urandom(size)
    results = pool.do(jobs.weigh, shared, [size] * 25)
    assert all(result == shared for result in results)


def test_what_hangs_is_done_by_another_and_replaced(pool, warnings, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "HANGING", 2.0)
    monkeypatch.setattr(module, "HANGING_SECONDS", 0.0)
    assert list(pool.do(jobs.add, 0, PIECES)) == PIECES
    assert list(pool.do(jobs.stop_at_first, str(tmp_path), PIECES)) == PIECES
    wait_until(lambda: pool.facts()["deaths"] >= 1 and pool.facts()["alive"] == 2)
    assert list(pool.do(jobs.add, 0, PIECES)) == PIECES
    said = [line.split(" ", 4)[4] for line in warnings]
    assert said[0] == "hangs" and "died: another takes its place" in said


def test_a_cluster_without_room_is_spoken_of(warnings, monkeypatch):
    monkeypatch.setattr(module, "_SECONDS_TO_WAIT_FOR_WORKERS", 0.5)
    with Pool(1, gpus=1.0, warn=warnings.append) as pool:
        results = pool.begin(jobs.add, 0, PIECES)
        wait_until(lambda: pool._warnings)
        pool._speak()
        assert not any(ticket.done for ticket in results)
    assert warnings[0].startswith("no worker has begun yet: the cluster may have no room for any")


def test_a_piece_that_is_deadly_stops_the_run(pool):
    with pytest.raises(RunStopped, match=f"a piece of work failed {MOST_TRIES} times.*give them smaller pieces"):
        list(pool.do(jobs.die, 0, [1]))


def test_an_exception_of_the_work_is_that_of_the_pool(pool):
    with pytest.raises(ValueError, match="piece 5 is wrong"):
        list(pool.do(jobs.fail, 0, [5]))


def test_want_of_memory_that_is_raised_is_tried_again_elsewhere(pool, warnings, tmp_path):
    assert list(pool.do(jobs.starve_at_first, str(tmp_path), PIECES[:3])) == PIECES[:3]
    assert len(warnings) == 3 and all(line.endswith("ran out of memory") for line in warnings)
    assert pool.facts()["deaths"] == 0


def test_bad_input_is_one_line_that_says_where(pool):
    with pytest.raises(BadInput, match=r"^worker \d+ on \S+: no such thing \(there are: others\)$"):
        list(pool.do(jobs.refuse, 0, [1]))


MINE = """
import dataclasses
from beamzero.games.tic_tac_toe import TicTacToe

@dataclasses.dataclass(frozen=True)
class Mine(TicTacToe):
    name = "mine"
"""


def test_the_file_of_a_game_goes_with_the_workers(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "mine.py").write_text(MINE)
    game = make_game("games/mine.py:Mine")
    files = files_of(game)
    assert files == {"games/mine.py": MINE.encode()} and files_of(make_game("tic_tac_toe")) == {}
    monkeypatch.setattr(module.os, "getcwd", lambda: "/no/such/folder")
    with Pool(1, files=files) as pool:
        assert list(pool.do(jobs.play_first_moves, game.spec, [0])) == ["mine a1 b1 c1 a2 b2 c2 a3 b3 c3"]
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games" / "mine.py").write_text(MINE + "# changed")
    with (
        pytest.raises(BadInput, match=r"has another games/mine\.py: it must be the same"),
        Pool(1, files=files) as pool,
    ):
        list(pool.do(jobs.add, 0, [1]))


def test_other_versions_are_refused(monkeypatch):
    real = module.versions()
    monkeypatch.setattr(module, "versions", lambda: {**real, "jax": "0.0.1"})
    with (
        pytest.raises(BadInput, match=r"worker \d on .* has jax .*, but here it is 0\.0\.1: they must be the same"),
        Pool(1) as pool,
    ):
        list(pool.do(jobs.add, 0, PIECES))


def test_a_node_is_lost_and_another_joins(cluster, pool, warnings):
    deadline = time.monotonic() + 120
    while len({node for node, _ in pool.do(jobs.where, None, PIECES)}) < 2:
        assert time.monotonic() < deadline
    tickets = pool.begin(jobs.where, None, list(range(60)))
    cluster.remove_node(cluster.worker_nodes.copy().pop(), allow_graceful=False)
    joined = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    assert len([node for node, _ in pool.results(tickets)]) == 60
    while joined.node_id not in {node for node, _ in pool.do(jobs.where, None, PIECES)}:
        assert time.monotonic() < deadline
    assert pool.facts()["deaths"] >= 1 and any("died" in line for line in warnings)


def test_twenty_kills_lose_no_piece_and_count_none_twice(pool):
    """A killer takes any worker, at any time, and waits only until something was done since."""
    list(pool.do(jobs.add, 0, PIECES))
    kills, stop, taken = [], threading.Event(), []

    def kill() -> None:
        draw, before = random.Random(0), 0
        while len(kills) < 20 and not stop.is_set():
            time.sleep(draw.uniform(0.05, 0.4))
            with pool.changed:
                ready = [hand for hand in pool.hands if hand.ready]
            if ready and len(taken) > before:
                victim = draw.choice(ready)
                try:
                    os.kill(victim.pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
                kills.append(victim.number)
                before = len(taken)

    killer = threading.Thread(target=kill)
    killer.start()
    number = 0
    try:
        while killer.is_alive():
            pieces = list(range(number, number + 10))
            for result in pool.do(jobs.add_slowly, 0.05, pieces):
                taken.append(result)  # one at a time: the killer counts them
            number += 10
    finally:
        stop.set()
        killer.join()
    assert taken == [piece + 1 for piece in range(number)]
    assert len(kills) == 20 and pool.facts()["deaths"] >= 15, "one that is killed twice dies once"
