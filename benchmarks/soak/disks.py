"""Train on a disk that fills up, or go on on one that is read-only: one line, and the run goes on later, the same.

Needs root on Linux, to mount a small disk of memory.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from soak.kills import _difference, _in_a_fork
from soak.tally import Clock, Tally, run_words


def disk_trials(tally: Tally, folder: Path, seed: int, times: int, clock: Clock) -> None:
    """Let a training meet its disk's end `times` times."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        tally.add("disks: not tried, since only root can mount")
        return
    whole = folder / "whole"
    subprocess.run([sys.executable, "-m", "beamzero", *_words(whole)], check=True, capture_output=True)
    disk = folder / "disk"
    disk.mkdir()
    for number in range(times):
        if not clock.is_over:
            _one(tally, whole, disk, f"{seed}-{number}")


def _words(folder: Path) -> list[str]:
    return run_words("probs", folder, "--seed", "1", iterations=8, rate_every=1)


def _one(tally: Tally, whole: Path, disk: Path, seed: str) -> None:
    rng = random.Random(seed)
    is_full = rng.random() < 0.5
    kind = "disks that fill up" if is_full else "disks that are read-only"
    size = f"{rng.randrange(40, 400)}k" if is_full else "50m"
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(disk)], check=True)
    run = disk / "run"
    try:
        if not is_full:  # a disk with a writer cannot become so, and neither can one in life, but for a fault
            _beamzero([*_words(run), "--iterations", str(rng.randrange(1, 8))])
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        stopped = _beamzero(_go_on(run))
        last = [line for line in stopped.stderr.splitlines() if line.startswith("beamzero: ")]
        one_line = "Traceback" not in stopped.stderr and stopped.returncode in (1, 2) and len(last) == 1
        if not one_line and (stopped.returncode or not is_full):
            return tally.fail(kind, seed, f"status {stopped.returncode}: {stopped.stderr[-600:]}")
        subprocess.run(["mount", "-o", "remount,rw,size=50m", str(disk)], check=True)
        again = _beamzero(_go_on(run))
        if again.returncode:
            tally.fail(kind, seed, f"does not go on: {again.stderr[-600:]}")
        elif difference := _in_a_fork(lambda: _difference(whole, run)):
            tally.fail(kind, seed, difference)
        else:
            tally.add(f"{kind}: {'stopped in one line' if stopped.returncode else 'ended well'}, and went on the same")
    finally:
        subprocess.run(["umount", str(disk)], check=False)
    return None


def _go_on(run: Path) -> list[str]:
    """Return the words that begin a run, or resume it."""
    return ["train", "tic_tac_toe", "--run", str(run), "--resume"] if (run / "run.json").exists() else _words(run)


def _beamzero(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "beamzero", *words], capture_output=True, text=True)
