"""Shared by commands: results for people or as JSON, progress on stderr, typed lines, and options of the same name.

Every command imports this, those that need no JAX too, so that nothing that imports JAX is imported here.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from beamzero.core.errors import BadInput

if TYPE_CHECKING:
    from beamzero.players import Player


class _Console(Console):
    """Prints text as it is: a name such as ``[bold]`` or ``:fire:`` is neither markup nor an emoji."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError, for `main` to handle; rich would end the process with status 1."""
        raise BrokenPipeError


out = _Console()
"""For results, on stdout."""

err = _Console(stderr=True)
"""For messages and progress, on stderr."""

RUNS_FOLDER = Path("runs")
"""Where training runs are by default."""

GameName = Annotated[str, typer.Argument(metavar="GAME", help="A game, such as connect_four or connect_four:rows=7.")]
AgentName = Annotated[
    str, typer.Argument(metavar="AGENT", help="An agent, such as lookahead:2 or probs:runs/connect_four.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout; messages go to stderr.")]
Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="The same seed gives the same result.")]
AnySeed = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=2**31 - 1,
        help="The same seed gives the same answers to the same moves; by default they differ each time.",
    ),
]
SaveGames = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Add the games to this file: .pgn (chess), .txt or .jsonl. See beamzero replay."),
]
Moves = Annotated[
    str,
    typer.Option(help="Moves to play first, separated by commas or spaces; a roll of dice follows its move: 6/5:4-2."),
]
StartPosition = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Begin from this position, in the notation of the game: a FEN in chess."),
]


def print_json(result: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    print(json.dumps(result))


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar on stderr. Yields a function of (title, done, total) that updates it."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(title, total=None)

        def update(title: str, done: int, total: int) -> None:
            bar.update(task, description=title, completed=done, total=total)

        yield update


def keyboard(console: Console) -> Callable[[str], str]:
    """Make a function that shows a prompt on `console` and returns the line that was typed; EOFError after the last."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  input() then edits lines and remembers them

    def ask(prompt: str) -> str:
        typed = sys.stdin.isatty()
        if typed and not console.stderr:
            return input(prompt)
        console.print(prompt, end="")
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        if not typed:
            console.print(line.rstrip("\n"))  # so that what was piped in reads like a game
        return line

    return ask


def split_setting(text: str) -> tuple[str, str]:
    """Split the text of ``--set key=value`` into key and value; BadInput where it has no ``=``."""
    key, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"cannot read the setting {text!r}: write --set key=value")
    return key.strip(), value.strip()


def print_rows(titles: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str] = (), name: int = 0) -> None:
    """Print a table on stdout, with the columns `left` and that of number `name` aligned to the left.

    Where the lines do not fit, the name of a row gets a line of its own: no path and no word is cut.
    """
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    apart = sum(widths) + 2 * len(widths) - 1 > out.width
    shown = [place for place in range(len(titles)) if not (apart and place == name)]
    to_left = [place == name or titles[place] in left for place in range(len(titles))]
    for number, row in enumerate([titles, *rows]):
        if apart:
            out.print(f" {row[name]}", style=None if number else "bold", soft_wrap=True)
        cells = (f"{row[place]:{'<' if to_left[place] else '>'}{widths[place]}}" for place in shown)
        line = f"{'   ' if apart else ' '}{'  '.join(cells)}".rstrip()
        out.print(line, style=None if number else "bold", soft_wrap=True)


def same_decimals(numbers: Sequence[float]) -> list[str]:
    """Write the numbers of a column with so many decimals, 3 at most, that two digits of the smallest can be read."""
    least = min((abs(number) for number in numbers if number), default=1.0)
    decimals = min(max(1 - math.floor(math.log10(least)), 0), 3)
    return [f"{number:,.{decimals}f}" for number in numbers]


def short_number(number: float) -> str:
    """Write a large number with one decimal and a unit: 12.3M; one below a thousand as it is."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if number >= unit:
            return f"{number / unit:.1f}{letter}"
    return f"{number:.0f}"


def print_troubles(players: Iterable[Player]) -> None:
    """Print on stderr what went wrong in other programs that played."""
    for player in players:
        for trouble in player.troubles:
            err.print(trouble, style="red", soft_wrap=True)
