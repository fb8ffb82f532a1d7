"""Run a function on the rows that need it, at fixed shapes.

Half of a battle's games wait for the other player, and many of a search node's slots hold no move. A net that ran on
all of them would waste its time; a net that ran on a batch of changing size would be compiled again and again. So the
rows that count are packed to the front and done at a few fixed sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

Rows = Any
"""A pytree of arrays that share their first axis."""

_CHUNKS = {"cpu": (2**3, 2**9, 2**22), "gpu": (2**12, 2**15, 2**31)}
"""The fewest and the most rows of a chunk, and the most bytes: what a CPU's cache holds; what keeps a GPU busy."""


def pack(mask: Array) -> tuple[Array, Array]:
    """Return the places where `mask` [N] holds, int32 [N], in rising order, then N; and their number, int32 []."""
    size = mask.shape[0]
    rank = jnp.cumsum(mask.astype(jnp.int32)) - 1
    places = jnp.full(size, size, jnp.int32)
    places = places.at[jnp.where(mask, rank, size)].set(jnp.arange(size, dtype=jnp.int32), mode="drop")
    return places, rank[-1] + 1


def take_rows(rows: Rows, places: Array) -> Rows:
    """Return the `rows` at `places`; a place past the end gives the last row."""
    return jax.tree.map(lambda x: jnp.asarray(x).at[places].get(mode="clip"), rows)


def chunk_rows(size: int, parts: int = 16, row_bytes: int = 1) -> int:
    """Return how many of `size` rows, whose work takes `row_bytes` each, to do at a time if an unknown share counts.

    The last chunk is half empty on average, so a chunk is at most one of `parts` of all rows where that is possible.
    """
    fewest, most, most_bytes = _CHUNKS["gpu" if jax.default_backend() == "gpu" else "cpu"]
    return min(size, max(fewest, min(-(-size // parts), most, most_bytes // row_bytes)))


def apply_packed(
    function: Callable[[Rows, Array], Rows],
    rows: Rows,
    mask: Array,
    eighths: tuple[int, ...] = (1, 6, 7, 8),
) -> tuple[Rows, Array]:
    """Return ``function(rows, 0)`` where `mask` [N] holds, zeros elsewhere; and on how many rows it ran, with padding.

    `function` maps rows and the number of a chunk (for its random key, if it draws) to rows of results, each row on
    its own.

    A CPU works through the packed rows in chunks of at most N/16. On a GPU each chunk costs a look at the loop's
    condition from the host, so there the packed rows are done at once, in the smallest of a few sizes that holds them:
    `eighths` of N, the last of them 8. Each size is compiled, so there should be few.
    """
    size = mask.shape[0]
    places, count = pack(mask)
    if jax.default_backend() == "gpu":
        return _apply_once(function, rows, places, count, sorted({0, *(-(-size * part // 8) for part in eighths)}))
    return apply_in_chunks(function, rows, places, count, chunk_rows(size))


def apply_in_chunks(
    function: Callable[[Rows, Array], Rows],
    rows: Rows,
    places: Array,
    count: Array,
    chunk: int,
    start: Array | int = 0,
    every: int = 1,
) -> tuple[Rows, Array]:
    """Apply `function` to the rows at the first `count` of `places`, `chunk` of them in each call.

    Of the chunks, only each `every`-th from number `start` on: so that several programs can share them.
    """
    size = places.shape[0]
    places = jnp.pad(places, (0, chunk), constant_values=size)
    function = _traced_once(function)
    empty = _no_results(function, rows, places[:chunk], size)

    def body(carry: tuple[Array, Rows, Array]) -> tuple[Array, Rows, Array]:
        number, results, ran = carry
        here = lax.dynamic_slice(places, (number * chunk,), (chunk,))
        answers = function(take_rows(rows, here), number)
        results = jax.tree.map(lambda r, a: r.at[here].set(a, mode="drop"), results, answers)
        return number + every, results, ran + chunk

    first = jnp.int32(start), empty, jnp.int32(0)
    _, results, ran = lax.while_loop(lambda carry: carry[0] * chunk < count, body, first)
    return results, ran


def _apply_once(
    function: Callable[[Rows, Array], Rows], rows: Rows, places: Array, count: Array, sizes: list[int]
) -> tuple[Rows, Array]:
    """Apply `function` once to the rows at the first `count` of `places`, on the least of `sizes` that holds them."""
    function = _traced_once(function)
    empty = _no_results(function, rows, places[: sizes[-1]], places.shape[0])

    def branch(size: int) -> Callable[[Array], Rows]:
        def run(places: Array) -> Rows:
            here = places[:size]
            answers = function(take_rows(rows, here), jnp.int32(0))
            return jax.tree.map(lambda r, a: r.at[here].set(a, mode="drop"), empty, answers)

        return run if size else lambda places: empty

    there_are = jnp.array(sizes, jnp.int32)
    enough = jnp.searchsorted(there_are, count, side="left").astype(jnp.int32)
    return lax.switch(enough, [branch(size) for size in sizes], places), there_are[enough]


def _traced_once(function: Callable[[Rows, Array], Rows]) -> Callable[[Rows, Array], Rows]:
    """Wrap `function` so that rows of one shape trace it once. Otherwise searches within searches take twice as long to
    trace at every level: each asks what shapes its results have, and then for the results.
    """
    return jax.jit(lambda rows, number: function(rows, number), inline=True)


def _no_results(function: Callable[[Rows, Array], Rows], rows: Rows, some: Array, size: int) -> Rows:
    """Make zeros for `size` results, of the shapes that `function` gives for `some` places."""
    shapes = jax.eval_shape(function, jax.eval_shape(take_rows, rows, some), jnp.int32(0))
    return jax.tree.map(lambda x: jnp.zeros((size, *x.shape[1:]), x.dtype), shapes)
