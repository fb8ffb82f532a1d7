"""Programs side by side: every item once, in order, and nothing left running."""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import pytest

from beamzero.core import cores
from beamzero.core.compiler import CompilationCount


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_every_item_is_done_in_order(monkeypatch, threads, count):
    monkeypatch.setattr(cores, "programs_at_once", lambda on_host=False: threads)
    assert list(cores.side_by_side(lambda item: jnp.int32(item) * 2, range(count))) == [2 * i for i in range(count)]


def test_a_program_is_compiled_once_for_all_threads():
    @jax.jit
    def slow_to_compile(x):
        for i in range(60):
            x = jnp.sort(x * jnp.float32(i))
        return x

    arguments = [jnp.full(137, i, jnp.float32) for i in range(4)]
    with CompilationCount() as count:
        assert len(list(cores.side_by_side(slow_to_compile, arguments))) == 4
    assert count.number == 1


def test_what_goes_wrong_is_told_and_the_rest_is_given_up():
    done = []

    def fail_at_the_second(item):
        done.append(item)
        if item == 1:
            raise ValueError("no")
        if item > 1:
            time.sleep(0.05)  # all of them take many seconds, however late the first failure is heard of
        return jnp.int32(item)

    with pytest.raises(ValueError, match="no"):
        list(cores.side_by_side(fail_at_the_second, range(500)))
    seen = len(done)
    assert 2 <= seen < 500
    assert list(cores.side_by_side(jnp.int32, range(3))) == [0, 1, 2] and len(done) == seen, "nothing runs on"
