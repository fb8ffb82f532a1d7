"""Workers and machines die, hang and are refused: every item is done and counted once, and runs stay the same."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time

import pytest

from beamzero.cluster import pool as module
from beamzero.cluster import schedule
from beamzero.cluster.executor import ClusterExecutor
from beamzero.cluster.pool import Pool
from beamzero.cluster.schedule import MOST_TRIES
from beamzero.cluster.worker import files_of
from beamzero.core.errors import BadInput, RunStopped
from beamzero.games import make_game
from beamzero.training.report import Report
from tests.cluster import jobs
from tests.cluster.conftest import STORE, wait_until
from tests.training.test_loop import stop_when
from tests.training.toy import assert_same_run, command, numbers, run_toy, start

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cluster")]
ITEMS = list(range(12))
KILLS = 10
SMALL = {"games": 16, "lanes": 4, "seed": 3}
ITERATIONS = 8


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def pool(warnings):
    with Pool(2, warn=warnings.append) as pool:
        yield pool


def test_a_worker_that_is_killed_is_replaced_and_its_item_done_again(pool, warnings, tmp_path):
    assert list(pool.do(jobs.die_at_first, str(tmp_path), ITEMS[:3])) == ITEMS[:3]
    wait_until(lambda: pool.facts()["deaths"] == 3)  # another may have been faster than the news of a death
    list(pool.do(jobs.add, 0, ITEMS))
    assert [line.split(":")[1] for line in warnings] == [" another takes its place"] * 3


def test_what_hangs_is_done_by_another_and_replaced(pool, warnings, tmp_path, monkeypatch):
    monkeypatch.setattr(schedule, "_HANGING", 2.0)
    monkeypatch.setattr(schedule, "_HANGING_SECONDS", 0.0)
    assert list(pool.do(jobs.add, 0, ITEMS)) == ITEMS
    assert list(pool.do(jobs.stop_at_first, str(tmp_path), ITEMS)) == ITEMS
    wait_until(lambda: pool.facts()["deaths"] >= 1 and pool.facts()["alive"] == 2)
    assert list(pool.do(jobs.add, 0, ITEMS)) == ITEMS
    said = [line.split(" ", 4)[4] for line in warnings]
    assert said[0] == "hangs" and "died: another takes its place" in said


def test_an_item_that_is_deadly_stops_the_run(pool):
    with pytest.raises(RunStopped, match=f"a piece of work failed {MOST_TRIES} times.*give them smaller pieces"):
        list(pool.do(jobs.die, 0, [1]))


def test_an_exception_of_the_work_is_that_of_the_pool():
    with pytest.raises(ValueError, match="item 5 is wrong"), Pool(1) as pool:
        list(pool.do(jobs.fail, 0, [5]))


def test_bad_input_is_one_line_that_says_where():
    line = r"^worker \d+ on \S+: no such thing \(there are: others\)$"
    with pytest.raises(BadInput, match=line), Pool(1) as pool:
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
    files = files_of(game.spec)
    assert files == {"games/mine.py": MINE.encode()} and files_of("tic_tac_toe", "probs") == {}
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
        list(pool.do(jobs.add, 0, ITEMS))


def test_a_node_is_lost_and_another_joins(cluster, pool, warnings):
    deadline = time.monotonic() + 120
    while len({node for node, _ in pool.do(jobs.where, None, ITEMS)}) < 2:
        assert time.monotonic() < deadline
    tickets = pool.begin(jobs.where, None, list(range(60)))
    cluster.remove_node(cluster.worker_nodes.copy().pop(), allow_graceful=False)
    joined = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    assert len([node for node, _ in pool.results(tickets)]) == 60
    while joined.node_id not in {node for node, _ in pool.do(jobs.where, None, ITEMS)}:
        assert time.monotonic() < deadline
    assert pool.facts()["deaths"] >= 1 and any("died" in line for line in warnings)


def test_many_kills_lose_no_item_and_count_none_twice(pool):
    """A killer takes any worker, at any time, and waits only until something was done since."""
    list(pool.do(jobs.add, 0, ITEMS))
    kills, stop, taken = [], threading.Event(), []

    def kill() -> None:
        draw, before = random.Random(0), 0
        while len(kills) < KILLS and not stop.is_set():
            time.sleep(draw.uniform(0.05, 0.4))
            with pool.changed:
                ready = [worker for worker in pool.workers if worker.ready]
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
            items = list(range(number, number + 10))
            for result in pool.do(jobs.add_slowly, 0.05, items):
                taken.append(result)  # one at a time: the killer counts them
            number += 10
    finally:
        stop.set()
        killer.join()
    assert taken == [item + 1 for item in range(number)]
    assert len(kills) == KILLS and pool.facts()["deaths"] >= KILLS * 3 // 4, "one that is killed twice dies once"


# --- training runs ----------------------------------------------------------------------------------------------------


class Killer(Report):
    """Kills a worker at every so many steps of a run, and keeps what was said."""

    def __init__(self, every: int) -> None:
        self.every, self.steps, self.said, self.kills = every, 0, [], 0
        self.pool: Pool | None = None

    def message(self, text: str) -> None:
        self.said.append(text)

    def phase(self, name: str, done: int, total: int) -> None:
        self.steps += 1
        if self.pool is not None and self.steps % self.every == 0:
            with self.pool.changed:
                alive = [worker for worker in self.pool.workers if worker.ready]
            if alive:
                with contextlib.suppress(ProcessLookupError):  # it is dead already, and nobody has noticed yet
                    os.kill(alive[self.kills % len(alive)].pid, signal.SIGKILL)
                self.kills += 1


@pytest.mark.parametrize("algorithm", ["probs", "alphazero"])
def test_workers_that_are_killed_change_nothing_but_the_log(cluster, algorithm, tmp_path):
    iterations = ITERATIONS // 2
    plan = {**SMALL, "algorithm": algorithm, "iterations": iterations}
    run_toy(tmp_path / "here", **plan)
    killer = Killer(every=20)
    with Pool(2, warn=killer.message) as pool:
        killer.pool = pool
        run_toy(tmp_path / "there", killer, ClusterExecutor(pool), **plan)
        deaths = pool.facts()["deaths"]
    assert_same_run(tmp_path / "here", tmp_path / "there")
    assert killer.kills >= 3 and deaths >= 2 and any("died: another takes its place" in line for line in killer.said)
    assert sum(record["games"] for record in numbers(tmp_path / "there")) == SMALL["games"] * iterations


def test_a_learner_that_is_killed_goes_on_here_or_there(tmp_path):
    plan = {key: value for key, value in SMALL.items() if key != "seed"}
    folder = tmp_path / "there"
    process = start(command(folder, "--seed", "3", "--cluster", "local", "--workers", "2", **plan))
    stop_when(process, lambda: 2 <= len(numbers(folder)) < ITERATIONS - 1, begun=(folder / "metrics.jsonl").exists)
    process.kill()
    process.communicate()
    run_toy(folder, resume=True)
    run_toy(tmp_path / "here", **SMALL)
    assert_same_run(tmp_path / "here", folder)
