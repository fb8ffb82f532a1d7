"""Run a command, and print the seconds, the CPU seconds and the peak memory of all its processes together.

    python3 benchmarks/processes.py [--name NAME] [--out FILE] [--show-peak] COMMAND [ARGUMENT ...]

Ends with the exit status of the command. The line is printed, and appended to FILE where one is given; --show-peak
prints which processes there were when memory was at its peak. Needs nothing
but Python 3 and, for memory and CPU time, Linux. A process belongs to the command if it has inherited its environment,
so that one that has left its parent (as those of Ray do) is counted too. CPU seconds are those of the whole machine,
which should do nothing else. Memory is the sum of what `top` calls RES: what processes share counts in each of them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
MARK = "BEAMZERO_MEASURED"
SECONDS_BETWEEN_SAMPLES = 0.25


class Usage(NamedTuple):
    """The time and memory that a command has taken."""

    status: int  # its exit status
    seconds: float
    cpu_seconds: float | None  # of the whole machine; None where it cannot be read
    peak_bytes: int | None  # of all processes together; None where it cannot be read
    peak_moment: float  # when that was, by time.monotonic()
    peak_processes: tuple[tuple[int, str], ...]  # the bytes and the command line of each of them, largest first


def run(command: list[str], environment: dict[str, str] | None = None) -> Usage:
    """Run `command` to its end, and measure it."""
    mark = f"{MARK}={os.getpid()}.{time.monotonic_ns()}"
    name, value = mark.split("=")
    began, cpu = time.monotonic(), machine_cpu_seconds()
    memory = PeakMemory(mark.encode())
    with subprocess.Popen(command, env={**(environment or os.environ), name: value}) as process:
        memory.start()
        while True:
            try:
                status = process.wait()
                break
            except KeyboardInterrupt:  # the command hears of it too, and decides when it ends
                continue
    seconds, spent = time.monotonic() - began, machine_cpu_seconds()
    memory.stop()
    at_peak = sorted(memory.peak, reverse=True)
    peak_bytes = sum(size for size, _ in at_peak) or None
    cpu_seconds = None if cpu is None or spent is None else spent - cpu
    return Usage(status, seconds, cpu_seconds, peak_bytes, memory.peak_moment, tuple(at_peak))


class PeakMemory:
    """The most memory that all processes with a mark in their environment have had at one moment."""

    def __init__(self, mark: bytes) -> None:
        self.peak: list[tuple[int, str]] = []  # the bytes and the command line of each process
        self.peak_moment = 0.0
        self._mark = mark
        self._belongs: dict[tuple[str, int], bool] = {}  # by process number and the moment of its start
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        peak_bytes = 0
        while not self._over.wait(SECONDS_BETWEEN_SAMPLES):
            sizes = self._now()
            if sum(sizes.values()) > peak_bytes:
                peak_bytes = sum(sizes.values())
                self.peak = [(size, _command_line(folder)) for folder, size in sizes.items()]
                self.peak_moment = time.monotonic()

    def _now(self) -> dict[Path, int]:
        """Read the bytes of each process, by its folder."""
        sizes = {}
        for folder in PROC.glob("[0-9]*"):
            try:
                if self._is_ours(folder):
                    sizes[folder] = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            except (OSError, IndexError):  # it has ended, or belongs to someone else
                continue
        return sizes

    def _is_ours(self, folder: Path) -> bool:
        process = folder.name, folder.stat().st_ctime_ns
        if process not in self._belongs or not self._belongs[process]:
            # Between fork and exec a process still shows what its parent is, so a no is asked again.
            self._belongs[process] = self._mark in (folder / "environ").read_bytes()
        return self._belongs[process]


def _command_line(folder: Path) -> str:
    try:
        words = (folder / "cmdline").read_bytes().split(b"\0")
    except OSError:  # it has just ended
        words = []
    return b" ".join(words).decode(errors="replace").strip() or "(ended)"


def machine_cpu_seconds() -> float | None:
    """Return the seconds that the cores of this machine have worked since it was started."""
    try:
        user, nice, system, _, _, irq, soft_irq, *_ = map(int, (PROC / "stat").read_text().split("\n")[0].split()[1:])
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + soft_irq) / os.sysconf("SC_CLK_TCK")


def describe(usage: Usage) -> str:
    """Write one line for people."""
    cpu = "" if usage.cpu_seconds is None else f", {usage.cpu_seconds:.0f} CPU seconds"
    memory = "" if usage.peak_bytes is None else f", {usage.peak_bytes / 1e9:.2f} GB at its peak"
    return f"{usage.seconds:.0f} s{cpu}{memory}" + ("" if usage.status == 0 else f", exit status {usage.status}")


def print_peak(usage: Usage, width: int = 160) -> None:
    """Print the processes that there were when memory was at its peak."""
    print("  processes at the peak:")
    for size, command in usage.peak_processes:
        print(f"    {size / 1e6:6.0f} MB  {command[:width]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", help="what the line calls the command; by default, the command itself")
    parser.add_argument("--out", type=Path, help="a file to which the line is appended")
    parser.add_argument("--show-peak", action="store_true", help="print the processes at the peak of memory")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if not arguments.command:
        parser.error("say which command to run")
    try:
        usage = run(arguments.command)
    except OSError as error:
        parser.error(f"cannot run {arguments.command[0]}: {error.strerror}")
    line = f"{arguments.name or ' '.join(arguments.command)}: {describe(usage)}"
    print(line, flush=True)
    if arguments.show_peak:
        print_peak(usage)
    if arguments.out is not None:
        with arguments.out.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    return usage.status if usage.status >= 0 else 128 - usage.status


if __name__ == "__main__":
    sys.exit(main())
