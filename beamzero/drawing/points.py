"""Backgammon's board of 24 points with a bar, trays and dice."""

from __future__ import annotations

from collections.abc import Sequence

from beamzero.drawing.figures import draw_stone
from beamzero.drawing.layout import LAST, XY, Drawing, Spot
from beamzero.drawing.palette import contrast, side_colours
from beamzero.drawing.svg import Attribute, Markup, Style, box, circle, group, label, move_to, polygon
from beamzero.games.views import PointsView

_WIDE = 96.0
"""From one point to the next."""
_TALL = 430.0
"""Of a point's column."""
_GAP = 80.0
"""Between the upper and the lower half, for the dice."""
_RIM = 46.0
_STEP = 82.0
"""From one checker to the next in a column."""
_MOST = 5
"""Checkers in a column before they move together."""
_POINT, _BAR, _OFF = range(3)
_TRAYS = [(kind, side) for kind in (_BAR, _OFF) for side in (0, 1)]
_PIPS = {1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8]}
_DIE_COLOURS = ("#f7f5ef", "#26282b")


def draw_backgammon_board(view: PointsView, last: Sequence[Spot], turned: bool) -> Drawing:
    """Draw the board with the home of the side below at the lower right, points numbered as that side counts."""
    board = _Board(view, turned)
    marks = [board.column_box(spot, **LAST) for spot in dict.fromkeys(last) if spot in board.spots]
    piles = [checker for spot in board.spots for checker in board.pile(spot)]
    return Drawing(board.width, board.height, [*board.ground(), *marks, *piles, *board.dice()], board.spots, radius=56)


class _Board:
    """The geometry of one view, and its parts."""

    width, height = 14.4 * _WIDE + 2 * _RIM, 2 * _TALL + _GAP + 2 * _RIM

    def __init__(self, view: PointsView, turned: bool) -> None:
        self.view, self.bottom, self.colours = view, int(turned), side_colours(view)
        places = [(_POINT, point) for point in range(1, 25)] + [
            (kind, side) for kind in (_BAR, _OFF) for side in (0, 1)
        ]
        self.spots: dict[Spot, XY] = {spot: (self.x(spot), self.middle(spot)) for spot in places}

    def counted(self, point: int) -> int:
        """Number a point of the first side as the side below counts."""
        return 25 - point if self.bottom else point

    def is_upper(self, spot: Spot) -> bool:
        """Tell whether a place is in the upper half."""
        kind, number = spot
        return self.counted(number) > 12 if kind == _POINT else number != self.bottom

    def x(self, spot: Spot) -> float:
        """Find the middle of a place's column."""
        kind, number = spot
        if kind != _POINT:
            return _RIM + (6.5 if kind == _BAR else 13.7) * _WIDE
        own = self.counted(number)
        left = own - 13 if own > 12 else 12 - own  # from the left, the bar not counted
        return _RIM + (left + (0.5 if left < 6 else 1.5)) * _WIDE

    def middle(self, spot: Spot) -> float:
        """Find the middle of a place's half."""
        return _RIM + _TALL / 2 if self.is_upper(spot) else self.height - _RIM - _TALL / 2

    def column_box(self, spot: Spot, **style: Attribute) -> Markup:
        """Draw the rectangle of a place."""
        return box(self.x(spot) - _WIDE / 2 + 2, self.middle(spot) - _TALL / 2, _WIDE - 4, _TALL, rx=8, **style)

    def ground(self) -> list[Markup]:
        """Draw the empty board."""
        trays = [self.column_box(spot, fill="#442a17") for spot in _TRAYS]
        points = [part for point in range(1, 25) for part in self._point(point)]
        return [box(0, 0, self.width, self.height, rx=14, fill="#5b3a22"), *trays, *points]

    def _point(self, point: int) -> list[Markup]:
        x, upper = self.x((_POINT, point)), self.is_upper((_POINT, point))
        foot, tip = (_RIM, _RIM + _TALL - 30) if upper else (self.height - _RIM, self.height - _RIM - _TALL + 30)
        corners = [(x - _WIDE / 2 + 4, foot), (x + _WIDE / 2 - 4, foot), (x, tip)]
        number = label(x, _RIM / 2 if upper else self.height - _RIM / 2, str(self.counted(point)), 28, fill="#f3e3c3")
        return [polygon(corners, fill="#b4814f" if point % 2 else "#e6d0a6"), number]

    def held(self, spot: Spot) -> tuple[int, int]:
        """Return how many checkers are at a place, and their side."""
        kind, number = spot
        if kind != _POINT:
            return self.view["bar" if kind == _BAR else "off"][number], number
        first, second = self.view["checkers"][0][number - 1], self.view["checkers"][1][24 - number]
        return (first, 0) if first else (second, 1)

    def pile(self, spot: Spot) -> list[Markup]:
        """Draw the checkers of a place: those on the bar next to the middle of the board, others at its edge."""
        number, side = self.held(spot)
        tight = (_MOST - 1) * _STEP / (number - 1) if number > _MOST else _STEP
        edges = [44 + index * tight for index in range(number)]
        outward = [_TALL - edge if spot[0] == _BAR else edge for edge in edges]
        heights = [_RIM + away if self.is_upper(spot) else self.height - _RIM - away for away in outward]
        figure = group(*draw_stone(self.colours[side]), transform="scale(0.92)")
        pile = [move_to(self.x(spot), y, figure, class_=f"stone side-{side}") for y in heights]
        style: Style = {"fill": contrast(self.colours[side]), "font_weight": "bold"}
        return [*pile, *([label(self.x(spot), heights[-1], str(number), 40, **style)] if number > _MOST else [])]

    def dice(self) -> list[Markup]:
        """Draw the dice that are still to be played, on the right where they are those of the side below."""
        faces, side = self.view["dice"], self.view["side"]
        middle = _RIM + (10 if side == self.bottom else 3) * _WIDE
        return [
            move_to(middle + (i - (len(faces) - 1) / 2) * 84, self.height / 2, *_draw_die(face, side), class_="die")
            for i, face in enumerate(faces)
        ]


def _draw_die(face: int, side: int) -> list[Markup]:
    fill, ink = _DIE_COLOURS[side], _DIE_COLOURS[1 - side]
    pips = [circle((spot % 3 - 1) * 18, (spot // 3 - 1) * 18, 6, fill=ink) for spot in _PIPS[face]]
    return [box(-34, -34, 68, 68, rx=12, fill=fill, stroke=ink, stroke_width=2), *pips]
