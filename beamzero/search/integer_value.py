"""Scores of positions as integers, int32, so that a nearer win scores higher than a later one.

- An even position is 0. Values in [-1, 1], from an evaluation or a game's score, are steps of one millionth.
- A win after p plies is ``ONE + 8192 - p``, more than any evaluation; a loss has the other sign.
- A win that a table knows without its length counts as if it came 4096 plies later: more than an evaluation, less than
  a win whose line is known.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

ONE = 1_000_000
"""The value 1 as an integer score."""

_FAR = 8192
LATER = 4096
"""Plies that are added to a win of unknown length."""

ENDLESS = np.int32(2**30)
"""A number above every score."""


def from_value(value: Array) -> Array:
    """Turn evaluations, floats in [-1, 1], into scores, int32 of the same shape."""
    return jnp.round(jnp.clip(value, -1.0, 1.0) * np.float32(ONE)).astype(jnp.int32)


def from_score(score: Array, plies: Array) -> Array:
    """Turn a game's score after `plies` from the root, float in [-1, 1], into an integer score, int32."""
    decided = jnp.abs(score) >= 1.0
    later = jnp.where(decided, jnp.sign(score).astype(jnp.int32) * (_FAR - plies), 0)
    return from_value(score) + later


def to_value(score: Array) -> Array:
    """Turn scores into values, float32 in [-1, 1]."""
    return jnp.clip(score.astype(jnp.float32) / np.float32(ONE), -1.0, 1.0)


def is_decided(score: Array) -> Array:
    """Tell, bool, which scores are wins or losses by the rules."""
    return jnp.abs(score) > ONE


def plies_to_end(score: Any) -> Any:
    """Count the plies from the root to the end of a decided game, int32; about `LATER` or more if it is unknown."""
    return ONE + _FAR - abs(score)


def seen_later(score: Array, plies: Array) -> Array:
    """Give a score, counted from the root, as counted from `plies` below it; negative plies do the opposite."""
    return score + jnp.where(is_decided(score), jnp.sign(score) * plies, 0)
