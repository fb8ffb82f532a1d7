"""Run a function on the rows that need it, at fixed shapes.

Half of a battle's games wait for the other player, and many of a search node's slots hold no move. A net that ran on all
of them would waste its time; a net that ran on a batch of changing size would be compiled again and again. So the rows
that count are packed to the front and done in chunks of one size, as many as are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

Rows = Any
"""A pytree of arrays that share their first axis."""


def pack(mask: Array) -> tuple[Array, Array]:
    """int32 [N], int32 []: the places of the true entries of `mask` [N] in rising order, then N; and how many there are."""
    size = mask.shape[0]
    rank = jnp.cumsum(mask.astype(jnp.int32)) - 1
    places = jnp.full(size, size, jnp.int32)
    places = places.at[jnp.where(mask, rank, size)].set(jnp.arange(size, dtype=jnp.int32), mode="drop")
    return places, rank[-1] + 1


def take_rows(rows: Rows, places: Array) -> Rows:
    """`rows` at `places`; a place past the end gives the last row."""
    return jax.tree.map(lambda x: x.at[places].get(mode="clip"), rows)


def chunk_size(rows: int) -> int:
    """A good chunk for `rows` rows: small enough that a part-filled last one wastes little, large enough for a net.

    A GPU pays for each chunk with a look at the loop's condition, so it gets fewer.
    """
    parts = 4 if jax.default_backend() == "gpu" else 16
    return max(1, -(-rows // parts))


def apply_packed(function: Callable[[Rows, Array], Rows], rows: Rows, mask: Array, chunk: int) -> Rows:
    """``function(rows, 0)`` where `mask` [N] holds and zeros elsewhere, computed on packed chunks of `chunk` rows.

    `function` maps rows and the number of the chunk (for its random key, if it draws) to rows of results, each row on
    its own. It runs ``ceil(sum(mask) / chunk)`` times.
    """
    size = mask.shape[0]
    chunk = min(chunk, size)
    places, count = pack(mask)
    places = jnp.pad(places, (0, chunk), constant_values=size)
    shapes = jax.eval_shape(function, take_rows(rows, places[:chunk]), jnp.int32(0))
    empty = jax.tree.map(lambda x: jnp.zeros((size, *x.shape[1:]), x.dtype), shapes)

    def body(carry: tuple[Array, Rows]) -> tuple[Array, Rows]:
        number, results = carry
        here = lax.dynamic_slice(places, (number * chunk,), (chunk,))
        answers = function(take_rows(rows, here), number)
        return number + 1, jax.tree.map(lambda r, a: r.at[here].set(a, mode="drop"), results, answers)

    return lax.while_loop(lambda carry: carry[0] * chunk < count, body, (jnp.int32(0), empty))[1]
