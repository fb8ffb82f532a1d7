"""Drawings before they are SVG: their size, what is on them, and where their places are."""

from __future__ import annotations

import dataclasses

from beamzero.drawing.svg import Markup, Style

Spot = tuple[int, int]
"""A place of a view, such as (row, column), as a key."""

XY = tuple[float, float]
"""x to the right and y down, in units of the drawing; a square of a grid is 100 wide."""

LAST: Style = {"class_": "last", "fill": "#f6d63c", "fill_opacity": 0.45}
"""How places of the last move are filled."""


@dataclasses.dataclass(frozen=True)
class Drawing:
    """A board with all that stands on it."""

    width: float
    height: float
    body: list[Markup]
    spots: dict[Spot, XY]
    """The middle of each place that can be marked."""
    radius: float = 50.0
    """How much room there is around the middle of a place."""
