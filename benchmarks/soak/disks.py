"""Train on a disk that fills up or becomes read-only at some moment: one line, and the run goes on later, the same.

Needs root on Linux, to mount a small disk of memory.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
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
    return run_words("probs", folder, "--seed", "1", iterations=8)


def _one(tally: Tally, whole: Path, disk: Path, seed: str) -> None:
    rng = random.Random(seed)
    is_full = rng.random() < 0.5
    size = f"{rng.randrange(40, 1500)}k" if is_full else "50m"
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(disk)], check=True)
    kind = "disks that fill up" if is_full else "disks that become read-only"
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "beamzero", *_words(disk / "run")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        if not is_full:
            while not (disk / "run" / "metrics.jsonl").exists() and process.poll() is None:
                time.sleep(0.01)
            time.sleep(rng.random())
            # Busy while something is open for writing: then this is only a run that ends well.
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], capture_output=True)
        said = process.communicate()[1]
        last = [line for line in said.splitlines() if line.startswith("beamzero: ")]
        if "Traceback" in said or process.returncode not in (0, 1, 2) or (process.returncode and len(last) != 1):
            tally.fail(kind, seed, f"status {process.returncode}: {said[-600:]}")
            return
        subprocess.run(["mount", "-o", "remount,rw,size=50m", str(disk)], check=True)
        words = _words(disk / "run")
        if (disk / "run" / "run.json").exists():
            words = ["train", "tic_tac_toe", "--run", str(disk / "run"), "--resume"]
        again = subprocess.run([sys.executable, "-m", "beamzero", *words], capture_output=True, text=True)
        if again.returncode:
            tally.fail(kind, seed, f"does not go on: {again.stderr[-600:]}")
        elif difference := _in_a_fork(lambda: _difference(whole, disk / "run")):
            tally.fail(kind, seed, difference)
        else:
            tally.add(f"{kind}: {'stopped in one line' if process.returncode else 'ended well'}, and went on the same")
    finally:
        subprocess.run(["umount", str(disk)], check=False)
