"""Errors of commands, explained in one line with the exit status.

What explains errors of JAX and of games needs JAX, and is imported where they can be the cause.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Sequence

import typer

from beamzero.cli.commands import COMMAND_TABLE
from beamzero.core.errors import BadInput, RunStopped
from beamzero.core.user_code import describe_user_error, user_modules
from beamzero.storage.files import out_of_space, reason

# typer carries click inside in some versions and beside it in others; the class is the same.
_ClickException = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

_OF_NAMES = {errno.ENAMETOOLONG, errno.ELOOP, errno.EILSEQ, errno.EINVAL}
"""Errors of a name that no file can have."""


def explain(error: Exception, words: Sequence[str]) -> tuple[str, int] | None:
    """Explain an error of a command line in one line, with the exit status; None where it is a bug of ours."""
    if platforms := _explain_platform(error):
        return platforms, 2
    if isinstance(error, BadInput):
        return str(error), 2
    if isinstance(error, RunStopped):
        return str(error), 1
    if "RESOURCE_EXHAUSTED" in str(error) or isinstance(error, MemoryError):
        smaller = "search_batch, expand, sims, window, hash or net"
        return f"not enough memory: use fewer games, or a smaller {smaller}", 1
    if isinstance(error, _ClickException):
        return _explain_words(error, words), 2
    if fault := describe_user_error(error):
        return f"the game cannot go on: {fault}", 2
    if broken := _explain_game():
        return broken, 2
    return _explain_os(error) if isinstance(error, OSError) else None


def _explain_os(error: OSError) -> tuple[str, int] | None:
    """Explain an error of the operating system that no other code has explained; None where it is a bug of ours."""
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {reason(error)}", 2 if error.errno in _OF_NAMES else 1
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the folder in which this was started is not there any more", 1
    if out_of_space(error) or error.errno == errno.EIO:
        drop_output()
        return f"could not write what was to be printed: {reason(error)}", 1
    return None


def _explain_platform(error: Exception) -> str | None:
    """Explain an error of a platform that JAX does not find; None for all others."""
    if "jax" not in sys.modules:
        return None
    from beamzero.core.compiler import missing_platform

    return missing_platform(error)


def _explain_words(error: Exception, words: Sequence[str]) -> str:
    """Explain wrong words of a command line, and name the help that has the right ones."""
    message = str(getattr(error, "format_message", lambda: "")()).rstrip(".")
    if words and words[0] in COMMAND_TABLE:
        return f"{message} (beamzero {words[0]} --help)"
    return f"{message} (beamzero --help lists the commands)" if message else "see beamzero --help"


def _explain_game() -> str | None:
    """Describe a fault of a game in a file of the user; None where no such file was loaded, or its games seem right."""
    if not any(user_modules()):
        return None
    from beamzero.games.shapes import broken_by_user

    return broken_by_user()


def reword_warning(warning: str) -> str | None:
    """Give a warning in our words where JAX warns of its cache; None where nothing is lost, others as they are."""
    if "jax" not in sys.modules:
        return warning
    from beamzero.core.compiler import plain_warning

    return plain_warning(warning)


def drop_output() -> None:
    """Discard the output that is not written yet; Python would try to write it once more at its end, and complain."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
