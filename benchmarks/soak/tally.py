"""Counts of trials, and what they share: a small workspace, and commands of beamzero that run in this process."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import hashlib
import io
import os
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

NET = "mlp:width=8,depth=1"
TOY: dict[str, dict[str, Any]] = {
    "probs": {
        "expand": 2, "search_batch": 16, "value_net": NET, "q_net": NET, "value_batch_size": 16, "q_batch_size": 16,
    },
    "alphazero": {"window": 100, "sims": 2, "net": NET, "batch_size": 16, "batches": 2},
    "td": {"value_net": NET, "batch_size": 16},
}  # fmt: skip
EVERY_RUN: dict[str, Any] = {
    "iterations": 6, "games": 8, "rate_every": 2, "rate_games": 4, "rate_against": "random lookahead:1",
    "anchor_games": 4, "checkpoint_every": 1,
}  # fmt: skip


@dataclasses.dataclass
class Tally:
    """Counts of what happened by kind, and what should not have happened."""

    counts: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    failures: list[str] = dataclasses.field(default_factory=list)

    def add(self, kind: str, number: int = 1) -> None:
        self.counts[kind] += number

    def fail(self, kind: str, seed: object, what: str) -> None:
        """Note a failure. `seed` is what repeats it."""
        self.counts[f"{kind}: FAILED"] += 1
        self.failures.append(f"{kind}, seed {seed}: {what}")

    def show(self, title: str, seconds: float) -> None:
        print(f"\n{title}: {seconds:.0f} s")
        for kind, number in sorted(self.counts.items()):
            print(f"  {number:9,} {kind}")
        for failure in self.failures[:50]:
            print(f"  FAILURE {failure}")


def run_words(algorithm: str, folder: Path, *more: str, **changes: Any) -> list[str]:
    """Return the words that train a toy run by an algorithm."""
    settings = {**EVERY_RUN, **TOY[algorithm], **changes}
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return ["train", "tic_tac_toe", "--algo", algorithm, "--run", str(folder), *sets, *more]


class Said(NamedTuple):
    """The exit status and the output of a command."""

    status: int | None  # None where it ended in a traceback
    out: str
    err: str

    @property
    def refused_in_one_line(self) -> bool:
        return self.status in (1, 2) and self.err.startswith("beamzero: ") and self.err.count("\n") == 1


def command(words: Sequence[str]) -> Said:
    """Run a command of beamzero in this process."""
    from beamzero.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status: int | None = main(list(words))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            status = None
            err.write(traceback.format_exc())
    return Said(status, out.getvalue(), err.getvalue())


def hashes(folder: Path, but: Sequence[Path] = ()) -> dict[str, str]:
    """Return the digests of all files below a folder, but for those named, by their names."""
    files = (path for path in folder.rglob("*") if path.is_file() and not any(path.is_relative_to(one) for one in but))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in another folder for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


class Clock:
    """When to stop."""

    def __init__(self, seconds: float) -> None:
        self.until = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until then."""
        return self.until - time.monotonic()

    @property
    def is_over(self) -> bool:
        return self.left <= 0
