"""Put every device of this process to work: each on an item of its own, or all on parts of one batch.

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
"""A function of what all devices share and of one device's item. It must be hashable: equal ones compile once."""

_Tree = TypeVar("_Tree")
_AXIS = "device"


def device_count() -> int:
    return jax.local_device_count()


def on_devices(function: Each, shared: Any, items: Sequence[Any]) -> list[Any]:
    """Apply `function` to `shared` and each of D items, as many as there are devices, one on each."""
    return unstacked(on_each(function, shared, stacked(items)))


def on_each(function: Each, shared: Any, items: Any, used_up: bool = False) -> Any:
    """Apply `function` to `shared` and D stacked items [D, ...], one on each device. Returns results [D, ...].

    An item has no part in another: its result has the bits that it has alone. With `used_up` the memory of the items
    goes to the results.
    """
    how = _used_up if used_up else _kept
    if jax.tree.leaves(items)[0].shape[0] == 1:
        return how(_on_one, function, shared, items)
    items = jax.device_put(items, NamedSharding(_mesh(), PartitionSpec(_AXIS)))
    return how(_on_all, function, everywhere(shared), items)


def stacked(items: Sequence[_Tree]) -> _Tree:
    """Stack D items of the same shape, [D, ...]."""
    return jax.tree.map(lambda *x: np.stack([np.asarray(one) for one in x]), *items)


def unstacked(items: _Tree) -> list[_Tree]:
    """Give the D items of stacked ones, [D, ...], all on the first device."""
    return _unstack(here(items))


@jax.jit
def _unstack(items: _Tree) -> list[_Tree]:
    return [jax.tree.map(lambda x: x[number], items) for number in range(jax.tree.leaves(items)[0].shape[0])]


def everywhere(tree: _Tree) -> _Tree:
    """Copy a pytree to every device."""
    return tree if device_count() == 1 else jax.device_put(tree, NamedSharding(_mesh(), PartitionSpec()))


def here(tree: _Tree) -> _Tree:
    """Copy a pytree to the first device."""
    return tree if device_count() == 1 else jax.device_put(tree, jax.local_devices()[0])


def shared_out(batch: _Tree) -> _Tree:
    """Give each device a part of the rows of a batch [B, ...], within a program whose arguments are `everywhere`.

    All that is computed of a row then is computed there. Where B is no multiple of the devices, all have all.
    """
    if device_count() == 1 or jax.tree.leaves(batch)[0].shape[0] % device_count():
        return batch
    return jax.lax.with_sharding_constraint(batch, NamedSharding(_mesh(), PartitionSpec(_AXIS)))


@functools.cache
def _mesh() -> Mesh:
    return Mesh(np.array(jax.local_devices()), (_AXIS,))


def _on_one(function: Each, shared: Any, items: Any) -> Any:
    found = function(shared, jax.tree.map(lambda x: x[0], items))
    return jax.tree.map(lambda x: jnp.asarray(x)[None], found)


def _on_all(function: Each, shared: Any, items: Any) -> Any:
    return jax.shard_map(
        functools.partial(_on_one, function),
        mesh=_mesh(),
        in_specs=(PartitionSpec(), PartitionSpec(_AXIS)),
        out_specs=PartitionSpec(_AXIS),
        check_vma=False,
    )(shared, items)


def _run(how: Callable[[Each, Any, Any], Any], function: Each, shared: Any, items: Any) -> Any:
    return how(function, shared, items)


_kept = jax.jit(_run, static_argnums=(0, 1))
_used_up = jax.jit(_run, static_argnums=(0, 1), donate_argnums=3)
