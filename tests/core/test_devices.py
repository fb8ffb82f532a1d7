"""Several devices in one process: each does items of its own, with the bits of one device; nets are fitted by all.

A process has as many devices as its first program finds, so that what several do is done in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from beamzero.games import make_game
from tests.conftest import relaxed_promotion
from tests.training import several_devices
from tests.training.toy import GAME, ROOT, settings


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> list[tuple[Any, list[dict[str, Any]]]]:
    """The arrays and the facts that come of one device, which this process has, and of two."""
    file = tmp_path_factory.mktemp("devices") / "two.npz"
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-m", "several_devices", str(file)],
        cwd=Path(several_devices.__file__).parent, text=True, capture_output=True,
        env={**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with relaxed_promotion():  # as the other process has it
        one = several_devices.everything()
    return [one, (np.load(file), json.loads(done.stdout))]


@pytest.mark.slow
@pytest.mark.parametrize("kind", several_devices.CHANGES)
def test_items_have_the_bits_of_one_device_and_nothing_compiles_again(kind, found):
    (one, _), (two, _) = found
    assert one["devices"] == 1 and two["devices"] == 2
    assert two[f"{kind} compiled"] == 0
    names = [name for name in one if name.startswith(f"{kind} ")]
    assert sorted(one) == sorted(two) and any(name.startswith(f"{kind} item") for name in names)
    for name in names:
        if name.startswith(f"{kind} item"):
            assert one[name].tobytes() == two[name].tobytes(), name
        elif name.startswith(f"{kind} state"):  # sums of gradients are rounded in another order
            np.testing.assert_allclose(one[name], two[name], atol=2e-3, err_msg=name)


@pytest.mark.slow
def test_a_minibatch_is_shared_out_and_its_gradients_are_summed(found):
    (_, fits), (_, others) = found
    for (norm, batch), one, two in zip(several_devices.FITS, fits, others, strict=True):
        assert two["all_reduce"] == (batch == 16), "15 rows cannot be cut in two: all devices do the same"
        assert not one["all_reduce"]
        assert two["placed"] == [1], "what comes of it lies on one device"
        assert two["loss"] == pytest.approx(one["loss"], rel=1e-5)
        # A bias before a batch norm has no gradient but rounding, of which Adam makes a step.
        assert norm == "batch" or two["weights"] == pytest.approx(one["weights"], rel=1e-3)


def test_a_run_of_several_devices_is_cut_for_them(monkeypatch):
    game = make_game(GAME)
    alone = settings("probs", games=64, lanes=0, search_batch=0).resolved(game)
    monkeypatch.setattr(jax, "local_device_count", lambda: 8)
    shared = settings("probs", games=64, lanes=0, search_batch=0).resolved(game)
    assert shared.lanes == 8 and settings("alphazero", games=12, lanes=0).resolved(game).lanes == 6
    assert shared.search_batch == 64 * 9 // 16 < alone.search_batch
