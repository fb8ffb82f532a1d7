"""What every command shares: results for people or as JSON, progress on stderr, options by one name."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from beamzero.core.errors import BadInput


class _Console(Console):
    """Prints text as it is: what a user calls a thing is no markup, and ``:fire:`` in it no emoji."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Let `main` decide what it means that nobody reads on; rich would end the process with status 1."""
        raise BrokenPipeError


out = _Console()
"""Results."""

err = _Console(stderr=True)
"""Messages and progress."""

GameName = Annotated[str, typer.Argument(metavar="GAME", help="A game, such as connect_four or connect_four:rows=7.")]
AgentName = Annotated[
    str, typer.Argument(metavar="AGENT", help="An agent, such as lookahead:2 or probs:runs/connect_four.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout; messages go to stderr.")]
Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="The same seed gives the same result.")]
SaveGames = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Add the games to this file: .pgn (chess), .txt or .jsonl. See beamzero replay."),
]
Moves = Annotated[
    str,
    typer.Option(help="Moves to play first, separated by commas; what is rolled then stands behind a move: 6/5:4-2."),
]


def print_json(result: dict[str, Any]) -> None:
    """One JSON object on stdout."""
    print(json.dumps(result))


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on stderr; the function it gives takes what is being done, how much is done, and of how much."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(title, total=None)

        def update(title: str, done: int, total: int) -> None:
            bar.update(task, description=title, completed=done, total=total)

        yield update


def split_setting(text: str) -> tuple[str, str]:
    """What ``--set key=value`` says."""
    key, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"cannot read the setting {text!r}: write --set key=value")
    return key.strip(), value.strip()
