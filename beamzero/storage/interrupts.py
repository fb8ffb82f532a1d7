"""Ctrl-C in long work: held back where a step must not be left half done, and never lost; SIGTERM counts as one."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from beamzero.core.leaving import PATIENT_PRESSES


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C until the block is done. Only the main thread hears of it anyway."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[tuple[int, FrameType | None]] = []
    usual = signal.signal(signal.SIGINT, lambda *press: heard.append(press))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if heard:
        (usual if callable(usual) else signal.default_int_handler)(*heard[0])


@contextlib.contextmanager
def heeding_interrupts() -> Iterator[Callable[[], None]]:
    """Remember every Ctrl-C within the block. Yields a function that raises KeyboardInterrupt if there was one.

    The first is raised at once too, and later ones do not disturb the work that it begins, such as to save, unless
    there are many. But where it meets a callback of the garbage collector, as JAX has one, or a destructor, Python only
    prints it and goes on; so long work calls the function from time to time.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield lambda: None
        return
    heard: list[bool] = []
    usual_hook = sys.unraisablehook

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(True)
        if len(heard) == 1 or len(heard) > PATIENT_PRESSES:
            usual(number, frame)

    def lose_no_interrupt(unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            usual_hook(unraisable)

    def ask() -> None:
        if heard:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, hear)
    sys.unraisablehook = lose_no_interrupt
    try:
        yield ask
    finally:
        sys.unraisablehook = usual_hook
        signal.signal(signal.SIGINT, usual)


@contextlib.contextmanager
def heeding_termination() -> Iterator[None]:
    """Take SIGTERM within the block for Ctrl-C: by it `ray job stop`, SLURM and Docker end processes.

    The handler of Ctrl-C is called, and its signal is not raised: shells ignore that in what they start with `&`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.getsignal(signal.SIGTERM)

    def hear(number: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)
        (handler if callable(handler) else signal.default_int_handler)(number, frame)

    signal.signal(signal.SIGTERM, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual or signal.SIG_DFL)
