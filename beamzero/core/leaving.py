"""Ctrl-C and the end of a command's process: one line, status 130, and nothing left behind.

Python's own end of a process is no way out after Ctrl-C: threads that are still inside of JAX crash in it. So what was
interrupted leaves by `leave`, which does what must be done and ends the process. This module imports little, so that
Ctrl-C is heard before all else is imported.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

INTERRUPTED = 130
"""The exit status of what was interrupted."""

PATIENT_PRESSES = 3
"""Presses of Ctrl-C that do not disturb what the first of them has begun; the next one ends all at once."""

_SECONDS_UNTIL_AGAIN = 0.02
_SHOW_CURSOR = "\x1b[?25h"
"""Makes a terminal show the cursor, which a display may have hidden."""
_MORE = "beamzero: stopping, one moment (Ctrl-C again and again ends it at once)"

_finalizers: list[weakref.finalize[..., Any]] = []


def finalize(owner: object, function: Callable[..., object], *arguments: object) -> weakref.finalize[..., Any]:
    """Call `function` once, when `owner` is gone or the process ends, by Ctrl-C too."""
    finalizer = weakref.finalize(owner, function, *arguments)
    _finalizers[:] = [*(one for one in _finalizers if one.alive), finalizer]
    return finalizer


def leave(status: int, line: str = "") -> NoReturn:
    """End this process at once: say `line`, do what `finalize` was told, and wait for no thread."""
    with contextlib.suppress(ValueError):  # only the main thread may
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):  # closed, or being written to
            stream.flush()
    if line:
        _say(_SHOW_CURSOR + line if os.isatty(2) else line)
    for finalizer in reversed(_finalizers):
        with contextlib.suppress(Exception):
            finalizer()
    os._exit(status)


def _say(line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"{line}\n".encode())


class CtrlC:
    """Hears Ctrl-C in a process that does nothing but one command.

    The first press raises KeyboardInterrupt, and later ones do not disturb what that has begun. While there is nothing
    to interrupt, `at_once`, a press ends the process instead: an import would lose the exception or break by it.
    """

    def __init__(self) -> None:
        self.at_once = True
        self.presses = 0
        self._repeats = 0

    def listen(self) -> None:
        """Begin to hear; not where Ctrl-C is ignored, as in what shells start with `&`."""
        global _listening
        if not callable(signal.getsignal(signal.SIGINT)):
            return
        _listening = self
        signal.signal(signal.SIGINT, self.hear)
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # the last of all: Python tears itself down then
        if hasattr(signal, "pthread_kill"):  # not on Windows
            sys.unraisablehook = self._repeat_what_is_lost
            self._watch()

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Take one press, in the main thread."""
        if self.at_once:
            leave(INTERRUPTED, "beamzero: interrupted")
        self.presses += 1
        if self.presses == 1:
            raise KeyboardInterrupt

    def _repeat_what_is_lost(self, unraisable: Any) -> None:
        """Raise it again soon where it met a destructor or a callback of the garbage collector, as JAX has one."""
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            return sys.__unraisablehook__(unraisable)
        self.presses = 0
        self._repeats += 1
        again = threading.Timer(
            _SECONDS_UNTIL_AGAIN, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)
        )
        again.daemon = True
        again.start()
        return None

    def _watch(self) -> None:
        """Count presses in a thread too: the main thread hears of none as long as the compiler runs, or hangs."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        threading.Thread(target=self._count, args=(reader,), name="ctrl-c", daemon=True).start()

    def _count(self, reader: int) -> None:
        heard = 0
        while numbers := os.read(reader, 64):
            before, heard = heard, heard + numbers.count(signal.SIGINT)
            if heard - self._repeats > PATIENT_PRESSES:
                leave(INTERRUPTED, "beamzero: interrupted")
            if heard > before > self._repeats and os.isatty(2):
                _say(_MORE)


_listening: CtrlC | None = None
"""Hears Ctrl-C in this process; None where it is no command's, as in a notebook."""


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Let Ctrl-C end a command's process at once meanwhile, as it does before the command line itself is imported."""
    if _listening is None:
        yield
        return
    before, _listening.at_once = _listening.at_once, True
    try:
        yield
    finally:
        _listening.at_once = before
