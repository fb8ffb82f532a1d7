"""Work for workers, in a module that other processes can import."""

from __future__ import annotations

import os
import time

from beamzero.errors import BadInput
from beamzero.training.report import Report


def count(upto: int, watch: Report) -> tuple[int, int]:
    """A job of so many iterations; what comes of it says where it was done."""
    watch.begin("counting", 0, upto)
    for done in range(upto):
        watch.phase("count", 0, 1)
        watch.iteration({"iteration": done + 1})
    watch.message("done")
    return upto, os.getpid()


def fail(watch: Report) -> None:
    raise BadInput("this one fails")


def wait_forever(watch: Report) -> None:
    watch.phase("wait", 0, 1)
    time.sleep(600)


def die(watch: Report) -> None:
    os._exit(1)
