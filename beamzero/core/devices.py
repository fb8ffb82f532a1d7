"""Every device of this process at work: each on a piece of its own, or all on parts of one batch.

With a single device all of this is what the functions do by themselves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Each = Callable[[Any, Any], Any]
"""What a device makes of what all share and of its own piece. It must be hashable: equal ones compile once."""

_Tree = TypeVar("_Tree")
_AXIS = "device"


def device_count() -> int:
    return jax.local_device_count()


def at_once(function: Each, shared: Any, pieces: Sequence[Any]) -> list[Any]:
    """``function(shared, piece)`` of each piece, one on each device: of a single piece, or of as many as there are."""
    if len(pieces) == 1:
        return [function(shared, pieces[0])]
    return unstacked(on_each(function, shared, stacked(pieces)))


def on_each(function: Each, shared: Any, pieces: Any, used_up: bool = False) -> Any:
    """The same of D `pieces` that are stacked, [D, ...], as what comes of them is.

    Pieces have no part in one another: each gets the bits that it gets alone. With `used_up` their memory goes to what
    comes of them.
    """
    how = _used_up if used_up else _kept
    if jax.tree.leaves(pieces)[0].shape[0] == 1:
        return how(_on_one, function, shared, pieces)
    pieces = jax.device_put(pieces, NamedSharding(_mesh(), PartitionSpec(_AXIS)))
    return how(_on_all, function, everywhere(shared), pieces)


def stacked(pieces: Sequence[_Tree]) -> _Tree:
    """Pieces of the same shape as one, [D, ...]."""
    return jax.tree.map(lambda *x: np.stack([np.asarray(one) for one in x]), *pieces)


def unstacked(pieces: _Tree) -> list[_Tree]:
    """The reverse; all of them lie on the first device then."""
    return _unstack(here(pieces))


@jax.jit
def _unstack(pieces: _Tree) -> list[_Tree]:
    return [jax.tree.map(lambda x: x[number], pieces) for number in range(jax.tree.leaves(pieces)[0].shape[0])]


def everywhere(tree: _Tree) -> _Tree:
    """All of it on every device."""
    return tree if device_count() == 1 else jax.device_put(tree, NamedSharding(_mesh(), PartitionSpec()))


def here(tree: _Tree) -> _Tree:
    """All of it on the first device."""
    return tree if device_count() == 1 else jax.device_put(tree, jax.local_devices()[0])


def shared_out(batch: _Tree) -> _Tree:
    """Within a program whose arguments are `everywhere`: the rows of a batch [B, ...], each device a part of them.

    What is computed of a row then is computed there. Where B is no multiple of the devices, all have all.
    """
    if device_count() == 1 or jax.tree.leaves(batch)[0].shape[0] % device_count():
        return batch
    return jax.lax.with_sharding_constraint(batch, NamedSharding(_mesh(), PartitionSpec(_AXIS)))


@functools.cache
def _mesh() -> Mesh:
    return Mesh(np.array(jax.local_devices()), (_AXIS,))


def _on_one(function: Each, shared: Any, pieces: Any) -> Any:
    found = function(shared, jax.tree.map(lambda x: x[0], pieces))
    return jax.tree.map(lambda x: jnp.asarray(x)[None], found)


def _on_all(function: Each, shared: Any, pieces: Any) -> Any:
    return jax.shard_map(
        functools.partial(_on_one, function),
        mesh=_mesh(),
        in_specs=(PartitionSpec(), PartitionSpec(_AXIS)),
        out_specs=PartitionSpec(_AXIS),
        check_vma=False,
    )(shared, pieces)


def _run(how: Callable[[Each, Any, Any], Any], function: Each, shared: Any, pieces: Any) -> Any:
    return how(function, shared, pieces)


_kept = jax.jit(_run, static_argnums=(0, 1))
_used_up = jax.jit(_run, static_argnums=(0, 1), donate_argnums=3)
