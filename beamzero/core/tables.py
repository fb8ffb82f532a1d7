"""Tables of text: aligned columns in a terminal, HTML in a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple

_CELL = "padding:2px 12px 2px 0;border:0;text-align:{align};font-variant-numeric:tabular-nums"


class TextTable(NamedTuple):
    """Rows of text under titles. The first column is aligned to the left, the others to the right."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    """Lines that stand below the table."""

    def __str__(self) -> str:
        lines = [self.titles, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.titles))]
        return "\n".join([*(_aligned(line, widths) for line in lines), *(("", *self.notes) if self.notes else ())])

    def to_html(self) -> str:
        """Write the table as HTML, in the notebook's own font."""
        head = "".join(_cell("th", title, place) for place, title in enumerate(self.titles))
        body = "".join(
            f"<tr>{''.join(_cell('td', text, place) for place, text in enumerate(row))}</tr>" for row in self.rows
        )
        notes = "".join(f"<div>{html.escape(note)}</div>" for note in self.notes)
        rows = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        return f'<table style="border-collapse:collapse">{rows}</table>{notes}'


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        f"{cell:<{width}}" if place == 0 else f"{cell:>{width}}"
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()


def _cell(tag: str, text: str, place: int) -> str:
    style = _CELL.format(align="right" if place else "left")
    return f'<{tag} style="{style}">{html.escape(text)}</{tag}>'
