"""A simulation of a cluster with many workers, from measurements with few.

Workers take work items as they come, and have their next one while they do the first. The process that learns takes in
results one after another: each takes the time of a call of Ray's, and that of its bytes. Weights go out to each machine
once. Games grow with the workers, so that each has as many work items as one had; the other work of the learner grows
with the games (PROBS fits all of them) or not (AlphaZero fits as many minibatches as before).
"""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Iterator

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
NETWORK = 1.25e9
"""Bytes a second into the machine that learns, or out of it: 10 Gbit/s."""
WORKERS_A_MACHINE = 32


@dataclasses.dataclass(frozen=True)
class Phase:
    """A round of work items that are done with the same weights, for one worker."""

    name: str
    pieces: float
    seconds: float  # that a worker takes for a work item
    sent: float  # bytes of a work item
    taken: float  # bytes of its result
    weights: float  # bytes, once a machine


@dataclasses.dataclass(frozen=True)
class Measured:
    """Measurements of an iteration."""

    phases: tuple[Phase, ...]
    learner_seconds: float  # besides taking in results, with the games of one worker
    learner_grows: bool
    call_seconds: float  # of the process that learns, for each work item
    bytes_a_second: float  # from a worker's memory to where it learns, on one machine


def round_seconds(measured: Measured, phase: Phase, workers: int, items: int) -> float:
    """Simulate the seconds of a round."""
    rate = measured.bytes_a_second if workers <= 2 else min(NETWORK, measured.bytes_a_second)
    machines = -(-workers // WORKERS_A_MACHINE)
    each = measured.call_seconds + phase.taken / rate
    out = phase.weights * machines / rate + phase.sent / rate
    # For each worker: when it is done with a work item, and when the result of the one before was taken in.
    free = [(out, out)] * workers
    heapq.heapify(free)
    port = out
    for _ in range(items):
        at, before = heapq.heappop(free)
        done = max(at, before) + phase.seconds
        port = max(port, done) + each
        heapq.heappush(free, (done, port - each))
    return port


def iteration(measured: Measured, workers: int) -> tuple[float, float]:
    """Simulate the seconds of the workers, and of the learner, where games grow with the workers."""
    worked = sum(round_seconds(measured, phase, workers, round(phase.pieces * workers)) for phase in measured.phases)
    return worked, measured.learner_seconds * (workers if measured.learner_grows else 1)


def scaling(measured: Measured) -> Iterator[dict[str, float]]:
    """Yield for each number of workers how many times the work of one they do, alone (`crew`) and with the learner.

    `overlapped` is where games are played while the net is fitted (`lag`), `learner_10` where that takes a tenth of the
    time.
    """
    worked_by_one, learner_of_one = iteration(measured, 1)
    for workers in WORKERS:
        worked, learner = iteration(measured, workers)
        yield {
            "workers": workers,
            "crew": workers * worked_by_one / worked,
            "whole": workers * (worked_by_one + learner_of_one) / (worked + learner),
            "overlapped": workers * max(worked_by_one, learner_of_one) / max(worked, learner),
            "learner_10": workers * (worked_by_one + learner_of_one / 10) / (worked + learner / 10),
            "crew_seconds": worked,
            "learner_seconds": learner,
        }


def plan(measured: Measured, workers: int, price: float) -> dict[str, float]:
    """Return the bytes and seconds of an iteration by kind, and its cost at `price` for a worker's hour."""
    machines = -(-workers // WORKERS_A_MACHINE)
    worked, learner = iteration(measured, workers)
    items = sum(phase.pieces for phase in measured.phases) * workers
    return {
        "workers": workers, "machines": machines, "pieces": items,
        "bytes_weights_put": sum(phase.weights for phase in measured.phases),
        "bytes_weights_to_machines": sum(phase.weights for phase in measured.phases) * machines,
        "bytes_pieces": sum(phase.sent * phase.pieces for phase in measured.phases) * workers,
        "bytes_results": sum(phase.taken * phase.pieces for phase in measured.phases) * workers,
        "seconds_of_work_of_a_worker": sum(phase.seconds * phase.pieces for phase in measured.phases),
        "seconds_to_take_in_results": sum(
            phase.pieces * workers * (measured.call_seconds + phase.taken / min(NETWORK, measured.bytes_a_second))
            for phase in measured.phases
        ),
        "seconds_crew": worked, "seconds_learner": learner,
        "dollars_for_1000_iterations": 1000 * (worked + learner) / 3600 * price * workers,
    }  # fmt: skip


def saturation(measured: Measured) -> dict[str, float]:
    """Return the number of workers that keep the learner busy, by their results, and by its fitting if that grows."""
    work = sum(phase.seconds * phase.pieces for phase in measured.phases)
    rate = min(NETWORK, measured.bytes_a_second)
    intake = sum(phase.pieces * (measured.call_seconds + phase.taken / rate) for phase in measured.phases)
    found = {"by_results": work / max(intake, 1e-9)}
    # With games that grow, a worker's time stays as it is, and the learner's is in proportion to the workers.
    return found | ({"by_fitting": work / measured.learner_seconds} if measured.learner_grows else {})
