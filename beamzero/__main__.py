"""``python -m beamzero`` from a bare checkout is the same as the installed command."""

from __future__ import annotations

import sys
from typing import NoReturn

from beamzero.leaving import INTERRUPTED, CtrlC, leave


def run() -> NoReturn:
    """Run the command that this process was started for, and end the process."""
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


if __name__ == "__main__":
    run()
