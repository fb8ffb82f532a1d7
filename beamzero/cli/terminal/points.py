"""Backgammon drawn for a terminal: 24 points, the bar between the halves, the dice and the pips left to go."""

from __future__ import annotations

from rich.text import Text

from beamzero.cli.terminal.palette import palette_of
from beamzero.games.views import PointsView

SIGNS = "OX"
"""Checkers of the two sides where there are no colours."""

_DISC = "●"
_HEIGHT = 5
_UPPER = (tuple(range(13, 19)), tuple(range(19, 25)))
_LOWER = (tuple(range(12, 6, -1)), tuple(range(6, 0, -1)))


def draw_points(
    view: PointsView, before: PointsView | None, names: tuple[str, str], turned: bool, colour: bool
) -> Text:
    """Draw the board as the first side sees it, its own home at the lower right; `turned`, as the second does.

    Points are numbered as that side counts them. Those whose checkers changed since `before` are marked: with another
    background in colours, with brackets around the number where there are none.
    """
    paint = _Paint(view, before or view, names, turned, colour)
    heights = range(_HEIGHT)
    lines = [
        paint.caption(paint.other),
        paint.numbers(_UPPER),
        *paint.edge(),
        *(paint.row(level, _UPPER, paint.other) for level in heights),
        paint.middle(),
        *(paint.row(level, _LOWER, paint.own) for level in reversed(heights)),
        *paint.edge(),
        paint.numbers(_LOWER),
        paint.caption(paint.own),
    ]
    if not colour:
        for line in lines:
            line.rstrip()
    return Text("\n").join(lines)


class _Paint:
    """Draws one view as `own` sees it: point p is the other side's 25 - p. A cell is four characters wide."""

    def __init__(
        self, view: PointsView, before: PointsView, names: tuple[str, str], turned: bool, colour: bool
    ) -> None:
        self.view, self.names, self.colour, self.palette = view, names, colour, palette_of(view)
        self.own, self.other = (1, 0) if turned else (0, 1)
        self.marked = {p for p in range(1, 25) if self.stack(view, p) != self.stack(before, p)}

    def stack(self, view: PointsView, point: int) -> tuple[int, int]:
        """Return the number of checkers on a point, and their side."""
        own = view["checkers"][self.own][point - 1]
        return (own, self.own) if own else (view["checkers"][self.other][24 - point], self.other)

    def caption(self, side: int) -> Text:
        """Write a side, the pips it has to go, and how many checkers it has borne off."""
        points = self.view["checkers"][side]
        pips = sum(place * number for place, number in enumerate(points, 1)) + 25 * self.view["bar"][side]
        sign = (f" {_DISC} ", self.palette.style(side)) if self.colour else f"{SIGNS[side]} "
        rest = f", {pips} pip{'s' * (pips != 1)} to go, {self.view['off'][side]} borne off"
        return Text.assemble(" ", sign, (f" {self.names[side]}" if self.colour else self.names[side], "bold"), rest)

    def numbers(self, halves: tuple[tuple[int, ...], ...]) -> Text:
        left, right = (
            "".join(f"[{p:>2}]" if p in self.marked and not self.colour else f" {p:>2} " for p in half)
            for half in halves
        )
        return Text(f"  {left}      {right}", "dim" if self.colour else "")

    def edge(self) -> list[Text]:
        return [] if self.colour else [Text(f" +{'-' * 24}+----+{'-' * 24}+")]

    def row(self, level: int, halves: tuple[tuple[int, ...], ...], side: int) -> Text:
        """Draw the checkers of one height above the edge, and those of a side that are on the bar."""
        left, right = (Text.assemble(*(self.point(level, p) for p in half)) for half in halves)
        bar = self.cell(level, self.view["bar"][side], side, " ")
        return self.line(left, bar, right)

    def point(self, level: int, point: int) -> Text:
        number, side = self.stack(self.view, point)
        return self.cell(level, number, side, " " if self.colour else "·", point % 2 == 1, point in self.marked)

    def cell(self, level: int, number: int, side: int, empty: str, light: bool = False, marked: bool = False) -> Text:
        """Draw one place at one height; of a stack that is too high, the number at its top."""
        there = number > level
        sign = (_DISC if self.colour else SIGNS[side]) if there else empty
        if level == _HEIGHT - 1 and number > _HEIGHT:
            sign = str(number)
        return Text(f" {sign:>2} ", self.palette.style(side if there else None, light, marked) if self.colour else "")

    def middle(self) -> Text:
        """Draw the line of the bar with the dice to be played: those of `own` on the right."""
        dice, side = self.view["dice"], self.view["side"]
        text = Text.assemble(f"{self.names[side]}: ", Text(" ").join(map(self.die, dice))) if dice else Text()
        text.pad_left((24 - len(text)) // 2)
        text.pad_right(24 - len(text))
        left, right = (Text(" " * 24), text) if side == self.own else (text, Text(" " * 24))
        return self.line(left, Text("bar ", "dim" if self.colour else ""), right)

    def die(self, face: int) -> Text:
        side = self.view["side"]
        style = f"bold {self.palette.sides[1 - side]} on {self.palette.sides[side]}"
        return Text(f" {face} ", style) if self.colour else Text(str(face))

    def line(self, left: Text, bar: Text, right: Text) -> Text:
        wall = " " if self.colour else "|"
        return Text.assemble(" ", wall, left, wall, bar, wall, right, wall)
