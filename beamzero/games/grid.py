"""What games on a grid of squares share when they speak to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

LETTERS = "abcdefghijklmnopqrstuvwxyz"
STONES = ("·", "X", "O")
"""An empty square, a stone of the first side, one of the second."""


def draw(cells: Sequence[Sequence[int]]) -> str:
    """Rows of cells (0 empty, 1 first side, 2 second side; the bottom row first) as text with coordinates."""
    columns = len(cells[0])
    width = len(str(len(cells)))
    lines = [
        f"{row + 1:>{width}}  {' '.join(STONES[cell] for cell in cells[row])}" for row in reversed(range(len(cells)))
    ]
    lines.append(" " * (width + 2) + " ".join(LETTERS[:columns]))
    return "\n".join(lines)


def view(cells: Sequence[Sequence[int]], **more: Any) -> dict[str, Any]:
    """The JSON of a grid: kind, size and cells, bottom row first."""
    return {"kind": "grid", "rows": len(cells), "columns": len(cells[0]), "cells": [list(row) for row in cells], **more}
