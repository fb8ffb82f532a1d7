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

from beamzero.core.packing import apply_in_chunks, apply_packed, chunk_rows, pack, take_rows

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


def numbered(rows: Rows, number: jax.Array):
    """`plain`, and for each row the number of the chunk that did it, plus 1."""
    return plain(rows), jnp.full(rows.number.shape, number + 1)


def check(results, rows: Rows, mask: np.ndarray) -> list[int]:
    """Assert that the rows that count have their answers and others zeros; give the numbers of their chunks."""
    (results, numbers), ran = jax.device_get(results)
    assert mask.sum() <= ran <= 50 + SIZE
    for result, expected in zip(results, jax.device_get(plain(rows)), strict=True):
        assert result.dtype == expected.dtype and result.shape == expected.shape
        assert (result[mask] == expected[mask]).all()
        assert (result[~mask] == 0).all()
    assert (numbers[~mask] == 0).all()
    return [int(number) - 1 for number in numbers[mask]]


@jax.jit
def packed(rows, mask):
    return apply_packed(numbered, rows, mask)


@functools.partial(jax.jit, static_argnums=(2, 4))
def in_chunks(rows, mask, chunk, start=0, every=1):
    return apply_in_chunks(numbered, rows, *pack(mask), chunk, start, every)


@given(mask=MASKS, seed=st.integers(0, 9))
def test_rows_that_count_get_the_plain_answer_and_others_zeros(mask, seed):
    check(packed(rows_of(seed), mask), rows_of(seed), mask)


@pytest.mark.parametrize("chunk", [1, 4, SIZE, 50])
@given(mask=MASKS, seed=st.integers(0, 9))
def test_chunks_are_filled_in_order(chunk, mask, seed):
    results = in_chunks(rows_of(seed), mask, chunk)
    numbers = check(results, rows_of(seed), mask)
    assert numbers == [i // chunk for i in range(mask.sum())]
    assert results[1] == -(-mask.sum() // chunk) * chunk, "and all that was run is counted"


@given(mask=MASKS, seed=st.integers(0, 9))
def test_chunks_that_are_shared_add_up(mask, seed):
    """Three programs, each with every third chunk: together they do what one does, and nothing twice."""
    rows = rows_of(seed)
    parts = [in_chunks(rows, mask, 2, jnp.int32(part), 3) for part in range(3)]
    for part, (((first, _), numbers), _) in enumerate(parts):
        done = np.asarray(numbers) > 0
        assert (np.asarray(first)[~done] == 0).all()
        assert ((np.asarray(numbers)[done] - 1) % 3 == part).all()
    whole, together = in_chunks(rows, mask, 2), jax.tree.map(lambda *x: sum(x), *parts)
    assert all((a == b).all() for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(together), strict=True))


def test_the_function_runs_no_more_often_than_it_must():
    ran: list[int] = []

    @jax.jit
    def counted(rows, mask):
        def function(rows, number):
            jax.debug.callback(lambda n: ran.append(int(n)), number)
            return plain(rows)

        return apply_in_chunks(function, rows, *pack(mask), 4)

    for count in range(SIZE + 1):
        ran.clear()
        mask = np.random.default_rng(count).permutation(np.arange(SIZE) < count)
        jax.block_until_ready(counted(rows_of(0), mask))
        jax.effects_barrier()
        assert sorted(ran) == list(range(-(-count // 4))), count


def test_on_a_gpu_all_rows_are_done_at_once_in_the_smallest_size_that_holds_them(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    ran: list[int] = []

    @jax.jit
    def counted(rows, mask):
        def function(rows, number):
            size = rows.number.shape[0]
            jax.debug.callback(lambda: ran.append(size))
            return numbered(rows, number)

        return apply_packed(function, rows, mask)

    sizes = [0, 2, 10, 12, 13]  # 0, 1, 6, 7 and 8 eighths of 13 rows, rounded up
    for count in range(SIZE + 1):
        ran.clear()
        mask = np.random.default_rng(count).permutation(np.arange(SIZE) < count)
        assert set(check(counted(rows_of(count), mask), rows_of(count), mask)) <= {0}
        jax.effects_barrier()
        wanted = next(size for size in sizes if size >= count)
        assert ran == ([wanted] if wanted else []), count


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
@pytest.mark.parametrize("size", [1, 7, 8, 100, 7 * 1024, 34 * 1024, 218 * 1024, 218 * 2**15])
def test_chunks_waste_little_where_an_eighth_or_more_of_all_rows_counts(monkeypatch, backend, size):
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    chunk = chunk_rows(size)
    assert 1 <= chunk <= size
    if size >= 16 * 2**12 or (backend == "cpu" and size >= 16 * 8):
        counts = np.arange(size // 8, size, max(1, size // 977))
        useful = counts / (-(-counts // chunk) * chunk)
        assert useful.mean() > 0.9 and useful.min() > 2 / 3 - 0.02 and chunk <= -(-size // 16)
    large = chunk_rows(size, row_bytes=10**6)
    assert large <= chunk and (large * 10**6 <= 2**31 or large <= 2**12), "fewer rows where each takes much memory"


@given(mask=MASKS)
def test_pack_lists_the_true_places_and_then_the_end(mask):
    places, count = jax.jit(pack)(mask)
    assert int(count) == mask.sum()
    assert list(np.asarray(places)) == [*np.flatnonzero(mask), *[SIZE] * (SIZE - mask.sum())]


def test_a_place_past_the_end_gives_the_last_row():
    assert list(take_rows(jnp.arange(SIZE), jnp.array([2, SIZE, SIZE + 5]))) == [2, SIZE - 1, SIZE - 1]


def test_a_function_is_traced_once_for_each_shape_however_deep_it_is_nested():
    traced = []

    def nested(depth: int):
        def function(rows, number):
            traced.append(depth)
            if depth == 0:
                return rows + number
            return apply_in_chunks(nested(depth - 1), rows, *pack(rows > 0), chunk=2)[0]

        return function

    rows = jnp.arange(4, dtype=jnp.int32)
    jax.eval_shape(lambda rows: apply_in_chunks(nested(3), rows, *pack(rows > 0), chunk=2), rows)
    assert sorted(traced) == [0, 1, 2, 3]
