"""Try to break beamzero for as long as you like: kills, damage, hostile files, disks, floods, huge settings, Ctrl-C.

    python benchmarks/soak.py --minutes 480
    python benchmarks/soak.py --only kills damage --minutes 20 --seed 7

Prints counts by kind, and each failure with the seed that repeats it; ends with status 1 if there was one. Each part
gets its share of the minutes and stops sooner when it has done what `--scale` asks for.
Runs on the CPU, in a folder of its own that is removed unless something failed. Needs Linux.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

from soak.damage import damage_trials
from soak.disks import disk_trials
from soak.garbage import garbage_trials
from soak.huge_settings import COMMANDS, huge_setting_trials
from soak.interrupts import interrupt_trials
from soak.kills import kill_trials
from soak.tally import Clock, Tally
from soak.writers import writer_trials
from soak.wrong_inputs import wrong_input_trials


def interrupts(tally: Tally, folder: Path, seed: int, scale: float, clock: Clock) -> None:
    count = interrupt_trials(random.Random(seed), int(200 * scale), seconds=clock.left)
    _take(tally, count.verdicts, count.failures)


def wrong_inputs(tally: Tally, folder: Path, seed: int, scale: float, clock: Clock) -> None:
    count = wrong_input_trials(random.Random(seed), int(300 * scale), seconds=clock.left)
    _take(tally, count.verdicts, count.failures)


def _take(tally: Tally, verdicts: dict[str, dict[str, int]], failures: Sequence[tuple[Any, Any]]) -> None:
    for command, ends in verdicts.items():
        for end, number in ends.items():
            tally.add(f"{command}: {end}", number)
    for trial, ending in failures:
        tally.failures.append(f"{trial.command}, seed {trial.seed}: {ending.verdict()}")


def huge_settings(tally: Tally, folder: Path, seed: int, scale: float, clock: Clock) -> None:
    for number, command in enumerate(COMMANDS):
        if clock.is_over:
            return
        (trial,) = huge_setting_trials([command])
        if trial.refused:
            tally.add("settings that ask for too much: refused in one line")
        else:
            tally.fail(
                "settings that ask for too much", number, f"{' '.join(command)}: {trial.status}, {trial.message}"
            )


def kills(tally: Tally, folder: Path, seed: int, scale: float, clock: Clock) -> None:
    kill_trials(tally, folder, seed, int(100 * scale), clock)


def writers(tally: Tally, folder: Path, seed: int, scale: float, clock: Clock) -> None:
    writer_trials(tally, folder, seed, int(100 * scale), clock)


def disks(tally: Tally, folder: Path, seed: int, scale: float, clock: Clock) -> None:
    disk_trials(tally, folder, seed, int(40 * scale), clock)


def garbage(tally: Tally, folder: Path, seed: int, scale: float, clock: Clock) -> None:
    garbage_trials(tally, folder, seed, int(980_000 * scale), int(20_000 * scale), clock)


def damage(tally: Tally, folder: Path, seed: int, scale: float, clock: Clock) -> None:
    damage_trials(tally, folder, seed, int(120 * scale), clock)


Part = Callable[[Tally, Path, int, float, Clock], None]

PARTS: dict[str, tuple[Part, float]] = {  # those that fork come first: a process that has used JAX must not
    "kills": (kills, 5.0),
    "writers": (writers, 0.5),
    "disks": (disks, 1.5),
    "garbage": (garbage, 2.0),
    "interrupts": (interrupts, 5.0),
    "huge_settings": (huge_settings, 1.0),
    "wrong_inputs": (wrong_inputs, 3.0),
    "damage": (damage, 6.0),
}
"""Each part, and its share of the time."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long at most")
    parser.add_argument("--scale", type=float, default=1.0, help="how much of each trial")
    parser.add_argument("--seed", type=int, default=None, help="what is drawn; another one each time by default")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background has it ignored, and passes it on
    seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
    shares = sum(PARTS[name][1] for name in arguments.only)
    print(f"seed {seed}, {arguments.minutes:g} minutes: {', '.join(arguments.only)}", flush=True)
    failures = 0
    for name in (name for name in PARTS if name in arguments.only):
        part, share = PARTS[name]
        folder = Path(tempfile.mkdtemp(prefix=f"beamzero-soak-{name}-"))
        tally, began = Tally(), time.monotonic()
        part(tally, folder, seed, arguments.scale, Clock(60 * arguments.minutes * share / shares))
        tally.show(name, time.monotonic() - began)
        failures += len(tally.failures)
        if tally.failures:
            print(f"  what is left of it: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
        sys.stdout.flush()
    print(f"\n{failures} failures" if failures else "\nnothing broke")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
