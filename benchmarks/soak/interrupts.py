"""Press Ctrl-C at random moments of commands, one to three times, and look at how they end.

    python benchmarks/soak/interrupts.py --tries 200 --seed 0
    python benchmarks/soak/interrupts.py --only 4711            # repeat the try of that seed, and show what it said

A command that is interrupted must end with status 130 and one line that says so: no traceback, no crash, no process
and no half-written file left behind. Each try has a seed, which decides the command, whether its programs are compiled
already, the moment and the number of presses. Needs Linux, to find processes that were left behind.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))  # where this file is run on its own

from soak.tries import Count, draw_seeds, run_tries  # noqa: E402

MARK = "BEAMZERO_INTERRUPTED"
_LONGEST = 15.0
"""CPU seconds of a command's life in which it is interrupted, at most."""
_IDLE = 4.0
"""Seconds without work after which a command waits for something; it is interrupted within twice as long."""
_PATIENCE = 120.0
"""Seconds after which a command that was interrupted and goes on is said to hang."""

_TOY = {
    "iterations": 3, "games": 8, "rate_every": 1, "rate_games": 8, "rate_against": "random lookahead:1",
    "anchor_games": 8,
}  # fmt: skip
_NET = "mlp:width=16,depth=2"
_PROBS = {"expand": 3, "search_batch": 32, "value_net": _NET, "q_net": _NET, "checkpoint_every": 1}
_ALPHAZERO = {"window": 150, "sims": 4, "net": _NET, "batch_size": 16, "batches": 4, "checkpoint_every": 1}
_BOARD = "connect_four:rows=4,columns=4,length=3"


def _set(**settings: object) -> list[str]:
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


_ENGINE = f'gtp:"{sys.executable} -m beamzero engine gtp tic_tac_toe random",seconds=1'
COMMANDS: dict[str, list[str]] = {
    "train": ["train", "tic_tac_toe", "--run", "run", *_set(**_TOY, **_PROBS)],
    "train-alphazero": ["train", "tic_tac_toe", "--algo", "alphazero", "--run", "run", *_set(**_TOY, **_ALPHAZERO)],
    "battle": ["battle", _BOARD, "mcts:sims=64", "alphabeta:depth=4", "--games", "200", "--save", "games.txt"],
    "battle-engine": ["battle", "tic_tac_toe", _ENGINE, "random", "--games", "8"],
    "rate": ["rate", _BOARD, "mcts:sims=32", "lookahead:2", "--games", "100"],
    "reproduce": ["reproduce", "probs-fig2", "--seeds", "1", "--out", "study", *_set(**_TOY, **_PROBS)],
    "reproduce-workers": [
        "reproduce", "probs-fig2", "--seeds", "1", "--workers", "2", "--out", "study", *_set(**_TOY, **_PROBS),
    ],
    "score": ["score", "connect_four", "lookahead:3", "mcts:sims=32", "--positions", "20"],
    "analyse": ["analyse", "connect_four", "alphabeta:nodes=300000"],
    "book": ["book", _BOARD, "--agent", "alphabeta:nodes=2000", "--plies", "4", "--out", "small.book"],
    "table": ["table", "kalah", "--seeds", "7", "--out", "small.table"],
    "play": ["play", _BOARD, "--agent", "mcts:sims=64", "--side", "second", "--save", "games.txt"],
    "engine": ["engine", "gtp", _BOARD, "mcts:sims=64"],
    "serve": ["serve", "--port", "0", "--game", "tic_tac_toe", "--game", _BOARD, "--no-browser", "--keep", "g.sqlite"],
}  # fmt: skip
"""Commands that are interrupted, by name."""

_WAITING = {"play", "engine", "serve"}
"""Commands that do not end by themselves."""

_ENDINGS = re.compile(r"^(beamzero: interrupted|go on with: .*)$")
_UGLY = re.compile(r"Traceback|[Ff]atal|FATAL|Exception ignored|terminate called|Segmentation|Aborted|Error:")
_OURS = re.compile(r"beamzero/(?!__init__|__main__)|beamzero: ")


