"""Several devices in one process: each does pieces of its own, with the bits of one device; nets are fitted by all.

A process has as many devices as its first program finds, so that these tests run in processes of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import jax
import numpy as np
import pytest

from beamzero.games import make_game
from beamzero.training.config import settle
from tests.training.toy import GAME, ROOT, settings


def in_process(count: int, what: str, *arguments: str) -> str:
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={count}"
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "tests/training/several_devices.py", what, *arguments],
        cwd=ROOT, text=True, capture_output=True, env={**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", ["probs", "alphazero"])
def test_pieces_have_the_bits_of_one_device_and_nothing_compiles_again(kind, tmp_path):
    runs = []
    for count in (1, 4):
        file = tmp_path / f"{count}.npz"
        in_process(count, "iterate", kind, str(file))
        runs.append(np.load(file))
    one, four = runs
    assert one["devices"] == 1 and four["devices"] == 4
    assert four["compiled"] == 0
    assert one.files == four.files and any(name.startswith("piece") for name in one.files)
    for name in one.files:
        if name.startswith("piece"):
            assert one[name].tobytes() == four[name].tobytes(), name
        elif name.startswith("state"):  # sums of gradients are rounded in another order
            np.testing.assert_allclose(one[name], four[name], atol=2e-3, err_msg=name)


def test_a_minibatch_is_shared_out_and_its_gradients_are_summed():
    found = [json.loads(in_process(count, "fit")) for count in (1, 3, 4)]
    for norm in ("layer", "batch"):
        one, three, four = (each[norm] for each in found)
        assert (one["devices"], three["devices"], four["devices"]) == (1, 3, 4)
        assert four["all_reduce"] and not one["all_reduce"]
        assert not three["all_reduce"], "16 rows cannot be cut in three: all devices do the same"
        for other in (three, four):
            assert other["placed"] == [1], "what comes of it lies on one device"
            assert other["loss"] == pytest.approx(one["loss"], rel=1e-5)
            # A bias before a batch norm has no gradient but rounding, of which Adam makes a step.
            assert norm == "batch" or other["weights"] == pytest.approx(one["weights"], rel=1e-3)


def test_a_run_of_several_devices_is_cut_for_them(monkeypatch):
    game = make_game(GAME)
    alone = settle(settings("probs", games=64, lanes=0, search_batch=0), game)
    monkeypatch.setattr(jax, "local_device_count", lambda: 8)
    shared = settle(settings("probs", games=64, lanes=0, search_batch=0), game)
    assert shared.lanes == 8 and settle(settings("alphazero", games=12, lanes=0), game).lanes == 6
    assert shared.search_batch == 64 * 9 // 16 < alone.search_batch
