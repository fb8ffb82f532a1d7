"""``python -m beamzero`` from a bare checkout is the same as the installed command."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn


def run() -> NoReturn:
    """Run the command that this process was started for, and end the process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)  # first of all: every import takes its time
    from beamzero.core.leaving import INTERRUPTED, CtrlC, leave

    ctrl_c = CtrlC()
    ctrl_c.listen()
    from beamzero.cli import main

    try:
        ctrl_c.at_once = False
        status = main()
        if status == INTERRUPTED:
            leave(status)
        ctrl_c.at_once = True
    except BaseException as error:
        # JAX may make another error of an interrupt that met a callback.
        if isinstance(error, KeyboardInterrupt) or (ctrl_c.presses and isinstance(error, Exception)):
            leave(INTERRUPTED, "beamzero: interrupted")
        raise
    sys.exit(status)


def _end(*_: object) -> NoReturn:
    """End the process by Ctrl-C where nothing is imported yet."""
    os.write(2, b"beamzero: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    run()
