"""Runs that are trained once for all tests of this folder; who changes one makes a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.toy import run_toy


@pytest.fixture(scope="session")
def begun_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy run of one iteration, not rated."""
    folder = tmp_path_factory.mktemp("begun") / "run"
    run_toy(folder, iterations=1, rate_every=0)
    return folder


@pytest.fixture(scope="session")
def rated_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy run of two iterations, rated after the second."""
    folder = tmp_path_factory.mktemp("rated") / "run"
    run_toy(folder, iterations=2)
    return folder
