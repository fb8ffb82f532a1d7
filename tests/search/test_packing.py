"""`apply_packed` is the plain function where the mask holds, at the cost of the rows that count."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamzero.search.packing import apply_packed, pack, take_rows

SIZE = 13
MASKS = st.lists(st.booleans(), min_size=SIZE, max_size=SIZE).map(np.array)


class Rows(NamedTuple):
    number: jax.Array  # int32 [N]
    vector: jax.Array  # float32 [N, 3]


def plain(rows: Rows) -> tuple[jax.Array, jax.Array]:
    """Some function of each row on its own, with results of two types and shapes; never zero."""
    return rows.number * 2 + 101, jnp.stack([rows.vector[:, 0] * 3, rows.vector[:, 1] - 7], axis=1) + 100


def rows_of(seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    # Whole numbers, so that the compiler's way of multiplying and adding rounds nothing.
    return Rows(rng.integers(0, 99, SIZE, dtype=np.int32), rng.integers(0, 99, (SIZE, 3)).astype(np.float32))


@functools.partial(jax.jit, static_argnums=2)
def packed(rows, mask, chunk):
    """The results, and for each row the number of the chunk that did it, plus 1."""
    function = lambda rows, number: (plain(rows), jnp.full(rows.number.shape, number + 1))  # noqa: E731
    return apply_packed(function, rows, mask, chunk)


@pytest.mark.parametrize("chunk", [1, 4, SIZE, 50])
@given(mask=MASKS, seed=st.integers(0, 9))
def test_rows_that_count_get_the_plain_answer_and_others_zeros(chunk, mask, seed):
    rows = rows_of(seed)
    results, numbers = jax.device_get(packed(rows, mask, chunk))
    for result, expected in zip(results, jax.device_get(plain(rows)), strict=True):
        assert result.dtype == expected.dtype and result.shape == expected.shape
        assert (result[mask] == expected[mask]).all()
        assert (result[~mask] == 0).all()
    assert (numbers[~mask] == 0).all()
    assert list(numbers[mask]) == [i // min(chunk, SIZE) + 1 for i in range(mask.sum())], "in order, each chunk full"


def test_the_function_runs_no_more_often_than_it_must():
    ran: list[int] = []
    shapes: list[tuple[int, ...]] = []

    @jax.jit
    def counted(rows, mask):
        def function(rows, number):
            shapes.append(rows.number.shape)
            jax.debug.callback(lambda n: ran.append(int(n)), number)
            return plain(rows)

        return apply_packed(function, rows, mask, 4)

    for count in range(SIZE + 1):
        ran.clear()
        mask = np.random.default_rng(count).permutation(np.arange(SIZE) < count)
        jax.block_until_ready(counted(rows_of(0), mask))
        jax.effects_barrier()
        assert sorted(ran) == list(range(-(-count // 4))), count
    assert set(shapes) == {(4,)}


@given(mask=MASKS)
def test_pack_lists_the_true_places_and_then_the_end(mask):
    places, count = jax.jit(pack)(mask)
    assert int(count) == mask.sum()
    assert list(np.asarray(places)) == [*np.flatnonzero(mask), *[SIZE] * (SIZE - mask.sum())]


def test_a_place_past_the_end_gives_the_last_row():
    assert list(take_rows(jnp.arange(SIZE), jnp.array([2, SIZE, SIZE + 5]))) == [2, SIZE - 1, SIZE - 1]
