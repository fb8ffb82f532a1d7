"""Measure what a command takes before it begins: seconds, CPU seconds and peak memory, the best of several runs.

    python benchmarks/startup.py                   # on a machine that does nothing else
    python benchmarks/startup.py --runs 10 --root ../other-checkout

The first run of each, which reads files from the disk and writes bytecode, does not count. `python` alone and
`import jax` are there to compare with. CPU seconds hold where the machine has other things to do. Memory is the most
that the process had at one moment, as Linux counts it (the maximum resident set size).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CASES = {
    "python": ["-c", "pass"],
    "import jax": ["-c", "import jax"],
    "import beamzero": ["-c", "import beamzero"],
    **{
        f"beamzero {words}": ["-m", "beamzero", *words.split()]
        for words in ("--version", "--help", "fly", "games", "doctor", "runs", "play --help", "train --help")
    },
}
"""What is measured, as words of Python. A command that does not exist is one of them: it must be refused at once."""


class Start(NamedTuple):
    """The cost of a process."""

    seconds: float
    cpu_seconds: float
    megabytes: float


def measure(words: list[str], root: Path, folder: str) -> Start:
    """Run Python once, in a folder without runs."""
    variables = {"PYTHONPATH": str(root.resolve()), "PYTHONDONTWRITEBYTECODE": ""}
    environment = {"JAX_PLATFORMS": "cpu", **os.environ, **variables}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *words], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0  # it was waited for
    seconds = time.perf_counter() - began
    return Start(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def best_of(runs: int, words: list[str], root: Path) -> Start:
    """Give the least of each of several runs, after one that does not count."""
    with tempfile.TemporaryDirectory() as folder:
        measure(words, root, folder)
        starts = [measure(words, root, folder) for _ in range(runs)]
    return Start(*map(min, zip(*starts)))


def main() -> int:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="how many runs of each count")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to measure")
    options = parser.parse_args()
    print("| | seconds | CPU seconds | MB |\n| --- | ---: | ---: | ---: |", flush=True)
    for name, words in CASES.items():
        start = best_of(options.runs, words, options.root)
        print(f"| `{name}` | {start.seconds:.2f} | {start.cpu_seconds:.2f} | {start.megabytes:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
