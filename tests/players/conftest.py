"""Runs that several files of players look at and none changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.toy import run_toy


@pytest.fixture(scope="session")
def probs_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("players") / "run"
    run_toy(folder, iterations=3, rate_every=1)
    return folder


@pytest.fixture(scope="session")
def alphazero_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained by") / "alphazero"  # a space, which must be quoted
    # A gate that the new net does not pass, so that the best one is another.
    gate = {"gate_games": 2, "gate_score": 1.0, "gate_sims": 1}
    run_toy(folder, algorithm="alphazero", iterations=2, rate_every=0, **gate)
    return folder
