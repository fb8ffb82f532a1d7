"""Backgammon, drawn for a terminal: 24 points, the bar between the halves, the dice and what is left to go."""

from __future__ import annotations

from rich.text import Text

from beamzero.cli.terminal.palette import look_of
from beamzero.games.views import PointsView

SIGNS = "OX"
"""The checkers of the two sides where there are no colours."""

_DISC = "●"
_HEIGHT = 5
_UPPER = (tuple(range(13, 19)), tuple(range(19, 25)))
_LOWER = (tuple(range(12, 6, -1)), tuple(range(6, 0, -1)))


def draw_points(
    view: PointsView, before: PointsView | None, names: tuple[str, str], turned: bool, colour: bool
) -> Text:
    """The board as the first side sees it, its own home at the lower right; `turned`, as the second does.

    Points have the numbers by which the one who looks calls them. Those whose checkers changed since `before` are
    marked: with another ground in colours, with brackets around the number where there are none.
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
    """One view as `own` sees it: point p is the other side's 25 - p. A cell is four characters wide."""

    def __init__(
        self, view: PointsView, before: PointsView, names: tuple[str, str], turned: bool, colour: bool
    ) -> None:
        self.view, self.names, self.colour, self.look = view, names, colour, look_of(view)
        self.own, self.other = (1, 0) if turned else (0, 1)
        self.marked = {p for p in range(1, 25) if self.stack(view, p) != self.stack(before, p)}

    def stack(self, view: PointsView, point: int) -> tuple[int, int]:
        """How many checkers stand there, and whose."""
        own = view["checkers"][self.own][point - 1]
        return (own, self.own) if own else (view["checkers"][self.other][24 - point], self.other)

    def caption(self, side: int) -> Text:
        """A side, how far it has to go, and what it has borne off."""
        points = self.view["checkers"][side]
        pips = sum(place * number for place, number in enumerate(points, 1)) + 25 * self.view["bar"][side]
        sign = (f" {_DISC} ", self.look.style(side)) if self.colour else f"{SIGNS[side]} "
        told = f", {pips} pip{'s' * (pips != 1)} to go, {self.view['off'][side]} borne off"
        return Text.assemble(" ", sign, (f" {self.names[side]}" if self.colour else self.names[side], "bold"), told)

    def numbers(self, halves: tuple[tuple[int, ...], ...]) -> Text:
        left, right = (
            "".join(f"[{p:>2}]" if p in self.marked and not self.colour else f" {p:>2} " for p in half)
            for half in halves
        )
        return Text(f"  {left}      {right}", "dim" if self.colour else "")

    def edge(self) -> list[Text]:
        return [] if self.colour else [Text(f" +{'-' * 24}+----+{'-' * 24}+")]

    def row(self, level: int, halves: tuple[tuple[int, ...], ...], side: int) -> Text:
        """The checkers of one height above the edge, and those of a side that are on the bar."""
        left, right = (Text.assemble(*(self.point(level, p) for p in half)) for half in halves)
        bar = self.cell(level, self.view["bar"][side], side, " ")
        return self.line(left, bar, right)

    def point(self, level: int, point: int) -> Text:
        number, side = self.stack(self.view, point)
        return self.cell(level, number, side, " " if self.colour else "·", point % 2 == 1, point in self.marked)

    def cell(self, level: int, number: int, side: int, empty: str, light: bool = False, marked: bool = False) -> Text:
        """One place at one height; of a stack that is too high, the number at its top."""
        there = number > level
        sign = (_DISC if self.colour else SIGNS[side]) if there else empty
        if level == _HEIGHT - 1 and number > _HEIGHT:
            sign = str(number)
        return Text(f" {sign:>2} ", self.look.style(side if there else None, light, marked) if self.colour else "")

    def middle(self) -> Text:
        """The bar's name, and the dice that are to be played: on the right those of the one who looks."""
        dice, side = self.view["dice"], self.view["side"]
        said = Text.assemble(f"{self.names[side]}: ", Text(" ").join(map(self.die, dice))) if dice else Text()
        said.pad_left((24 - len(said)) // 2)
        said.pad_right(24 - len(said))
        left, right = (Text(" " * 24), said) if side == self.own else (said, Text(" " * 24))
        return self.line(left, Text("bar ", "dim" if self.colour else ""), right)

    def die(self, face: int) -> Text:
        side = self.view["side"]
        style = f"bold {self.look.sides[1 - side]} on {self.look.sides[side]}"
        return Text(f" {face} ", style) if self.colour else Text(str(face))

    def line(self, left: Text, bar: Text, right: Text) -> Text:
        wall = " " if self.colour else "|"
        return Text.assemble(" ", wall, left, wall, bar, wall, right, wall)
