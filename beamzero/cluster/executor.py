"""An executor of training runs whose items are done by the workers of a cluster."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax

from beamzero.cluster.figures import Figures
from beamzero.cluster.pool import Pool, Ticket
from beamzero.core.progress import OnProgress, no_progress
from beamzero.games import make_game
from beamzero.training.algorithm import ALGORITHMS, Algorithm
from beamzero.training.executor import Batch, Work, WorkInSteps


class _Begun(NamedTuple):
    """A batch that was handed out."""

    work: str
    weights: Any
    items: str  # a digest of them; "" where none is needed
    tickets: list[Ticket]


class ClusterExecutor:
    """Gives work items to the workers of a pool, weights once a batch."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.begun: list[_Begun] = []
        self.figures = Figures(pool.facts)

    def map(self, work: Work, batch: Batch, ahead: Sequence[Batch] = ()) -> Iterator[Any]:
        return self._results(work, do_item, batch, ahead)

    def map_in_steps(
        self, work: WorkInSteps, batch: Batch, on_progress: OnProgress, ahead: Sequence[Batch] = ()
    ) -> Iterator[Any]:
        return self._results(work, do_item_in_steps, batch, ahead)

    def _results(self, work: Any, do: _Do, batch: Batch, ahead: Sequence[Batch]) -> Iterator[Any]:
        old, self.begun = self.begun, []
        again = bool(old or ahead)
        now, *later = [self._begin(work, do, one, old, again) for one in (batch, *ahead)]
        for lost in old:
            self.pool.forget(lost.tickets)
        self.begun = later
        return self.pool.results(now.tickets)

    def facts(self) -> Mapping[str, Any]:
        """Say for the log what the workers did since the last call."""
        return self.figures.since_last()

    def _begin(self, work: Any, do: _Do, batch: Batch, begun: list[_Begun], again: bool) -> _Begun:
        """Hand out a batch, unless that was done before."""
        items = jax.device_get(list(batch.items))
        data = hashlib.sha256(pickle.dumps(items)).hexdigest() if again else ""
        for number, one in enumerate(begun):
            if one.work == work.__name__ and one.weights is batch.weights and one.items == data:
                return begun.pop(number)
        owner: Algorithm = work.__self__
        settings = json.dumps(dataclasses.asdict(owner.settings), sort_keys=True)
        algorithm = ALGORITHMS.source(ALGORITHMS.name_of(type(owner)))
        function = functools.partial(do, owner.game.spec, algorithm, settings, work.__name__)
        tickets = self.pool.begin(function, jax.device_get(batch.weights), items)
        return _Begun(work.__name__, batch.weights, data, tickets)


def do_item(game: str, algorithm: str, settings: str, work: str, weights: Any, item: Any) -> Any:
    """Do an item by the `Work` of that name. Returns plain arrays."""
    return jax.device_get(getattr(_make(game, algorithm, settings), work)(weights, item))


def do_item_in_steps(game: str, algorithm: str, settings: str, work: str, weights: Any, item: Any) -> Any:
    """Do an item by the `WorkInSteps` of that name. Returns plain arrays."""
    return jax.device_get(getattr(_make(game, algorithm, settings), work)(weights, [item], no_progress)[0])


_Do = Callable[[str, str, str, str, Any, Any], Any]


@functools.lru_cache(maxsize=4)
def _make(game: str, algorithm: str, settings: str) -> Algorithm:
    kind = ALGORITHMS[ALGORITHMS.read(algorithm)]
    return kind(make_game(game), kind.settings_type(**json.loads(settings)))
