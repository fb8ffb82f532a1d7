"""Boards as SVG text, from the view that the terminal and the page draw too; for notebooks and papers.

Files in approximate dependency order: `svg` writes elements, `layout` says what a drawing is, `palette` has the
colours, `figures` stones and pieces, `deck` playing cards, `words` descriptions; then one file a kind of view: `grid`,
`sowing`, `points`, `cards`, `poker`, `text`; `marks` draws an analysis over any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.drawing.cards import draw_card_table
from beamzero.drawing.grid import draw_grid
from beamzero.drawing.layout import Drawing, Spot
from beamzero.drawing.marks import Marks, ValuedMove, draw_marks, mark_values, name_marks
from beamzero.drawing.palette import DIM, PAPER
from beamzero.drawing.points import draw_backgammon_board
from beamzero.drawing.poker import draw_poker_table
from beamzero.drawing.sowing import draw_sowing_board
from beamzero.drawing.svg import Markup, box, element, escape, label
from beamzero.drawing.text import draw_lines
from beamzero.drawing.words import describe_view
from beamzero.games.views import View

__all__ = ["Marks", "SvgText", "ValuedMove", "draw_svg", "mark_values"]

SMALLEST, LARGEST = 32, 8192
"""Bounds of a drawing's width in pixels."""

_NOTE = 44.0
"""Height of the line below a board."""

_DRAWERS: dict[str, Callable[[Any, Sequence[Spot], bool], Drawing]] = {
    "cards": draw_card_table,
    "grid": draw_grid,
    "points": draw_backgammon_board,
    "poker": draw_poker_table,
    "sowing": draw_sowing_board,
    "text": draw_lines,
}


class SvgText(str):
    """The text of an SVG, which notebooks show as a picture."""

    def _repr_svg_(self) -> str:
        return str(self)


def draw_svg(
    view: View,
    *,
    last: Iterable[Sequence[int]] = (),
    marks: Marks | None = None,
    size: int = 480,
    turned: bool = False,
) -> SvgText:
    """Draw a view, `size` pixels wide. The same view gives the same text; it is ASCII and needs no other file.

    `last` are the places of the last move. `marks` has a text and a strength in [0, 1] for the places of moves:
    `{(0, 3): ("54%", 1.0)}`, or `{((1, 4), (3, 4)): ("+0.32", 0.5)}` for an arrow; moves without places, such as
    `{"pass": ("46%", 0.2)}`, are written below the board. `turned` shows the board as the second side sees it, in games
    whose players sit opposite each other.
    """
    if not SMALLEST <= size <= LARGEST:
        raise BadInput(f"size is {size}, but must be {SMALLEST} to {LARGEST}")
    places = [(place[0], place[1]) for place in last]
    drawing = _DRAWERS.get(view["kind"], draw_lines)(view, places, turned and bool(view.get("turn")))
    body = [*drawing.body, *draw_marks(drawing, marks or {})]
    notes = [note for note in (view.get("note", ""), name_marks(marks or {})) if note]
    return SvgText(_whole(drawing, body, describe_view(view), notes, size) + "\n")


def _whole(drawing: Drawing, body: Sequence[Markup], title: str, notes: Sequence[str], size: int) -> Markup:
    """Put a drawing and the lines below it into one SVG."""
    width, height = drawing.width, drawing.height + _NOTE * len(notes)
    lines = [_note(drawing, number, note) for number, note in enumerate(notes)]
    return element(
        "svg", element("title", escape(title)), box(0, 0, width, height, fill=PAPER), *body, *lines,
        xmlns="http://www.w3.org/2000/svg", width=size, height=round(size * height / width),
        viewBox=f"0 0 {width:.6g} {height:.6g}", role="img",
    )  # fmt: skip


def _note(drawing: Drawing, number: int, note: str) -> Markup:
    """Write a line below the board, smaller where it is long."""
    size = min(26.0, 1.7 * drawing.width / len(note))
    return label(drawing.width / 2, drawing.height + (number + 0.5) * _NOTE, note, size, fill=DIM, class_="note")
