"""Fingerprints, which identify players by how they choose and not by their names.

Two texts can name one agent, and a run that was trained further is another agent under the same name. So results are
stored by a fingerprint: of the kind of player, its search with all settings, and every weight.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from beamzero.games import Game
from beamzero.players.player import Player

_NOT_ITS_OWN = ("name", "on_host", "pool", "troubles")
"""Fields of a player that do not change its play: its name, its device, its processes, and its past errors."""


def fingerprint(player: Player) -> str:
    """Compute the fingerprint of a player: 32 hex digits, equal in every process."""
    parts = hashlib.sha256()
    for text in _encode(player):
        parts.update(text)
        parts.update(b"\0")
    return parts.hexdigest()[:32]


def _encode(value: Any) -> Iterator[bytes]:
    """Encode all of a value that changes play, in a fixed order."""
    if isinstance(value, Game):
        yield value.spec.encode()
    elif isinstance(value, Player):
        yield type(value).__name__.encode()
        assert dataclasses.is_dataclass(value)
        for field in dataclasses.fields(value):
            # A player without a limit is the one that it was before there were limits.
            if field.name not in _NOT_ITS_OWN and not (field.name == "limit" and value.limit is None):
                yield field.name.encode()
                yield from _encode(getattr(value, field.name))
    elif isinstance(value, jax.tree_util.Partial):
        yield from _encode_function(value.func)
        yield from _encode(list(value.args))
        yield from _encode(value.keywords)
    elif isinstance(value, np.ndarray | jax.Array):
        array = np.asarray(value)
        yield f"{array.dtype} {array.shape}".encode()
        yield np.ascontiguousarray(array).tobytes()
    elif isinstance(value, dict):
        for key in sorted(value):
            yield str(key).encode()
            yield from _encode(value[key])
    elif isinstance(value, list | tuple):
        yield f"{type(value).__name__} {len(value)}".encode()
        for item in value:
            yield from _encode(item)
    elif dataclasses.is_dataclass(value):
        yield type(value).__name__.encode()
        for field in dataclasses.fields(value):
            # A search without lanes is the one that it was before there were lanes.
            if not (field.name == "lanes" and getattr(value, field.name) == 1):
                yield field.name.encode()
                yield from _encode(getattr(value, field.name))
    else:
        assert isinstance(value, str | int | float | bool | None), f"{type(value).__name__} has no fingerprint"
        yield repr(value).encode()


def _encode_function(function: Any) -> Iterator[bytes]:
    """Encode a function by its name. A net's dtype depends on the device, so it is left out."""
    if isinstance(function, functools.partial):
        yield from _encode_function(function.func)
    else:
        yield getattr(function, "__qualname__", type(function).__qualname__).encode()
