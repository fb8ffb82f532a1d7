"""Whether commands that ask for more than any machine has are refused at once: in one line, with nothing written.

    python benchmarks/soak/huge_settings.py

Each command runs in a process and a folder of its own. A watchdog ends it where it takes 3 GB more than it began with,
or a minute. It counts as refused where it ends by itself with status 2, one line on stderr and no file.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_GIGABYTES, _SECONDS = 3.0, 60.0
_BETWEEN_LOOKS = 0.05

_HUGE_NET = "mlp:width=8192,depth=64"

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("battle", "tic_tac_toe", "random", "random", "--games", "1000000000"),
    ("battle", "tic_tac_toe", "random", "random", "--games", "99999999999999999998"),
    ("battle", "connect_four", "random", "random", "--games", "100000000"),
    ("battle", "chess", "random", "lookahead:1", "--games", "20000000"),
    ("battle", "chess", "mcts:sims=100000", "random", "--games", "2000"),
    ("battle", "othello", "alphazero:othello,sims=100000", "random", "--games", "100000"),
    ("battle", "connect_four", "mcts:sims=1000000000", "random"),
    ("battle", "connect_four", "alphazero:connect_four,sims=100000000", "random"),
    ("battle", "connect_four", "alphabeta:depth=4,hash=1000000", "random"),
    ("battle", "connect_four", "probs:none,expand=100000000", "random"),
    ("battle", "bridge", "clairvoyance:worlds=1000000000", "random"),
    ("battle", "bridge", "clairvoyance:worlds=10000", "random", "--games", "1000000"),
    ("rate", "kalah", "lookahead:1", "--games", "100000000"),
    ("rate", "chess", "mcts:sims=100000", "--games", "4000"),
    ("score", "chess", "mcts:sims=100000"),
    ("exhaust", "tic_tac_toe", "alphazero:tic_tac_toe,sims=1000000000"),
    ("exploit", "leduc_poker", "clairvoyance:worlds=10", "--asked", "99999999999999999998"),
    ("fit-eval", "chess", "--games", "1000000"),
    ("fit-eval", "kalah", "--trial-games", "4000000000"),
    ("fit-eval", "connect_four", "--battle-games", "99999999999999999998"),
    ("book", "connect_four", "--out", "c4.book", "--self-play", "99999999999999999998"),
    ("train", "connect_four", "--set", f"value_net={_HUGE_NET}"),
    ("train", "chess", "--algo", "probs", "--set", "games=1000000"),
    ("train", "chess", "--algo", "alphazero", "--set", "window=100000000"),
    ("train", "connect_four", "--algo", "alphazero", "--set", "sims=100000", "--set", "games=100000"),
    ("train", "chess", "--algo", "td", "--set", "games=1000000"),
    ("train", "othello", "--algo", "alphazero", "--set", f"net={_HUGE_NET}"),
    ("train", "chess", "--algo", "alphazero", "--set", "rate_every=1", "--set", "rate_sims=100000"),
    ("reproduce", "probs-chess6x6", "--set", "games=1000000"),
    (
        "compare", "connect_four", "--recipes", "connect_four_compare_probs connect_four_compare_alphazero",
        "--battle-games", "1000000", "--play-evaluations", "100000",
    ),
)  # fmt: skip
"""Each asks for 30 GB or more, or for more than a limit that is stated."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """The result of one command."""

    command: tuple[str, ...]
    status: int | None
    """None where the watchdog ended it."""
    message: str
    """The text that it wrote on stderr."""
    written: tuple[str, ...]
    """The files that it left."""
    peak: int
    """The most memory that it had, in bytes."""
    seconds: float

    @property
    def refused(self) -> bool:
        """True where it was refused as it should be."""
        return self.status == 2 and len(self.message.splitlines()) == 1 and not self.written


def huge_setting_trials(
    commands: Sequence[tuple[str, ...]] = COMMANDS,
    seconds: float = _SECONDS,
    gigabytes: float = _GIGABYTES,
    on_trial: Callable[[Trial], None] = lambda trial: None,
) -> list[Trial]:
    """Run each command under a watchdog, and call `on_trial` with each that has ended."""
    trials = []
    for command in commands:
        trials.append(run_watched(command, seconds, gigabytes))
        on_trial(trials[-1])
    return trials


def run_watched(command: tuple[str, ...], seconds: float, gigabytes: float) -> Trial:
    """Run ``beamzero COMMAND`` in an empty folder; end it after `seconds`, or where it takes `gigabytes` more."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "beamzero", *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100000"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        peak, whole = _watch(process, began + seconds, int(gigabytes * 2**30))
        taken = time.monotonic() - began
        errors.seek(0)
        written = tuple(sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*")))
        return Trial(command, process.returncode if whole else None, errors.read().strip(), written, peak, taken)


def _watch(process: subprocess.Popen, deadline: float, room: int) -> tuple[int, bool]:
    """Wait for a process to end; the most memory that it was seen to have, and whether it ended by itself."""
    first = peak = 0
    while process.poll() is None:
        now = _resident_bytes(process.pid)
        first, peak = first or now, max(peak, now)
        if peak - first > room or time.monotonic() > deadline:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return peak, False
        time.sleep(_BETWEEN_LOOKS)
    return peak, True


def _resident_bytes(pid: int) -> int:
    """Ask Linux how much memory a process has; 0 where it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _lines(trial: Trial) -> Iterator[str]:
    verdict = "refused" if trial.refused else "NOT REFUSED"
    yield f"{verdict}, {trial.seconds:.1f} s, {trial.peak / 1e9:.2f} GB: beamzero {' '.join(trial.command)}"
    yield f"    {trial.message or '(nothing on stderr)'}"
    if trial.status != 2:
        yield f"    status {'none: ended by the watchdog' if trial.status is None else trial.status}"
    if trial.written:
        yield f"    wrote {', '.join(trial.written)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", metavar="WORD", default="", help="Only the commands with this word in them.")
    asked = parser.parse_args()
    commands = [command for command in COMMANDS if asked.only in " ".join(command)]
    trials = huge_setting_trials(commands, on_trial=lambda trial: print(*_lines(trial), sep="\n", flush=True))
    refused = sum(trial.refused for trial in trials)
    print(f"{refused} of {len(trials)} refused in one line, with nothing written")
    return 0 if refused == len(trials) else 1


if __name__ == "__main__":
    sys.exit(main())
