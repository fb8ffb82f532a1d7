"""What stands in a user's file is done by workers too. In a file of its own: the other tests hold all cores."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from beamzero.arena.battle import battle
from beamzero.cluster import pool as pool_module
from beamzero.cluster.battles import ClusterPlay
from beamzero.cluster.executor import ClusterExecutor
from beamzero.cluster.pool import Pool
from beamzero.cluster.worker import files_of
from beamzero.core.registry import ALGORITHMS, SEARCHES
from beamzero.games import make_game
from beamzero.players import make_player
from tests.training.toy import GAME, ROOT, TOYS, assert_same_run, run_toy

pytestmark = pytest.mark.slow
SMALL = {"games": 16, "lanes": 4, "seed": 3}

MINE = """
from beamzero.algorithms.alphazero.iterate import AlphaZero

class Mine(AlphaZero):
    title = "mine"
"""


def test_an_algorithm_in_a_file_is_done_by_workers_too(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ALGORITHMS, "_registered", {})
    (tmp_path / "mine.py").write_text(MINE)
    plan = {**TOYS["alphazero"], **SMALL, "algorithm": ALGORITHMS.read("mine.py:Mine"), "iterations": 2}
    monkeypatch.setitem(TOYS, "Mine", {})
    run_toy(tmp_path / "here", **plan)
    files = files_of(GAME, ALGORITHMS.source("Mine"))
    assert files == {"mine.py": MINE.encode()}
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(pool_module, "os", SimpleNamespace(getcwd=lambda: "/no/such/folder"))
        with Pool(1, files=files) as pool:
            run_toy(tmp_path / "there", executor=ClusterExecutor(pool), **plan)
    assert_same_run(tmp_path / "here", tmp_path / "there")


def test_a_game_and_a_search_in_a_file_are_played_by_workers_too(cluster, tmp_path, monkeypatch):
    shutil.copy(ROOT / "examples" / "own_algorithm.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(SEARCHES, "_registered", {})
    game = make_game("own_algorithm.py:Nim,heap=7")
    names = ("own_algorithm.py:Rollouts,games=100", "random")
    one, other = (make_player(name, game) for name in names)
    files = files_of(game.spec, *names)
    assert files.keys() == {"own_algorithm.py"}
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(pool_module, "os", SimpleNamespace(getcwd=lambda: "/no/such/folder"))
        with Pool(1, files=files) as pool:
            played = battle(game, one, other, 40, play=ClusterPlay(pool))
    assert played.games == 40 and played.score > 0.7
