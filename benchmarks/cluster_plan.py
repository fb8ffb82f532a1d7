"""What a cluster would do with many workers, by a simulation that is fed with what was measured with few.

Workers take pieces as they come, and have their next one while they do the first. The process that learns takes in
results one after another: for each the time that a call of Ray's takes, and that of its bytes. Weights go out to each
machine once. Games grow with the workers, so that each has as many pieces as one had; what the learner does besides
grows with the games (PROBS fits all of them) or not (AlphaZero fits as many minibatches as before).
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
    """A round of pieces that are done with the same weights, as one worker has it."""

    name: str
    pieces: float
    seconds: float  # that a worker takes for a piece
    sent: float  # bytes of a piece
    taken: float  # bytes of what comes of it
    weights: float  # bytes, once a machine


@dataclasses.dataclass(frozen=True)
class Measured:
    """What is known of an iteration."""

    phases: tuple[Phase, ...]
    learner_seconds: float  # besides taking in results, with the games of one worker
    learner_grows: bool
    call_seconds: float  # of the process that learns, for each piece
    bytes_a_second: float  # from a worker's memory to where it learns, on one machine


def crew_seconds(measured: Measured, phase: Phase, workers: int, pieces: int) -> float:
    """How long a round takes."""
    rate = measured.bytes_a_second if workers <= 2 else min(NETWORK, measured.bytes_a_second)
    machines = -(-workers // WORKERS_A_MACHINE)
    each = measured.call_seconds + phase.taken / rate
    out = phase.weights * machines / rate + phase.sent / rate
    # Of each worker: when it is done with a piece, and when the result of the one before was taken in.
    free = [(out, out)] * workers
    heapq.heapify(free)
    port = out
    for _ in range(pieces):
        at, before = heapq.heappop(free)
        done = max(at, before) + phase.seconds
        port = max(port, done) + each
        heapq.heappush(free, (done, port - each))
    return port


def iteration(measured: Measured, workers: int) -> tuple[float, float]:
    """The seconds of the crew, and of the learner, where games grow with the workers."""
    crew = sum(crew_seconds(measured, phase, workers, round(phase.pieces * workers)) for phase in measured.phases)
    return crew, measured.learner_seconds * (workers if measured.learner_grows else 1)


def scaling(measured: Measured) -> Iterator[dict[str, float]]:
    """For each number of workers: how many times the work of one they do, alone and with the learner.

    `overlapped` is where games are played while the net is fitted (`lag`), `learner_10` where that takes a tenth of the
    time.
    """
    crew_of_one, learner_of_one = iteration(measured, 1)
    for workers in WORKERS:
        crew, learner = iteration(measured, workers)
        yield {
            "workers": workers,
            "crew": workers * crew_of_one / crew,
            "whole": workers * (crew_of_one + learner_of_one) / (crew + learner),
            "overlapped": workers * max(crew_of_one, learner_of_one) / max(crew, learner),
            "learner_10": workers * (crew_of_one + learner_of_one / 10) / (crew + learner / 10),
            "crew_seconds": crew,
            "learner_seconds": learner,
        }


def plan(measured: Measured, workers: int, price: float) -> dict[str, float]:
    """Bytes of an iteration by what they are, who waits for whom, and what it costs at `price` for a worker's hour."""
    machines = -(-workers // WORKERS_A_MACHINE)
    crew, learner = iteration(measured, workers)
    pieces = sum(phase.pieces for phase in measured.phases) * workers
    return {
        "workers": workers, "machines": machines, "pieces": pieces,
        "bytes_weights_put": sum(phase.weights for phase in measured.phases),
        "bytes_weights_to_machines": sum(phase.weights for phase in measured.phases) * machines,
        "bytes_pieces": sum(phase.sent * phase.pieces for phase in measured.phases) * workers,
        "bytes_results": sum(phase.taken * phase.pieces for phase in measured.phases) * workers,
        "seconds_of_work_of_a_worker": sum(phase.seconds * phase.pieces for phase in measured.phases),
        "seconds_to_take_in_results": sum(
            phase.pieces * workers * (measured.call_seconds + phase.taken / min(NETWORK, measured.bytes_a_second))
            for phase in measured.phases
        ),
        "seconds_crew": crew, "seconds_learner": learner,
        "dollars_for_1000_iterations": 1000 * (crew + learner) / 3600 * price * workers,
    }  # fmt: skip


def saturation(measured: Measured) -> dict[str, float]:
    """How many workers keep the process that learns busy: by their results, and by what it fits, if that grows."""
    work = sum(phase.seconds * phase.pieces for phase in measured.phases)
    rate = min(NETWORK, measured.bytes_a_second)
    intake = sum(phase.pieces * (measured.call_seconds + phase.taken / rate) for phase in measured.phases)
    found = {"by_results": work / max(intake, 1e-9)}
    # With games that grow, a worker's time stays as it is, and the learner's is in proportion to the workers.
    return found | ({"by_fitting": work / measured.learner_seconds} if measured.learner_grows else {})
