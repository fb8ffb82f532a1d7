"""An algorithm in a user's file is done by workers too. In a file of its own: the other tests hold all cores."""

from __future__ import annotations

import pytest

from beamzero.cluster import pool as pool_module
from beamzero.cluster.executor import ClusterExecutor
from beamzero.cluster.pool import Pool
from beamzero.cluster.worker import files_of
from beamzero.core.registry import ALGORITHMS
from beamzero.games import make_game
from tests.training.toy import GAME, TOYS, assert_same_run, run_toy

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
    files = files_of(make_game(GAME), "Mine")
    assert files == {"mine.py": MINE.encode()}
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(pool_module.os, "getcwd", lambda: "/no/such/folder")
        with Pool(1, files=files) as pool:
            run_toy(tmp_path / "there", executor=ClusterExecutor(pool), **plan)
    assert_same_run(tmp_path / "here", tmp_path / "there")
