"""The command line. Wrong input gets one line and exit status 2; a traceback is a bug."""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence

import typer
from typer.main import get_command

from beamzero.cli.commands import (
    analyse,
    battle,
    bench,
    book,
    check,
    compare,
    draw,
    engine,
    exhaust,
    exploit,
    export,
    fit_eval,
    ladder,
    lists,
    perft,
    play,
    rate,
    replay,
    reproduce,
    score,
    serve,
    table,
    train,
    verify,
)
from beamzero.cli.common import err
from beamzero.core.compiler import keep_compiled_code, missing_platform, plain_warning
from beamzero.core.errors import BadInput, RunStopped
from beamzero.core.leaving import INTERRUPTED
from beamzero.core.user_code import describe_user_error
from beamzero.games.shapes import broken_by_user
from beamzero.storage.files import out_of_space, reason

app = typer.Typer(
    help="Train, measure and play agents for two-player board games.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (
    lists,
    export,
    train,
    compare,
    reproduce,
    battle,
    perft,
    rate,
    score,
    verify,
    ladder,
    exhaust,
    exploit,
    fit_eval,
    book,
    play,
    analyse,
    draw,
    replay,
    serve,
    engine,
    check,
    table,
    bench,
):
    module.register(app)

# typer carries click inside in some versions and beside it in others; the class is the same.
_ClickException = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


_LONGEST = 3000
"""The longest message, in characters; the middle of a longer one is left out."""

_OF_NAMES = {errno.ENAMETOOLONG, errno.ELOOP, errno.EILSEQ, errno.EINVAL}
"""Errors of a name that no file can have."""

_command = functools.cache(functools.partial(get_command, app))  # once: it takes longer than most wrong commands do


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a board must not fail on a terminal without its symbols
    if sys.stdin is None:  # it was closed: nothing can be typed
        sys.stdin = io.StringIO()
    warnings.showwarning = _show_each_once()
    keep_compiled_code()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if any("\0" in word for word in words):
            raise BadInput("a word of the command holds a NUL character, which no name has")
        status = _run(words)
        if sys.stdout is not None:
            sys.stdout.flush()  # a full disk is noticed here, and not when Python ends
        return status if isinstance(status, int) else 0
    except (KeyboardInterrupt, EOFError, typer.Abort):
        return _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _drop_output()  # the reader has gone
        return 0
    except Exception as error:
        if (explained := _explain(error)) is None:
            raise
        return _fail(*explained)


def _drop_output() -> None:
    """Discard the output that is not written yet; Python would try to write it once more at its end, and complain."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_each_once() -> Callable[..., None]:
    """Make a function that prints each warning once."""
    shown: set[str] = set()

    def show(message: Warning | str, *_args: object, **_more: object) -> None:
        text = plain_warning(str(message))
        if text is not None and text not in shown:
            shown.add(text)
            err.print(f"beamzero: {text}", soft_wrap=True)

    return show


def _explain(error: Exception) -> tuple[str, int] | None:
    """Explain an error in one line, with the exit status; None where it is a bug of ours."""
    if platforms := missing_platform(error):
        return platforms, 2
    if isinstance(error, BadInput):
        return str(error), 2
    if isinstance(error, RunStopped):
        return str(error), 1
    if "RESOURCE_EXHAUSTED" in str(error) or isinstance(error, MemoryError):
        smaller = "search_batch, expand, sims, window, hash or net"
        return f"not enough memory: use fewer games, or a smaller {smaller}", 1
    if isinstance(error, _ClickException):
        message = str(getattr(error, "format_message", lambda: "")()).rstrip(".")
        return f"{message} (beamzero --help lists the commands)" if message else "see beamzero --help", 2
    if fault := describe_user_error(error):
        return f"the game cannot go on: {fault}", 2
    if broken := broken_by_user():
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
        _drop_output()
        return f"could not write what was to be printed: {reason(error)}", 1
    return None


def _run(words: list[str]) -> object:
    """Run the command that `words` name. Typer's own `main` would hide Ctrl-C and a broken pipe in an exit status."""
    command = _command()
    try:
        with command.make_context("beamzero", words) as context:
            return command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code


def _fail(message: str, status: int) -> int:
    text = " ".join(message.split())
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    with contextlib.suppress(OSError):  # there is no way to say it then
        err.print(f"beamzero: {text}", style="red" if err.is_terminal else None, soft_wrap=True)
    return status
