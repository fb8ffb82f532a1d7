"""What positions are worth, as whole numbers, so that a nearer win is worth more than a later one.

- An even position is 0. Values in [-1, 1], from an evaluation or a score, are steps of one millionth.
- A win, score 1, after p plies is ``ONE + 8192 - p``, more than any evaluation; a loss is the same with the other sign.
- A win that a table knows, not saying when, counts as if it came 4096 plies later: more than an evaluation, less than a
  win whose line is known.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

ONE = 1_000_000
"""The value 1 as a whole number."""

_FAR = 8192
LATER = 4096
"""Plies after which a win comes where nobody knows when."""

ENDLESS = np.int32(2**30)
"""More than anything is score."""


def from_value(value: Array) -> Array:
    """int32: an evaluation, a float in [-1, 1]."""
    return jnp.round(jnp.clip(value, -1.0, 1.0) * np.float32(ONE)).astype(jnp.int32)


def from_score(score: Array, plies: Array) -> Array:
    """int32: the score of a game that ends `plies` from the root."""
    decided = jnp.abs(score) >= 1.0
    later = jnp.where(decided, jnp.sign(score).astype(jnp.int32) * (_FAR - plies), 0)
    return from_value(score) + later


def to_value(score: Array) -> Array:
    """float32 in [-1, 1]."""
    return jnp.clip(score.astype(jnp.float32) / np.float32(ONE), -1.0, 1.0)


def is_decided(score: Array) -> Array:
    """bool: whether it is a win or a loss by the rules."""
    return jnp.abs(score) > ONE


def plies_to_end(score: Any) -> Any:
    """int32: how many plies from the root a decided game lasts with best play; about `LATER` or more: it is unknown."""
    return ONE + _FAR - abs(score)


def seen_later(score: Array, plies: Array) -> Array:
    """`score` as a position `plies` further from the root sees it; with negative plies, the other way round."""
    return score + jnp.where(is_decided(score), jnp.sign(score) * plies, 0)
