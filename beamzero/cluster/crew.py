"""The workers of a cluster as the crew of a training run."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax

from beamzero.cluster.figures import Figures
from beamzero.cluster.pool import Pool, Ticket
from beamzero.games import make_game
from beamzero.training.algorithm import ALGORITHMS, Algorithm
from beamzero.training.crew import Batch, Told, Work, nobody


class _Begun(NamedTuple):
    """A batch that was handed out."""

    work: str
    weights: Any
    pieces: str  # a digest of them; "" where none is needed
    tickets: list[Ticket]


class ClusterCrew:
    """Hands pieces to the workers of a pool, weights once a batch."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.begun: list[_Begun] = []
        self.figures = Figures(pool.facts)

    def do(self, work: Work, batch: Batch, told: Told, ahead: Sequence[Batch] = ()) -> Iterator[Any]:
        old, self.begun = self.begun, []
        again = bool(old or ahead)
        now, *later = [self._begin(work, one, old, again) for one in (batch, *ahead)]
        for lost in old:
            self.pool.forget(lost.tickets)
        self.begun = later
        return self.pool.results(now.tickets)

    def facts(self) -> Mapping[str, Any]:
        """What the workers did since the last call."""
        return self.figures.since_last()

    def _begin(self, work: Work, batch: Batch, begun: list[_Begun], again: bool) -> _Begun:
        """Hand out a batch, unless that was done before."""
        pieces = jax.device_get(list(batch.pieces))
        data = hashlib.sha256(pickle.dumps(pieces)).hexdigest() if again else ""
        for number, one in enumerate(begun):
            if one.work == work.__name__ and one.weights is batch.weights and one.pieces == data:
                return begun.pop(number)
        owner: Algorithm = work.__self__  # type: ignore[attr-defined]
        settings = json.dumps(dataclasses.asdict(owner.settings), sort_keys=True)
        algorithm = ALGORITHMS.source(ALGORITHMS.name_of(type(owner)))
        function = functools.partial(do_piece, owner.game.spec, algorithm, settings, work.__name__)
        tickets = self.pool.begin(function, jax.device_get(batch.weights), pieces)
        return _Begun(work.__name__, batch.weights, data, tickets)


def do_piece(game: str, algorithm: str, settings: str, work: str, weights: Any, piece: Any) -> Any:
    """What a method of an algorithm makes of a piece, as plain arrays."""
    return jax.device_get(getattr(_make(game, algorithm, settings), work)(weights, [piece], nobody)[0])


@functools.lru_cache(maxsize=4)
def _make(game: str, algorithm: str, settings: str) -> Algorithm:
    kind = ALGORITHMS[ALGORITHMS.read(algorithm)]
    return kind(make_game(game), kind.settings_type(**json.loads(settings)))
