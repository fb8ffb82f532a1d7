"""Executors do the work items of an iteration: on the cores or devices of this machine, or by workers elsewhere.

The result of an item depends on the weights and on the item alone, not on where it is done: an item that is done twice
gives the same bits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.cores import side_by_side
from beamzero.core.devices import device_count, on_devices
from beamzero.core.progress import OnProgress, no_progress
from beamzero.nets import Weights

Work = Callable[[Weights, Any], Any]
"""Compute the result of one item by the weights: a method of an algorithm that calls one compiled function."""

WorkInSteps = Callable[[Weights, Sequence[Any], OnProgress], Sequence[Any]]
"""Compute the results of items by the weights, one item on each device, in a loop over compiled functions: a method of
an algorithm whose work takes so long that progress must be shown. It gets one item, or one for each device."""


class Batch(NamedTuple):
    """Work items that are done with the same weights."""

    weights: Weights
    items: Sequence[Any]
    """Each a pytree of arrays and numbers, as its result is."""


class Executor(Protocol):
    """Does work items, and may begin with others that are known to come.

    The batches in `ahead` are the next that will be asked for with this work, in order.
    """

    def map(self, work: Work, batch: Batch, ahead: Sequence[Batch] = ()) -> Iterator[Any]:
        """Yield the result of each item of `batch`, in order.

        Results are made as the caller asks for them, or earlier by workers elsewhere.
        """

    def map_in_steps(
        self, work: WorkInSteps, batch: Batch, on_progress: OnProgress, ahead: Sequence[Batch] = ()
    ) -> Iterator[Any]:
        """Yield the result of each item of `batch`, in order. `on_progress` is called only where there is one item."""

    def facts(self) -> Mapping[str, Any]:
        """Give facts for the log about the workers since the last call; none where this process did the work."""


class LocalExecutor:
    """Does items on the cores of this machine, or on its GPUs. It begins with no batch ahead of time."""

    def map(self, work: Work, batch: Batch, ahead: Sequence[Batch] = ()) -> Iterator[Any]:
        if device_count() == 1:
            return side_by_side(functools.partial(work, batch.weights), batch.items)
        return _in_groups(functools.partial(on_devices, work, batch.weights), batch.items)

    def map_in_steps(
        self, work: WorkInSteps, batch: Batch, on_progress: OnProgress, ahead: Sequence[Batch] = ()
    ) -> Iterator[Any]:
        if device_count() > 1:
            return _in_groups(lambda items: work(batch.weights, items, no_progress), batch.items)
        # A single item runs in this thread, which alone may speak to the display.
        progress = on_progress if len(batch.items) == 1 else no_progress
        return side_by_side(lambda item: work(batch.weights, [item], progress)[0], batch.items)

    def facts(self) -> Mapping[str, Any]:
        return {}


LOCAL_EXECUTOR = LocalExecutor()


def _in_groups(function: Callable[[Sequence[Any]], Sequence[Any]], items: Sequence[Any]) -> Iterator[Any]:
    """Yield the results of `function`, which is called with as many items as there are devices.

    The last group is filled up with items whose results are thrown away.
    """
    for first in range(0, len(items), device_count()):
        some = items[first : first + device_count()]
        idle = [some[-1]] * (device_count() - len(some))
        yield from function([*some, *idle])[: len(some)]


class Shard(NamedTuple):
    """A part of the games of an iteration, to be played by one program. The setting `lanes` says how many there are."""

    number: int
    """The number of its first game, counted over all iterations of a run."""
    key: np.ndarray
    """uint32: the data of the key that all chance in these games comes from."""

    @property
    def random_key(self) -> Array:
        return jax.random.wrap_key_data(jnp.asarray(self.key))


def cut_shards(iteration: int, games: int, shards: int, key: Array) -> list[Shard]:
    """Cut the `games` of an iteration into so many shards of the same size."""
    fold = functools.partial(jax.random.fold_in, key)
    keys = [np.asarray(jax.random.key_data(fold(number))) for number in range(shards)]
    return [Shard(iteration * games + number * (games // shards), data) for number, data in enumerate(keys)]
