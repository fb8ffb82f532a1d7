"""Work for workers, in a module that other processes can import."""

from __future__ import annotations

import os
import time
from pathlib import Path

from beamzero.core.errors import BadInput
from beamzero.training.report import Report


def count(upto: int, report: Report) -> tuple[int, int]:
    """Count the iterations of a job. Returns also the process that did it."""
    report.begin("counting", 0, upto)
    for done in range(upto):
        report.phase("count", 0, 1)
        report.iteration({"iteration": done + 1})
    report.message("done")
    return upto, os.getpid()


def fail_after(marker: Path, report: Report) -> None:
    """Fails once the other job has begun."""
    while not marker.with_suffix(".begun").exists():
        time.sleep(0.05)
    raise BadInput("this one fails")


def wait_forever(marker: Path, report: Report) -> None:
    """Leaves a marker where it began, and another where it was interrupted and had time to save something."""
    try:
        marker.with_suffix(".begun").touch()
        report.phase("wait", 0, 1)
        time.sleep(600)
    except KeyboardInterrupt:
        time.sleep(0.3)
        marker.with_suffix(".saved").touch()
        raise


def die_after(marker: Path, report: Report) -> None:
    """Is killed once the other job has begun."""
    while not marker.with_suffix(".begun").exists():
        time.sleep(0.05)
    os._exit(1)
