"""Playing cards."""

from __future__ import annotations

from beamzero.drawing.svg import Markup, Style, box, group, label, path

CARD_WIDTH, CARD_HEIGHT = 92.0, 128.0
SUIT_NAMES = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}
SUIT_SIGNS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}

_SUIT_SHAPES = {
    "S": "M0 -20C6 -9 18 -3 18 7C18 15 8 18 3 11C3 15 5 18 8 20H-8"
    "C-5 18 -3 15 -3 11C-8 18 -18 15 -18 7C-18 -3 -6 -9 0 -20Z",
    "H": "M0 20C-6 9 -19 2 -19 -9C-19 -20 -4 -21 0 -10C4 -21 19 -20 19 -9C19 2 6 9 0 20Z",
    "D": "M0 -21L15 0L0 21L-15 0Z",
    "C": "M-3 7C-7 15 -19 12 -19 3C-19 -5 -11 -8 -6 -5C-13 -11 -8 -21 0 -21C8 -21 13 -11 6 -5C11 -8 19 -5 19 3"
    "C19 12 7 15 3 7C3 14 5 18 8 20H-8C-5 18 -3 14 -3 7Z",
}
"""Each about 40 wide, around (0, 0)."""


def suit_colour(suit: str) -> str:
    """Return the colour of a suit on a card: red for hearts and diamonds."""
    return "#c3262c" if suit in ("H", "D") else "#1d1f21"


def draw_suit(suit: str, x: float, y: float, scale: float, fill: str) -> Markup:
    """Draw the sign of a suit."""
    return path(_SUIT_SHAPES[suit], fill=fill, transform=f"translate({x:g} {y:g}) scale({scale:g})")


def draw_face(rank: str, suit: str = "", marked: bool = False) -> Markup:
    """Draw a card face up; one without a suit shows its rank alone."""
    ink, text = suit_colour(suit), "10" if rank == "T" else rank
    rim: Style = {"stroke": "#f6d63c", "stroke_width": 6} if marked else {"stroke": "#55585c", "stroke_width": 1.5}
    ground = box(0, 0, CARD_WIDTH, CARD_HEIGHT, rx=9, fill="#fdfcf8", **rim, class_="last" if marked else None)
    if not suit:
        rank_text = label(CARD_WIDTH / 2, CARD_HEIGHT / 2, text, 60, fill=ink, font_weight="bold")
        return group(ground, rank_text, class_="card")
    corner = label(20, 24, text, 30, fill=ink, font_weight="bold", letter_spacing=-2 if rank == "T" else None)
    return group(ground, corner, draw_suit(suit, 51, 24, 0.5, ink), draw_suit(suit, 58, 88, 1, ink), class_="card")


def draw_back() -> Markup:
    """Draw a card face down."""
    ground = box(0, 0, CARD_WIDTH, CARD_HEIGHT, rx=9, fill="#f7f5ef", stroke="#55585c", stroke_width=1.5)
    return group(ground, box(8, 8, CARD_WIDTH - 16, CARD_HEIGHT - 16, rx=5, fill="#2f5d9b"), class_="card down")
