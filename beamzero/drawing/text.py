"""Lines of text, for games that say no more of themselves."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence

from beamzero.drawing.layout import Drawing, Spot
from beamzero.drawing.palette import INK, PAPER
from beamzero.drawing.svg import MONOSPACED, Style, box, label
from beamzero.games.views import TextView

_LINE, _LETTER = 30.0, 14.6
_NO_BREAK = "\u00a0"  # a space that no reader of SVG joins with the next


def draw_lines(view: TextView, last: Sequence[Spot], turned: bool) -> Drawing:
    """Draw a view's text, line by line; of a view without a text, its data."""
    del last, turned
    lines = text_of(view).expandtabs().split("\n")
    width = max([_LETTER * max(map(_cells, lines)), 10 * _LETTER]) + 40
    height = len(lines) * _LINE + 40
    ground = box(0.5, 0.5, width - 1, height - 1, rx=12, fill=PAPER, stroke="#d9d5cc")
    style: Style = {"fill": INK, "text_anchor": "start", "font_family": MONOSPACED}
    texts = [
        label(20, 35 + i * _LINE, line.replace(" ", _NO_BREAK), 24, **style)
        for i, line in enumerate(lines)
        if line.strip()
    ]
    return Drawing(width, height, [ground, *texts], {})


def text_of(view: TextView) -> str:
    """Return a view's text, or its data where it has none."""
    text = view.get("text")
    return text if isinstance(text, str) else json.dumps(view, indent=1, default=str)


def _cells(line: str) -> int:
    """Count the columns of a line; signs of East Asian writing take two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in line)
