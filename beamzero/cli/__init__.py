"""The command line. Wrong input gets one line and exit status 2; a traceback is a bug."""

from __future__ import annotations

import functools
import io
import os
import sys
import warnings
from collections.abc import Sequence

import typer
from typer.main import get_command

from beamzero.cli import (
    bench,
    book,
    check,
    climb,
    compare,
    engine,
    exploit,
    fit_eval,
    lists,
    measure,
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
from beamzero.compiler import keep_compiled_code
from beamzero.errors import BadInput, RunStopped
from beamzero.leaving import INTERRUPTED

app = typer.Typer(
    help="Train, measure and play agents for two-player board games.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (
    lists,
    train,
    compare,
    reproduce,
    measure,
    rate,
    score,
    verify,
    climb,
    exploit,
    fit_eval,
    book,
    play,
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


_command = functools.cache(functools.partial(get_command, app))  # once: it takes longer than most wrong commands do


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a board must not fail on a terminal without its symbols
    warnings.showwarning = lambda message, *_args, **_more: err.print(
        f"beamzero: {message}", markup=False, soft_wrap=True
    )
    keep_compiled_code()
    try:
        status = _run(list(sys.argv[1:] if arguments is None else arguments))
        return status if isinstance(status, int) else 0
    except BadInput as error:
        return _fail(str(error), 2)
    except RunStopped as error:
        return _fail(str(error), 1)
    except (KeyboardInterrupt, EOFError, typer.Abort):
        return _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone; python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if "RESOURCE_EXHAUSTED" in str(error) or isinstance(error, MemoryError):
            smaller = "search_batch, expand, sims, window, hash or net"
            return _fail(f"not enough memory: use fewer games, or a smaller {smaller}", 1)
        if isinstance(error, _ClickException):
            message = str(getattr(error, "format_message", lambda: "")()).rstrip(".")
            return _fail(f"{message} (beamzero --help lists the commands)" if message else "see beamzero --help", 2)
        raise


def _run(words: list[str]) -> object:
    """Run the command that `words` name. Typer's own way would make a silent status of Ctrl-C and of a broken pipe."""
    command = _command()
    try:
        with command.make_context("beamzero", words) as context:
            return command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code


def _fail(message: str, status: int) -> int:
    err.print(
        "beamzero: " + " ".join(message.split()), style="red" if err.is_terminal else None, markup=False, soft_wrap=True
    )
    return status
