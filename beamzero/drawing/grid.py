"""Boards of squares or hexagons with stones or pieces on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from beamzero.drawing.figures import draw_pencilled, draw_piece, draw_stone, text_size
from beamzero.drawing.layout import LAST, XY, Drawing, Spot
from beamzero.drawing.palette import MATERIALS, material_name, side_colours
from beamzero.drawing.svg import Attribute, Markup, Style, box, circle, element, group, label, move_to, polygon
from beamzero.games.grid import LETTERS
from beamzero.games.views import GridView

_CELL = 100.0
_HALF = _CELL / 2
_MARGIN = 34.0
"""Room for the coordinates."""
_ON_SQUARES = "#26282b"
"""The colour of texts on squares of two shades, that is to be seen on both."""
_HOLE = 41.0
"""Radius of the holes in a board with gravity."""


def draw_grid(view: GridView, last: Sequence[Spot], turned: bool) -> Drawing:
    """Draw a grid; `turned`, as the second side sees it."""
    board = _Board(view, turned)
    seen = [spot for spot in dict.fromkeys(last) if spot in board.spots]
    body = [*board.ground(), *board.squares(), *board.marked(seen), *board.stones(), *board.dots(seen)]
    return Drawing(board.width, board.height, [*body, board.coordinates()], board.spots)


class _Board:
    """The geometry of one view, and its parts."""

    def __init__(self, view: GridView, turned: bool) -> None:
        self.view, self.turned, self.slanted = view, turned, bool(view.get("slanted"))
        self.look = material_name(view)
        self.material, self.colours = MATERIALS[self.look], side_colours(view)
        self.row_height = _CELL * math.sqrt(3) / 2 if self.slanted else _CELL
        self.tip = _CELL / math.sqrt(3) - _HALF if self.slanted else 0.0  # of a hexagon, out of its square
        self.margin = _MARGIN / 3 if "names" in view else _MARGIN
        lean = (view["rows"] - 1) * _HALF if self.slanted else 0.0
        self.width = view["columns"] * _CELL + lean + 2 * self.margin
        self.height = (view["rows"] - 1) * self.row_height + _CELL + 2 * (self.tip + self.margin)

    @cached_property
    def spots(self) -> dict[Spot, XY]:
        """Find the middle of each square, by row and column."""
        rows, columns = range(self.view["rows"]), range(self.view["columns"])
        return {(row, column): self._centre(row, column) for row in rows for column in columns}

    def _centre(self, row: int, column: int) -> XY:
        up = self.view["rows"] - 1 - row if self.view.get("top_first") else row
        x = self.margin + (column + 0.5) * _CELL + (up * _HALF if self.slanted else 0.0)
        y = self.height - self.margin - self.tip - _HALF - up * self.row_height
        return (self.width - x, self.height - y) if self.turned else (x, y)

    @property
    def lined(self) -> bool:
        """Tell whether stones stand where lines cross, as in Go."""
        return self.look == "wood" and "pieces" not in self.view and not self.slanted

    # --- the empty board ---------------------------------------------------------------------------------------------

    def ground(self) -> list[Markup]:
        """Draw what lies around and below the squares."""
        ground = [box(0, 0, self.width, self.height, rx=14, fill=self.material.edge)]
        if self.look == "blue":
            wide, tall = self.width - 2 * self.margin, self.height - 2 * self.margin
            ground.append(box(self.margin, self.margin, wide, tall, fill="#2458b8"))
        return ground

    def squares(self) -> list[Markup]:
        """Draw the empty squares, their lines or their holes, and their names."""
        if self.lined:
            return self._lines()
        squares = [self._square(spot) for spot in self.spots]
        names = ((spot, self.view["names"][spot[0]][spot[1]]) for spot in self.spots) if "names" in self.view else ()
        return squares + [self._name(*self.spots[spot], name) for spot, name in names if name]

    def _square(self, spot: Spot) -> Markup:
        light = self.view.get("checkered") and sum(spot) % 2 == 1
        fill, line, width = (
            self.material.light if light else self.material.dark,
            self.material.line,
            self.material.line_width,
        )
        return self.outline(spot, 1.5 if self.slanted else 0, fill=fill, stroke=line, stroke_width=width)

    def outline(self, spot: Spot, inset: float, **style: Attribute) -> Markup:
        """Draw the shape of a place: a square, a hexagon or a hole."""
        x, y = self.spots[spot]
        if self.look == "blue":
            return circle(x, y, _HOLE, **style)
        if not self.slanted:
            return box(x - _HALF + inset, y - _HALF + inset, _CELL - 2 * inset, _CELL - 2 * inset, **style)
        size, turns = _CELL / math.sqrt(3) - inset, [corner * math.pi / 3 for corner in range(6)]
        return polygon([(x + size * math.sin(turn), y + size * math.cos(turn)) for turn in turns], **style)

    def _name(self, x: float, y: float, name: str) -> Markup:
        style: Style = {"fill": "#ffffff", "fill_opacity": 0.85, "text_anchor": "start"}
        return label(x - _HALF + 6, y - _HALF + 14, name, 17, **style)

    def _lines(self) -> list[Markup]:
        top, right = self.view["rows"] - 1, self.view["columns"] - 1
        ends = [((row, 0), (row, right)) for row in range(top + 1)]
        ends += [((0, column), (top, column)) for column in range(right + 1)]
        return [self._line(self.spots[start], self.spots[end]) for start, end in ends]

    @staticmethod
    def _line(start: XY, end: XY) -> Markup:
        (x1, y1), (x2, y2) = start, end
        return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="#5d4423", stroke_width=2.5, stroke_linecap="square")

    def coordinates(self) -> Markup:
        """Write letters below the columns and numbers beside the rows, unless the squares have names."""
        if "names" in self.view:
            return group()
        rows, columns = self.view["rows"], self.view["columns"]
        size, away = min(28, 0.027 * self.width), _HALF + self.margin / 2
        bottom, left = (rows - 1, columns - 1) if self.turned else (0, 0)
        below = (-1 if self.view.get("top_first") else 1) * (away + self.tip)
        lean = 24 if self.slanted else 0
        letters, ends = self.view.get("letters", LETTERS), [self.spots[bottom, column] for column in range(columns)]
        texts = [(x - lean, y + below, letters[i : i + 1]) for i, (x, y) in enumerate(ends)]
        starts = [self.spots[row, left] for row in range(rows)]
        texts += [(x - away, y, str(row + 1)) for row, (x, y) in enumerate(starts)]
        return group(*(label(x, y, text, size, fill=self.material.ink) for x, y, text in texts), class_="coordinates")

    # --- what stands on it -------------------------------------------------------------------------------------------

    def stones(self) -> list[Markup]:
        """Draw the stones and pieces."""
        cells = ((spot, self.view["cells"][spot[0]][spot[1]]) for spot in self.spots)
        return [self._stone(spot, cell) for spot, cell in cells if cell]

    def _stone(self, spot: Spot, cell: int | str) -> Markup:
        if isinstance(cell, int):
            side, colour = cell - 1, self.colours[cell - 1]
            is_drawn = self.look == "paper" and "sides" not in self.view
            figure = draw_pencilled(side, colour) if is_drawn else draw_stone(colour)
        elif (piece := self.view.get("pieces", {}).get(cell)) is None:  # no side's: a wall, a dot, a line
            ink = _ON_SQUARES if self.view.get("checkered") else self.material.ink
            text = label(0, 0, cell, text_size(cell), fill=ink, font_weight="bold")
            return move_to(*self.spots[spot], text, class_="unowned")
        else:
            side, figure = piece["side"], draw_piece(piece["glyph"], self.colours[piece["side"]])
        return move_to(*self.spots[spot], *figure, class_=f"stone side-{side}")

    def marked(self, last: Sequence[Spot]) -> list[Markup]:
        """Fill the places of the last move."""
        return [self.outline(spot, 2 if self.slanted or self.look == "paper" else 0, **LAST) for spot in last]

    def dots(self, last: Sequence[Spot]) -> list[Markup]:
        """XY out stones of the last move that cover their squares."""
        if self.view.get("checkered") or self.look == "paper":
            return []
        covered = [self.spots[spot] for spot in last if self.view["cells"][spot[0]][spot[1]]]
        return [circle(x, y, 9, fill="#ffffff", stroke="#333333", stroke_width=3) for x, y in covered]
