"""Boards of houses and stores with seeds in them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from beamzero.drawing.layout import XY, Drawing, Spot
from beamzero.drawing.svg import Attribute, Markup, Style, box, circle, group, label
from beamzero.games.views import SowingView

_WIDE = 110.0
"""From one house to the next."""
_RIM = 88.0
"""Above and below the houses, for counts and numbers."""
_STORE = 140.0
MOST_SEEDS = 20
"""Seeds of a house that are drawn one by one; a store shows twice as many."""
_GOLDEN = 2.39996
_PIT: Style = {"fill": "#7a4f27", "stroke": "#5c3816"}
_MARKED: Style = {"fill": "#4d2a4f", "stroke": "#e9c6ef"}


def draw_sowing_board(view: SowingView, last: Sequence[Spot], turned: bool) -> Drawing:
    """Draw the houses of one side below, of the other above; each side's store is on its right."""
    board = _Board(view, turned)
    edge = box(3, 3, board.width - 6, board.height - 6, rx=40, fill="#a9743f", stroke="#7a5029", stroke_width=6)
    houses = [part for spot in board.spots for part in board.house(spot, spot in last)]
    stores = [part for side in (0, 1) for part in board.store(side)]
    return Drawing(board.width, board.height, [edge, *houses, *stores], board.spots)


class _Board:
    """The geometry of one view, and its parts."""

    def __init__(self, view: SowingView, turned: bool) -> None:
        self.view, self.bottom = view, int(turned)
        columns = max(len(houses) for houses in view["houses"])
        self.tall = min(300.0, max(210.0, 34.0 * columns))  # of a row of houses
        self.width, self.height = columns * _WIDE + 2 * _STORE, 2 * (self.tall + _RIM)
        pairs = [(side, house) for side in (0, 1) for house in range(len(view["houses"][side]))]
        self.spots = {spot: self._centre(*spot) for spot in pairs}

    def _centre(self, side: int, house: int) -> XY:
        x = _STORE + (house + 0.5) * _WIDE
        near = side == self.bottom
        return (x, _RIM + 1.5 * self.tall) if near else (self.width - x, _RIM + 0.5 * self.tall)

    def house(self, spot: Spot, is_last: bool) -> list[Markup]:
        """Draw a house with its seeds, its count and its number."""
        (x, y), (side, house) = self.spots[spot], spot
        is_marked = list(spot) in [list(place) for place in self.view.get("marked", [])]
        away, pit = 1 if side == self.bottom else -1, (x, y, 47.0, self.tall / 2 - 15)
        number = label(x, y + away * (self.tall / 2 + 56), str(house + 1), 30, fill="#3a230c", class_="number")
        count = self.view["houses"][side][house]
        parts = [_pit(*pit, **(_MARKED if is_marked else _PIT), stroke_width=4)]
        if is_last:
            parts.append(_pit(*pit, class_="last", fill="none", stroke="#ffe08a", stroke_width=7))
        return [*parts, _seeds(*pit, min(count, MOST_SEEDS)), _count(x, y + away * (self.tall / 2 + 14), count), number]

    def store(self, side: int) -> list[Markup]:
        """Draw a store with its seeds and its count."""
        near = side == self.bottom
        x, y, away = (self.width - _STORE / 2 if near else _STORE / 2), self.height / 2, 1 if near else -1
        pit, count = (x, y, 52.0, self.tall * 0.76), self.view["stores"][side]
        seeds = _seeds(*pit, min(count, 2 * MOST_SEEDS))
        return [_pit(*pit, **_PIT, stroke_width=4), seeds, _count(x, y + away * (pit[3] + 36), count)]


def _pit(x: float, y: float, across: float, along: float, /, **style: Attribute) -> Markup:
    return box(x - across, y - along, 2 * across, 2 * along, rx=across, **style)


def _count(x: float, y: float, count: int) -> Markup:
    return label(x, y, str(count), 46, fill="#1f1204", font_weight="bold", class_="count")


def _seeds(x: float, y: float, across: float, along: float, number: int) -> Markup:
    """Draw seeds in a spiral that fills the pit."""
    style: Style = {"class_": "seed", "fill": "#f3e3c3", "stroke": "#6b4a22", "stroke_width": 1.5}
    reaches = [0.8 * math.sqrt((index + 0.5) / max(number, 9)) for index in range(number)]
    turns = [_GOLDEN * index for index in range(number)]
    spiral = [
        (x + reach * across * math.cos(turn), y + reach * along * math.sin(turn)) for reach, turn in zip(reaches, turns)
    ]
    return group(*(circle(seed_x, seed_y, 10, **style) for seed_x, seed_y in spiral))