@dataclasses.dataclass(frozen=True)
class Trial:
    """A try, as its seed decides."""

    seed: int
    command: str
    compiled: bool
    """True where it finds compiled programs of an earlier run."""
    moment: float
    """A part of its life, or seconds after it began, or after it printed its result."""
    when: str
    """"life", "start" or "exit": what the moment is."""
    gaps: tuple[float, ...]
    """Seconds between presses, one fewer than presses."""
    group: bool
    """Whether all its processes hear of it, as with a terminal's Ctrl-C, or it alone."""

    def __str__(self) -> str:
        what = {"life": f"after {self.moment:.1%} of its life", "start": f"{self.moment:.2f} s after it began",
                "exit": f"{self.moment:.2f} s after its result"}[self.when]  # fmt: skip
        how = ("compiled before" if self.compiled else "compiles", "all processes" if self.group else "one process")
        return f"{self.command}, {what}, {1 + len(self.gaps)} presses ({', '.join(how)})"


def draw_trial(seed: int, commands: Sequence[str] = tuple(COMMANDS)) -> Trial:
    """Draw the try of a seed."""
    rng = random.Random(seed)
    command = rng.choice(list(commands))
    when = rng.choices(["life", "start", "exit"], [0.6, 0.2, 0.2])[0]
    if when == "exit" and command in _WAITING:
        when = "life"
    moment = {"life": rng.random(), "start": rng.uniform(0.0, 2.0), "exit": rng.uniform(0.0, 0.5)}[when]
    gaps = tuple(10 ** rng.uniform(-3, 0.3) for _ in range(rng.randrange(3)))
    return Trial(seed, command, rng.random() < 0.7, moment, when, gaps, rng.random() < 0.5)


@dataclasses.dataclass(frozen=True)
class Ending:
    """The end of a command."""

    status: int | None
    """None where it hangs."""
    stdout: str
    stderr: str
    seconds: float
    printed_before: bool
    """Whether its result was there before the first press, or it ended in the same moment."""
    left: tuple[str, ...]
    """Processes and unfinished files that it left behind."""

    def verdict(self) -> str:
        """Give "interrupted", "finished", "not begun" (Python itself was still starting), or what is wrong."""
        lines = self.stderr.strip().splitlines()
        if self.status is None:
            return "WRONG: hangs"
        if self.status in (-signal.SIGINT, 1) and not _OURS.search(self.stderr):
            return "not begun"
        if self.left:
            return f"WRONG: left behind {', '.join(self.left)}"
        if self.status < 0:
            return f"WRONG: ended by {signal.Signals(-self.status).name}"
        if ugly := [line for line in lines if _UGLY.search(line)]:
            return f"WRONG: said {ugly[0]!r}"
        if self.status == 0:
            return "finished" if self.printed_before else "WRONG: went on"
        if self.status != 130:
            return f"WRONG: status {self.status}"
        if not lines or not _ENDINGS.match(lines[-1]) or sum(bool(_ENDINGS.match(line)) for line in lines) != 1:
            return f"WRONG: its last line is {lines[-1] if lines else ''!r}"
        return "interrupted"


class Soak:
    """Tries commands in a folder of its own, with a cache of compiled programs that all of them share."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.lives = folder, dict[str, float]()
        self._locks: dict[str, threading.Lock] = collections.defaultdict(threading.Lock)

    def life(self, command: str) -> float:
        """Measure the CPU seconds of an undisturbed command; once, which compiles its programs too."""
        with self._locks[command]:
            if command not in self.lives:
                with self._begun(command, self.folder / "cache") as (process, _):
                    self.lives[command] = _work_for(process, _LONGEST, _IDLE)
            return self.lives[command]

    def attempt(self, trial: Trial) -> Ending:
        """Start the command, press Ctrl-C as the trial says, and wait for its end."""
        life = self.life(trial.command)
        with tempfile.TemporaryDirectory(dir=self.folder) as cold:
            cache = self.folder / "cache" if trial.compiled else Path(cold)
            with self._begun(trial.command, cache) as (process, place):
                return _interrupt(trial, process, place, life)

    @contextlib.contextmanager
    def _begun(self, command: str, cache: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
        """Start a command in a new folder; what is left of it is killed afterwards."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=f"{command}-", ignore_cleanup_errors=True) as place:
            environment = {
                "JAX_PLATFORMS": "cpu", **os.environ, "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1", MARK: place,
                "JAX_COMPILATION_CACHE_DIR": str(cache), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1", "NO_COLOR": "1", "COLUMNS": "200",
            }  # fmt: skip
            with open(f"{place}/stdout", "wb") as out, open(f"{place}/stderr", "wb") as err:
                process = subprocess.Popen(
                    [sys.executable, "-m", "beamzero", *COMMANDS[command]], cwd=place, env=environment,
                    stdin=subprocess.PIPE, stdout=out, stderr=err, start_new_session=True,
                )  # fmt: skip
            try:
                yield process, Path(place)
            finally:
                for number in _alive(place):
                    with contextlib.suppress(OSError):
                        os.kill(number, signal.SIGKILL)
                process.wait()
                if process.stdin is not None:
                    process.stdin.close()


