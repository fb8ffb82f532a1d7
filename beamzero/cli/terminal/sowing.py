"""Sowing games drawn for a terminal: two rows of houses, and a store at either end."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from beamzero.cli.terminal.palette import palette_of
from beamzero.games.views import SowingView


def draw_sowing(
    view: SowingView, before: SowingView | None, names: tuple[str, str], turned: bool, colour: bool
) -> Text:
    """Draw the first side's houses below, the second's above, running the other way; `turned`, the other way round.

    Each side's store is on its right. A house that lost stones since `before` is marked, one that gained some has a +,
    and one that the view marks has a ×, alone where it is empty.
    """
    top, bottom = (0, 1) if turned else (1, 0)
    paint = _Paint(view, before or view, colour)
    there, back = paint.houses(bottom), paint.houses(top)[::-1]
    numbers = [paint.number(house) for house in range(1, len(there) + 1)]
    label = max(len(name) for name in names) + 1
    lines = [
        Text.assemble((f" {names[top]:<{label}}", "bold"), paint.row(["", *numbers[::-1], ""], "dim")),
        Text(" " * (label + 1)).append_text(paint.row(["", *back, ""])),
        Text(" " * (label + 1)).append_text(paint.row([paint.store(top), *[""] * len(there), paint.store(bottom)])),
        Text(" " * (label + 1)).append_text(paint.row(["", *there, ""])),
        Text.assemble((f" {names[bottom]:<{label}}", "bold"), paint.row(["", *numbers, ""], "dim")),
    ]
    if colour:
        width = len(lines[1]) - (label + 1)
        for place, half in ((1, "▄"), (-1, "▀")):
            lines.insert(place, Text(" " * (label + 1)).append(half * width, paint.palette.grounds[0]))
    else:
        for line in lines:
            line.rstrip()
    return Text("\n").join(lines)


class _Paint:
    """Draws the counts of one view, all of them equally wide."""

    def __init__(self, view: SowingView, before: SowingView, colour: bool) -> None:
        self.view, self.before, self.colour, self.palette = view, before, colour, palette_of(view)
        counts = [*view["houses"][0], *view["houses"][1], *view["stores"]]
        self.width = max(2, *(len(str(count)) for count in counts)) + 2

    def houses(self, side: int) -> list[Text]:
        """Draw a side's houses, from its own left."""
        pairs = zip(self.view["houses"][side], self.before["houses"][side], strict=True)
        crossed = [house for owner, house in self.view.get("marked", []) if owner == side]
        return [self.count(now, was, house in crossed) for house, (now, was) in enumerate(pairs)]

    def store(self, side: int) -> Text:
        return self.count(self.view["stores"][side], self.before["stores"][side])

    def count(self, now: int, was: int, crossed: bool = False) -> Text:
        text = "×" if crossed and now == 0 else str(now)
        left, right = "×" if crossed and now else " ", "+" if now > was else " "
        if now < was and not self.colour:
            left, right = "[]"
        style = self.palette.style(0 if now or crossed else None, light=True, marked=now < was)
        return Text(left + text.rjust(self.width - 2) + right, style if self.colour else "")

    def number(self, house: int) -> str:
        return f"{house} ".rjust(self.width)

    def row(self, cells: Sequence[Text | str], style: str = "") -> Text:
        """Draw cells in their columns; an empty one is a gap in the board."""
        ground = style or (f"on {self.palette.grounds[0]}" if self.colour else "")
        gap = Text(" ", ground)
        texts = (Text(cell.rjust(self.width), ground) if isinstance(cell, str) else cell for cell in cells)
        return Text.assemble(gap, gap.join(texts), gap)
