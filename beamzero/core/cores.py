"""Use all cores of a CPU: XLA runs one program of small steps on one core, so several are run side by side."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import jax

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")
_Tree = TypeVar("_Tree")


def programs_at_once(on_host: bool = False) -> int:
    """Return how many programs to run side by side: one a core; on a GPU one in all, unless they run `on_host`."""
    return (os.cpu_count() or 1) if on_host or jax.default_backend() == "cpu" else 1


def to_host(tree: _Tree) -> _Tree:
    """Copy the arrays of a pytree to the CPU, where what is computed from them stays."""
    return tree if jax.default_backend() == "cpu" else jax.device_put(tree, jax.devices("cpu")[0])


def side_by_side(
    function: Callable[[_Item], _Found], items: Sequence[_Item], on_host: bool = False
) -> Iterator[_Found]:
    """Yield ``function(item)``, a pytree of arrays, for each item in turn; every core works on them."""
    if min(len(items), programs_at_once(on_host)) == 1:
        yield from (jax.block_until_ready(function(item)) for item in items)
        return
    tasks = [_threads().submit(lambda item: jax.block_until_ready(function(item)), item) for item in items]
    try:
        yield from (task.result() for task in tasks)
    finally:
        for task in tasks:
            task.cancel()
        wait(tasks)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    """Make the threads once: to start them takes longer than a cheap player takes to move."""
    return ThreadPoolExecutor(os.cpu_count() or 1)
