"""Boards of squares for people: as text, and as data to be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

from beamzero.games.views import GridOptions, GridView

LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""The names of the columns."""

STONES = ("·", "X", "O")
"""The signs of an empty square, of a stone of the first side, and of one of the second."""


def draw(cells: Sequence[Sequence[int | str]], turned: bool = False) -> str:
    """Draw rows of cells, given from the bottom up, as text with coordinates; `turned`, as the second side sees them.

    Cells are stones (0 empty, 1 first side, 2 second side) or the texts of pieces, "" for none.
    """
    rows, columns = range(len(cells)), range(len(cells[0]))
    from_top, from_left = (rows, columns[::-1]) if turned else (rows[::-1], columns)
    margin = len(str(len(cells)))
    signs = [[STONES[cell] if isinstance(cell, int) else cell or STONES[0] for cell in row] for row in cells]
    width = max(len(sign) for row in signs for sign in row)

    def line(head: str, texts: Iterable[str]) -> str:
        return f"{head:>{margin}}  {' '.join(f'{text:<{width}}' for text in texts)}".rstrip()

    lines = [line(str(row + 1), (signs[row][column] for column in from_left)) for row in from_top]
    return "\n".join([*lines, line("", (LETTERS[column] for column in from_left))])


def view(cells: Sequence[Sequence[int | str]], **more: Unpack[GridOptions]) -> GridView:
    """Describe a grid as JSON-able data: kind, size and cells, the bottom row first; `more` is added."""
    return {"kind": "grid", "rows": len(cells), "columns": len(cells[0]), "cells": [list(row) for row in cells], **more}
