"""An analysis on a board: values at the places of moves, and arrows from place to place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from beamzero.drawing.layout import XY, Drawing, Spot
from beamzero.drawing.palette import blend
from beamzero.drawing.svg import Markup, Style, box, element, group, label, polygon

Way = Spot | tuple[Spot, ...] | str
"""The places of a move: one, or from the first to the last; or the name of a move that has none, such as a pass."""

Marks = Mapping[Way, tuple[str, float]]
"""A short text for each move and how strongly it is drawn, from 0 to 1; 1 gets a golden rim."""

_WEAK, _STRONG, _GOLD = "#6b7280", "#17713a", "#ffe08a"
_HEAD = 26.0
_MANY, _FEW = 9, 5


class ValuedMove(NamedTuple):
    """A move as an agent sees it."""

    name: str
    places: Sequence[Sequence[int]]
    """As `Game.places` gives them."""
    value: float
    """For the side to move, in [-1, 1]."""


def mark_values(moves: Sequence[ValuedMove]) -> dict[Way, tuple[str, float]]:
    """Make marks of moves, the best one first. Of more than nine moves, or of arrows, the best five are marked.

    Of moves with the same places, only the first is.
    """
    ways: dict[Way, float] = {}
    for move in [*moves[:1], *sorted(moves[1:], key=lambda move: -move.value)]:
        ways.setdefault(tuple((place[0], place[1]) for place in move.places) or move.name, move.value)
    has_arrows = any(len(move.places) > 1 for move in moves)
    most = _FEW if has_arrows or len(ways) > _MANY else _MANY
    shown = list(ways.items())[:most]
    values = [value for _, value in shown]
    return {way: (f"{value:+z.2f}", _strength(values, number)) for number, (way, value) in enumerate(shown)}


def _strength(values: Sequence[float], number: int) -> float:
    """Return 1 for the first value, and from 0 to 0.8 for the others: the higher, the more."""
    low, high = min(values), max(values)
    part = (values[number] - low) / (high - low) if high > low else 1.0
    return 0.8 * part if number else 1.0


def name_marks(marks: Marks) -> str:
    """Write the marks of moves that have no places on one line, the strongest first; empty where there are none."""
    named = [(strength, f"{way} {text}") for way, (text, strength) in marks.items() if isinstance(way, str)]
    return ",  ".join(text for _, text in sorted(named, key=lambda mark: -mark[0]))


def draw_marks(drawing: Drawing, marks: Marks) -> list[Markup]:
    """Draw arrows, then badges over them, the strongest last. Marks whose places are not on the board are left out."""
    ways = [(_as_spots(way), text, min(1.0, max(0.0, strength))) for way, (text, strength) in marks.items()]
    known = [way for way in ways if way[0] and all(spot in drawing.spots for spot in way[0])]
    known.sort(key=lambda way: way[2])
    arrows = [_arrow(drawing, way[0], way[2]) for way in known if drawing.spots[way[0][0]] != drawing.spots[way[0][-1]]]
    return [*arrows, *_badges(drawing, known)]


def _as_spots(way: Way) -> tuple[Spot, ...]:
    """List the places of a move; a place alone is a pair of whole numbers, and a name has none."""
    if isinstance(way, str) or not way:
        return ()
    first, *rest = way
    if isinstance(first, tuple):
        return (first, *(place for place in rest if isinstance(place, tuple)))
    return ((first, rest[0]),) if len(rest) == 1 and isinstance(rest[0], int) else ()


def _badges(drawing: Drawing, known: Sequence[tuple[tuple[Spot, ...], str, float]]) -> list[Markup]:
    """Draw texts at the last places of moves; where several end at one place, below one another, the best on top."""
    taken: dict[Spot, int] = {}
    badges = []
    for way, text, strength in reversed(known):
        (x, y), number = drawing.spots[way[-1]], taken.get(way[-1], 0)
        taken[way[-1]] = number + 1
        badges.append(_badge(x, y + number * 0.84 * drawing.radius, drawing.radius, text, strength))
    return badges[::-1]


def _badge(x: float, y: float, radius: float, text: str, strength: float) -> Markup:
    wide, tall = 1.6 * radius, 0.8 * radius
    rim: Style = {"stroke": _GOLD, "stroke_width": 5} if strength == 1 else {"stroke": "#ffffff", "stroke_width": 2}
    size = min(0.56 * radius, 1.55 * wide / max(1, len(text)))
    ground = box(x - wide / 2, y - tall / 2, wide, tall, rx=0.2 * radius, fill=blend(_WEAK, _STRONG, strength), **rim)
    return group(ground, label(x, y, text, size, fill="#ffffff", font_weight="bold"), class_="mark")


def _arrow(drawing: Drawing, way: Sequence[Spot], strength: float) -> Markup:
    """Draw an arrow between the middles of two places, short of the badge at its end."""
    start, end = drawing.spots[way[0]], drawing.spots[way[-1]]
    (ux, uy), length = _direction(start, end)
    reach = length - min(0.85 * drawing.radius, length / 3)
    tip = (start[0] + ux * reach, start[1] + uy * reach)
    neck = (tip[0] - ux * _HEAD, tip[1] - uy * _HEAD)
    wing = (-uy * _HEAD * 0.65, ux * _HEAD * 0.65)
    colour = blend(_WEAK, _STRONG, strength)
    corners = [tip, (neck[0] + wing[0], neck[1] + wing[1]), (neck[0] - wing[0], neck[1] - wing[1])]
    style: Style = {"stroke": colour, "stroke_width": 8 + 7 * strength, "stroke_linecap": "round"}
    line = element("line", x1=start[0], y1=start[1], x2=neck[0], y2=neck[1], **style)
    return group(line, polygon(corners, fill=colour), class_="arrow", opacity=0.7 + 0.2 * strength)


def _direction(start: XY, end: XY) -> tuple[XY, float]:
    """Return the direction from one point to another, of length 1, and their distance."""
    length = math.dist(start, end)
    return ((end[0] - start[0]) / length, (end[1] - start[1]) / length), length