def _interrupt(trial: Trial, process: subprocess.Popen[bytes], place: Path, life: float) -> Ending:
    began, result = time.monotonic(), place / "stdout"
    if trial.when == "exit":
        while process.poll() is None and not result.stat().st_size and time.monotonic() - began < _PATIENCE:
            time.sleep(0.005)
    if trial.when == "life":
        _work_for(process, trial.moment * life, 2 * _IDLE * trial.moment)
    else:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(trial.moment)
    printed_before = process.poll() is not None or (result.stat().st_size > 0 and trial.command not in _WAITING)
    for gap in (*trial.gaps, None):
        if process.poll() is None:
            with contextlib.suppress(OSError):
                (os.killpg if trial.group else os.kill)(process.pid, signal.SIGINT)
        if gap is not None:
            time.sleep(gap)
    pressed = time.monotonic()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # it says then where it is
        process.wait()
        return _ending(None, place, began, False, ())
    printed_before = printed_before or (time.monotonic() - pressed < 0.3 and result.stat().st_size > 0)
    return _ending(process.returncode, place, began, printed_before, _left_behind(place))


def _work_for(process: subprocess.Popen[bytes], seconds: float, idle: float) -> float:
    """Wait until a process has had so many CPU seconds, has done nothing for `idle` seconds, or has ended.

    Gives its CPU seconds. They say where it is in its life, however busy the machine is.
    """
    spent, last = 0.0, time.monotonic()
    while process.poll() is None and spent < seconds and time.monotonic() - last < idle:
        with contextlib.suppress(OSError, IndexError):
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            now = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            if now > spent + 0.01:
                spent, last = now, time.monotonic()
        time.sleep(0.005)
    return spent


def _ending(status: int | None, place: Path, began: float, printed_before: bool, left: tuple[str, ...]) -> Ending:
    said = [(place / name).read_text(errors="replace") for name in ("stdout", "stderr")]
    return Ending(status, said[0], said[1], time.monotonic() - began, printed_before, left)


def _left_behind(place: Path) -> tuple[str, ...]:
    """List the processes of a command some seconds after it has ended, and its unfinished files."""
    until = time.monotonic() + 10
    while (alive := _alive(str(place))) and time.monotonic() < until:
        time.sleep(0.1)
    processes = [f"process {_command_line(number)}" for number in alive]
    return (*processes, *(f"file {path.relative_to(place)}" for path in place.rglob(".writing-*")))


def _alive(place: str) -> list[int]:
    """List the processes that have inherited the mark of a command's folder."""
    mark, found = f"{MARK}={place}\0".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def _command_line(number: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return str(number)


def interrupt_trials(
    rng: random.Random,
    tries: int,
    commands: Sequence[str] = tuple(COMMANDS),
    at_once: int = 2,
    only: int | None = None,
    seconds: float = float("inf"),
) -> Count[Trial, Ending]:
    """Interrupt `commands` so many times, `at_once` at a time, and print what is wrong with how they end.

    No try begins after `seconds`. With `only`, repeat the one of that seed.
    """
    with tempfile.TemporaryDirectory(prefix="interrupts-", ignore_cleanup_errors=True) as folder:
        return run_tries(
            draw_seeds(rng, tries, only), lambda seed: draw_trial(seed, commands), Soak(Path(folder)).attempt, at_once,
            seconds, lambda stderr: stderr.strip().splitlines()[-60:],
        )  # fmt: skip


def main() -> int:
    """Run the tries, and print how often each command ended how; status 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="SEED", help="repeat the try of this seed (with its --command)")
    parser.add_argument("--command", action="append", choices=COMMANDS, help="may be repeated; by default all")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no try after so long")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background has it ignored, and passes it on
    count = interrupt_trials(
        random.Random(options.seed), options.tries, options.command or tuple(COMMANDS), options.at_once, options.only,
        60 * options.minutes,
    )  # fmt: skip
    for command, verdicts in count.verdicts.items():
        print(f"{command:18}", ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items())))
    total = sum(sum(verdicts.values()) for verdicts in count.verdicts.values())
    print(f"{total} tries, {len(count.failures)} wrong")
    return 1 if count.failures else 0


if __name__ == "__main__":
    sys.exit(main())
