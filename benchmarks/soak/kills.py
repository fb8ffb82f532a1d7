"""Kill trainings while they work, again and again, until they are done: the result must not differ by a bit.

Each life is a process that was forked from one that has imported everything and begun nothing, so that most of its time
is work. The moment of a kill is drawn between what a life takes to begin its first iteration and what it takes to end.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from soak.tally import Clock, Tally, run_words

ALGORITHMS = ("probs", "alphazero", "td")


def kill_trials(tally: Tally, folder: Path, seed: int, kills: int, clock: Clock) -> None:
    """Kill `kills` lives of each algorithm, in runs that are begun again and again."""
    import beamzero.cli.commands.train  # noqa: F401 - before forks, so that each of them has it

    for algorithm in ALGORITHMS:
        done = 0
        whole = folder / f"{algorithm}-whole"
        _live(_words(algorithm, whole), None)
        for number in range(10**6):
            if done >= kills or clock.is_over:
                break
            done += _one_run(tally, algorithm, whole, folder / f"{algorithm}-{number}", f"{seed}-{number}")
        tally.add(f"kills of {algorithm}", done)


def _words(algorithm: str, folder: Path) -> list[str]:
    return run_words(algorithm, folder, "--seed", "1", iterations=20, rate_every=5)


def _one_run(tally: Tally, algorithm: str, whole: Path, folder: Path, seed: str) -> int:
    """Train to the end through kills; how many there were."""
    rng = random.Random(f"{algorithm}-{seed}")
    words, kills = _words(algorithm, folder), 0
    while True:
        status = _live(words, lambda: _works(folder), 0.5 * rng.random() ** 2)
        if status == 0:
            break
        if status != -signal.SIGKILL:
            tally.fail(f"kills of {algorithm}", seed, f"a life ended by itself with status {status}: {_said(folder)}")
            return kills
        kills += 1
        if (folder / "run.json").exists():
            words = ["train", "tic_tac_toe", "--run", str(folder), "--resume"]
    if difference := _in_a_fork(lambda: _difference(whole, folder)):
        tally.fail(f"kills of {algorithm}", seed, difference)
    else:
        tally.add(f"runs of {algorithm} that were the same to the bit after their kills")
        shutil.rmtree(folder)
    return kills


def _works(folder: Path) -> int:
    """Return a value that changes when a life has finished its first iteration, and is about to save it."""
    try:
        return (folder / "metrics.jsonl").stat().st_size
    except OSError:
        return 0


def _live(words: list[str], works: Callable[[], object] | None, after: float = 0.0) -> int:
    """Run a command in a forked process; with `works`, kill it so long after that has changed. Gives its status."""
    process = os.fork()
    if process == 0:
        _be(words)
    if works is not None:
        before = works()
        deadline = time.monotonic() + 120
        while works() == before and time.monotonic() < deadline and not _ended(process):
            time.sleep(0.002)
        until = time.monotonic() + after
        while time.monotonic() < until and not _ended(process):
            time.sleep(0.001)
        if not _ended(process):
            os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


def _ended(process: int) -> bool:
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _be(words: list[str]) -> None:
    """Become the command, with its output in a file."""
    status = 70
    try:
        said = os.open(Path(words[words.index("--run") + 1] + ".said"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        from beamzero.cli import main

        status = main(words)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _said(folder: Path) -> str:
    return Path(f"{folder}.said").read_text(errors="replace")[-500:]


def _difference(one: Path, other: Path) -> str:
    """Name the first difference of two runs, in the last weights or a line of metrics; "" where there is none."""
    if lines(one) != lines(other):
        return f"other lines of metrics: {len(lines(one))} and {len(lines(other))}"
    if weights(one) != weights(other):
        return "other weights"
    strays = [path.name for path in other.rglob(".writing-*")]
    return f"left behind: {strays}" if strays else ""


def lines(folder: Path) -> list[dict[str, object]]:
    """Return the lines of metrics, without times."""
    from beamzero.storage.metrics import read_metrics

    clocks = ("seconds", "total_seconds")
    return [{key: value for key, value in row.items() if key not in clocks} for row in read_metrics(folder)]


def weights(folder: Path) -> dict[str, str]:
    """Return digests of the arrays in the last checkpoint of a run."""
    from beamzero.storage.checkpoints import MANIFEST, TREE, Checkpoints
    from beamzero.storage.seal import unseal
    from beamzero.storage.trees import _orbax

    checkpoints = Checkpoints(folder / "checkpoints", keep=1)
    last = checkpoints._found()[-1].folder
    leaves = unseal((last / MANIFEST).read_bytes())["leaves"]
    arrays = _orbax().restore(last / TREE / "arrays")
    found = {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()}
    return {**{name: str(kind) for name, kind in leaves.items()}, **found}


def _in_a_fork(work: Callable[[], str]) -> str:
    """Return the result of `work` in a forked process: a process that has used JAX cannot fork any more."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        with os.fdopen(writing, "w") as file:
            try:
                file.write(work())
            except BaseException as error:
                file.write(f"could not be compared: {error!r}")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        found = file.read()
    os.waitpid(process, 0)
    return found
