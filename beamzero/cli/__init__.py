"""The command line. Wrong input gets one line and exit status 2; a traceback is a bug."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import io
import platform
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated

import typer
from typer.main import get_command

from beamzero import __version__
from beamzero.cli.common import err
from beamzero.cli.errors import drop_output, explain, reword_warning
from beamzero.cli.loading import LazyGroup, add_commands
from beamzero.core.errors import BadInput
from beamzero.core.leaving import INTERRUPTED

app = typer.Typer(
    cls=LazyGroup,
    help="Train, measure and play agents for two-player board games.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
add_commands(app)

_LONGEST = 3000
"""The longest message, in characters; the middle of a longer one is left out."""

_command = functools.cache(functools.partial(get_command, app))  # once: it takes longer than most wrong commands do


def _print_version(wanted: bool) -> None:
    """Print the versions that a report of a fault needs, and end."""
    if wanted:
        try:
            jax = f"JAX {importlib.metadata.version('jax')}"  # which is not imported for it
        except importlib.metadata.PackageNotFoundError:
            jax = "no JAX"
        print(f"beamzero {__version__}, {jax}, Python {platform.python_version()}")
        raise typer.Exit


@app.callback()
def _before_all(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the versions, also of JAX."),
    ] = False,
) -> None:
    """Take the options that come before a command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a board must not fail on a terminal without its symbols
    if sys.stdin is None:  # it was closed: nothing can be typed
        sys.stdin = io.StringIO()
    warnings.showwarning = _show_each_once()
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
        drop_output()  # the reader has gone
        return 0
    except Exception as error:
        if (explained := explain(error, words)) is None:
            raise
        return _fail(*explained)


def _show_each_once() -> Callable[..., None]:
    """Make a function that prints each warning once."""
    shown: set[str] = set()

    def show(message: Warning | str, *_args: object, **_more: object) -> None:
        text = reword_warning(str(message))
        if text is not None and text not in shown:
            shown.add(text)
            err.print(f"beamzero: {text}", soft_wrap=True)

    return show


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
