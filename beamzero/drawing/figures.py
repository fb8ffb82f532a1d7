"""Stones and pieces, drawn around the point (0, 0) of a square that is 100 wide."""

from __future__ import annotations

from beamzero.drawing.palette import contrast
from beamzero.drawing.svg import Markup, Style, circle, group, label, path

CHESSMEN = {"♔": "king", "♕": "queen", "♖": "rook", "♗": "bishop", "♘": "knight", "♙": "pawn"} | {
    "♚": "king", "♛": "queen", "♜": "rook", "♝": "bishop", "♞": "knight", "♟": "pawn",
}  # fmt: skip
DRAUGHTS = {"⛀": "man", "⛁": "king", "⛂": "man", "⛃": "king"}

_CROWN = "M-22 16L-27 -12L-12 1L0 -18L12 1L27 -12L22 16Z"

_SHAPES = {
    "pawn": (
        "M-25 38H25V32C25 24 13 22 9 5H14V-1H9A15 15 0 1 0 -9 -1H-14V5H-9C-13 22 -25 24 -25 32Z",
        "M-9 5H9M-22 31H22",
    ),
    "rook": (
        "M-29 38H29V30H22L18 -8H25V-34H14V-26H6V-34H-6V-26H-14V-34H-25V-8H-18L-22 30H-29Z",
        "M-18 -8H18M-22 30H22M-19 -1H19",
    ),
    "bishop": (
        "M-28 38H28V32C28 26 14 28 11 19L9 13H15V7H10C24 -5 19 -20 5 -30A6.5 6.5 0 1 0 -5 -30"
        "C-19 -20 -24 -5 -10 7H-15V13H-9L-11 19C-14 28 -28 26 -28 32Z",
        "M0 -19V-3M-8 -11H8M-10 7H10M-9 13H9M-24 31H24",
    ),
    "knight": (
        "M-24 38H30V31C31 6 26 -16 12 -25C7 -28 2 -30 -2 -30L-6 -40L-12 -29C-20 -25 -23 -18 -26 -11L-37 5"
        "C-40 11 -35 18 -29 16L-23 13C-19 8 -12 8 -6 6C-2 5 0 3 2 -1C4 9 -3 14 -10 19C-18 24 -24 29 -24 38Z",
        "M-24 31H29M-31 8L-29 10M9 -18C19 -8 22 8 22 24",
    ),
    "queen": (
        "M-26 38H26V31H20L22 15L36 -18A5 5 0 1 0 31 -19L18 -1L19 -27A5 5 0 1 0 14 -27L7 -4L3 -30A5 5 0 1 0 -3 -30L-7 -4"
        "L-14 -27A5 5 0 1 0 -19 -27L-18 -1L-31 -19A5 5 0 1 0 -36 -18L-22 15L-20 31H-26Z",
        "M-22 15Q0 8 22 15M-21 24Q0 17 21 24M-20 31H20",
    ),
    "king": (
        "M-26 38H26V31H20L22 17C42 6 36 -18 17 -15C11 -14 7 -11 4 -7V-23H11V-30H4V-38H-4V-30H-11V-23H-4V-7"
        "C-7 -11 -11 -14 -17 -15C-36 -18 -42 6 -22 17L-20 31H-26Z",
        "M-4 -7Q-1 0 0 14Q1 0 4 -7M-22 17Q0 9 22 17M-21 25Q0 18 21 25M-20 31H20",
    ),
}
"""The outline of each chessman, and the lines on it."""

_EYES = {"knight": (-15.0, -14.0)}


def draw_stone(fill: str) -> list[Markup]:
    """Draw a round stone."""
    return [
        circle(0, 3, 40, fill="#000000", fill_opacity=0.3),
        circle(0, 0, 40, fill=fill, stroke="#000000", stroke_opacity=0.45, stroke_width=1.5),
        circle(0, 0, 36, fill="none", stroke="#ffffff", stroke_opacity=0.28, stroke_width=3),
    ]


def draw_pencilled(side: int, stroke: str) -> list[Markup]:
    """Draw a cross for the first side, a nought for the second."""
    style: Style = {"fill": "none", "stroke": stroke, "stroke_width": 11, "stroke_linecap": "round"}
    return [circle(0, 0, 28, **style) if side else path("M-26 -26L26 26M26 -26L-26 26", **style)]


def draw_piece(glyph: str, fill: str) -> list[Markup]:
    """Draw a chessman or a draughtsman by its glyph; for any other text, a stone with the text on it."""
    if glyph in CHESSMEN:
        return _draw_chessman(CHESSMEN[glyph], fill)
    ink = contrast(fill)
    if glyph in DRAUGHTS:
        groove = circle(0, 0, 26, fill="none", stroke=ink, stroke_opacity=0.55, stroke_width=2)
        crown = path(_CROWN, fill="#e0aa1c", stroke="#6b4c00", stroke_width=3, stroke_linejoin="round")
        return [*draw_stone(fill), groove, *([crown] if DRAUGHTS[glyph] == "king" else [])]
    return [*draw_stone(fill), label(0, 0, glyph, text_size(glyph), fill=ink, font_weight="bold")]


def text_size(text: str) -> float:
    """Choose the size of letters in which a text fits on a square."""
    return min(46.0, 100 / max(1, len(text)))


def _draw_chessman(name: str, fill: str) -> list[Markup]:
    outline, lines = _SHAPES[name]
    ink = contrast(fill)
    rim = {"stroke": ink, "stroke_linejoin": "round", "stroke_linecap": "round"}
    eye = [circle(*_EYES[name], 3, fill=ink)] if name in _EYES else []
    parts = [path(outline, fill=fill, stroke_width=2.5, **rim), path(lines, fill="none", stroke_width=2, **rim), *eye]
    return [group(*parts, transform="translate(0 1) scale(1.12)")]
