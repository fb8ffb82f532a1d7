"""Tries that are drawn by seed and may be repeated by it, several at once, and counts of how they ended."""

from __future__ import annotations

import collections
import dataclasses
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar


class Drawn(Protocol):
    """A try: its seed decides all of it."""

    @property
    def seed(self) -> int: ...

    @property
    def command(self) -> str: ...


class Ended(Protocol):
    """The result of a try."""

    @property
    def stderr(self) -> str: ...

    def verdict(self) -> str:
        """Give a word for how it ended; where that was wrong, "WRONG: " and why."""


TrialT = TypeVar("TrialT", bound=Drawn)
EndingT = TypeVar("EndingT", bound=Ended)


@dataclasses.dataclass(frozen=True)
class Count(Generic[TrialT, EndingT]):
    """The results of many tries."""

    verdicts: dict[str, dict[str, int]]
    """By command: how often it ended how."""
    failures: tuple[tuple[TrialT, EndingT], ...]
    stopped: tuple[TrialT, ...]


def draw_seeds(rng: random.Random, tries: int, only: int | None) -> list[int]:
    """Draw the seeds of so many tries; with `only`, that one alone."""
    return [only] if only is not None else [rng.randrange(2**31) for _ in range(tries)]


def run_tries(
    seeds: list[int],
    draw: Callable[[int], TrialT],
    attempt: Callable[[TrialT], EndingT],
    at_once: int,
    seconds: float,
    shorten: Callable[[str], list[str]],
) -> Count[TrialT, EndingT]:
    """Attempt the trial of each seed, `at_once` at a time, and print those that end wrong, or the only one.

    No try begins after `seconds`; `shorten` chooses the lines of stderr that are shown.
    """
    until = time.monotonic() + seconds
    verdicts: dict[str, dict[str, int]] = collections.defaultdict(collections.Counter)
    failures, stopped = list[tuple[TrialT, EndingT]](), list[TrialT]()

    def one(seed: int) -> tuple[TrialT, EndingT] | None:
        trial = draw(seed)
        return None if time.monotonic() > until else (trial, attempt(trial))

    with ThreadPoolExecutor(at_once) as threads:
        for done in filter(None, threads.map(one, seeds)):
            trial, ending = done
            verdict = ending.verdict()
            verdicts[trial.command][verdict.partition(":")[0]] += 1
            if verdict == "stopped":
                stopped.append(trial)
            if verdict.startswith("WRONG"):
                failures.append(done)
            if verdict.startswith("WRONG") or len(seeds) == 1:
                print(f"seed {trial.seed}: {trial}: {verdict}", flush=True)
                print("    " + "\n    ".join(shorten(ending.stderr)), flush=True)
    return Count({name: dict(count) for name, count in sorted(verdicts.items())}, tuple(failures), tuple(stopped))
