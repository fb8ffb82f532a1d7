"""Commands that are imported when they are called: most of them need JAX, which takes most of a second to import."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from beamzero.cli.commands import COMMAND_TABLE
from beamzero.core.leaving import importing


class LazyGroup(TyperGroup):
    """A group whose commands are their names and lines of help until one is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that `args` begin with, and import it."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, None if found is None else prepare_command(str(found.name)), rest


class QuietCommand(TyperCommand):
    """A command whose help does not show that `-h` asks for it: a column for that would narrow all the others."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, or write it to `formatter`."""
        option: Any = self.get_help_option(ctx)
        names, option.opts = option.opts, ["--help"]
        try:
            super().format_help(ctx, formatter)
        finally:
            option.opts = names


def add_commands(app: typer.Typer) -> None:
    """Add a line of help for each command of the table to `app`, whose group must be a `LazyGroup`."""
    for name, entry in COMMAND_TABLE.items():
        app.command(name, help=entry.about, hidden=entry.hidden)(_not_imported)


def _not_imported() -> None:
    """Stand for a command, which takes its place when it is called."""


def prepare_command(name: str) -> TyperCommand:
    """Import a command, and tell JAX where to keep compiled programs if the command has imported it.

    Ctrl-C ends the process at once meanwhile: an import would lose the exception or break by it.
    """
    with importing():
        command = load_command(name)
        if "jax" in sys.modules:
            from beamzero.core.compiler import keep_compiled_code

            keep_compiled_code()
    return command


@functools.cache
def load_command(name: str) -> TyperCommand:
    """Import a command with its arguments and options."""
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, cls=QuietCommand, hidden=COMMAND_TABLE[name].hidden)(_find_function(name))
    return cast(TyperCommand, get_command(alone))


def _find_function(name: str) -> Callable[..., object]:
    """Import the function of a command."""
    module, _, function = COMMAND_TABLE[name].place.partition(":")
    return cast(Callable[..., object], getattr(importlib.import_module(f"beamzero.cli.commands.{module}"), function))
