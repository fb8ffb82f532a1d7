"""Who does the work of an iteration that can be cut into pieces: the cores of this machine, or workers elsewhere.

What comes of a piece depends on the weights and on the piece alone, so that it does not matter who does it, nor how
often: whoever has it done twice gets the same bits.
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
from beamzero.core.devices import device_count
from beamzero.nets import Weights

Told = Callable[[int], None]
"""Told how far a piece is, in games or states."""

Work = Callable[[Weights, Sequence[Any], Told], Sequence[Any]]
"""A method of an algorithm that does pieces at once, by the weights, and gives what comes of each: a pytree of arrays
and numbers. It does one piece, or as many as this process has devices, one on each."""


class Batch(NamedTuple):
    """Pieces that are done with the same weights."""

    weights: Weights
    pieces: Sequence[Any]
    """Each a pytree of arrays and numbers."""


class Crew(Protocol):
    """Does pieces of work, and may begin with others that are known to come."""

    def do(self, work: Work, batch: Batch, told: Told, ahead: Sequence[Batch] = ()) -> Iterator[Any]:
        """What comes of each piece of `batch`, in order.

        `told` hears how far a piece is, if it is the only one. The batches in `ahead` are the next that `do` will be
        asked for with this work, in order: a crew may begin with them before that.
        """

    def facts(self) -> Mapping[str, Any]:
        """What the log should know of who did the work since the last call; nothing where that is this process."""


class Cores:
    """The cores of this machine, or its GPUs. It begins with nothing before it is asked to."""

    def do(self, work: Work, batch: Batch, told: Told, ahead: Sequence[Batch] = ()) -> Iterator[Any]:
        if device_count() > 1:
            return self._do_at_once(work, batch)
        # A single piece runs in this thread, which alone may speak to the display.
        tell = told if len(batch.pieces) == 1 else nobody
        return side_by_side(lambda piece: work(batch.weights, [piece], tell)[0], batch.pieces)

    def _do_at_once(self, work: Work, batch: Batch) -> Iterator[Any]:
        """As many pieces at once as there are devices; what is missing in the end is done for nothing."""
        for first in range(0, len(batch.pieces), device_count()):
            some = batch.pieces[first : first + device_count()]
            idle = [some[-1]] * (device_count() - len(some))
            yield from work(batch.weights, [*some, *idle], nobody)[: len(some)]

    def facts(self) -> Mapping[str, Any]:
        return {}


def nobody(done: int) -> None:
    """Who is told, where nobody listens."""


CORES = Cores()


class Lane(NamedTuple):
    """A part of the games of an iteration, to be played by one program."""

    number: int
    """Of its first game, counted over all iterations of a run."""
    key: np.ndarray
    """uint32: the data of the key that all chance in these games comes from."""

    @property
    def random_key(self) -> Array:
        return jax.random.wrap_key_data(jnp.asarray(self.key))


def cut_lanes(iteration: int, games: int, lanes: int, key: Array) -> list[Lane]:
    """All `games` of an iteration in so many lanes of the same size."""
    fold = functools.partial(jax.random.fold_in, key)
    keys = [np.asarray(jax.random.key_data(fold(number))) for number in range(lanes)]
    return [Lane(iteration * games + number * (games // lanes), data) for number, data in enumerate(keys)]
