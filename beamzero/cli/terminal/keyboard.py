"""Lines that a person types, or that are piped in."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

from rich.console import Console


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
