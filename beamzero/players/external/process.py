"""Processes of other programs that read and write lines, and end with this one."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable

from beamzero.core.errors import BadInput
from beamzero.core.leaving import finalize
from beamzero.core.programs import find_program
from beamzero.storage.interrupts import uninterrupted

_LAST_WORDS = 2.0
"""Seconds that a program gets to exit by itself."""


class EngineTrouble(Exception):
    """The program died, hangs, or gave a wrong answer; the text says which."""


class EngineProcess:
    """A running program. A thread of its own reads its lines, so that waiting for one can time out."""

    def __init__(self, command: str) -> None:
        """Start `command`, a program and its arguments; BadInput where there is no such program."""
        words = _split(command)
        with uninterrupted():  # between its start and the finalizer that ends it
            try:
                self._process = subprocess.Popen(
                    [find_program(words[0]), *words[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, text=True, bufsize=1, errors="replace", start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                raise BadInput(f"{command!r} cannot be started: {error.strerror}") from None
            self._finalizer = finalize(self, _end, self._process)
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_read, args=(self._process, self._lines), daemon=True).start()

    def send(self, line: str) -> None:
        """Write a line to the program; EngineTrouble where it has died."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise EngineTrouble(self._death()) from None

    def wait_for(self, is_last: Callable[[str], bool], seconds: float) -> list[str]:
        """Read the lines up to the first one that `is_last`; EngineTrouble if it does not come in time."""
        until, lines = time.monotonic() + seconds, list[str]()
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise EngineTrouble(f"gave no answer in {seconds:g} s") from None
            if line is None:
                raise EngineTrouble(self._death())
            lines.append(line)
            if is_last(line):
                return lines

    def close(self, farewell: str = "quit") -> None:
        """Ask the program to exit, and kill it if it does not. A second call does nothing."""
        if self._finalizer.alive:
            with contextlib.suppress(EngineTrouble):
                self.send(farewell)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_LAST_WORDS)
            self._finalizer()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """Kill the program at once."""
        self._finalizer()

    def _death(self) -> str:
        """Say in words how the program ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS)
        status = self._process.returncode
        return "closed its output" if status is None else f"died with exit status {status}"


def _split(command: str) -> list[str]:
    """Split a command into words, as a shell does."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"cannot read the command {command!r}: {error}") from None
    if not words:
        raise BadInput("an engine needs a command, such as uci:stockfish,seconds=0.1")
    return words


def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    """Put the lines of a program into a queue, and None at their end."""
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        for line in process.stdout:
            lines.put(line.rstrip("\n"))
    lines.put(None)
    with contextlib.suppress(OSError, ValueError):
        process.stdout.close()


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a program and the processes that it started, and wait for it, so that no zombie is left."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    with contextlib.suppress(OSError, ValueError):
        if process.stdin is not None:
            process.stdin.close()
