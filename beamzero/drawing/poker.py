"""Poker with a card each."""

from __future__ import annotations

from collections.abc import Sequence

from beamzero.drawing.deck import CARD_HEIGHT, CARD_WIDTH, draw_back, draw_face
from beamzero.drawing.layout import Drawing, Spot
from beamzero.drawing.svg import Markup, Style, box, label, move_to
from beamzero.drawing.words import side_titles
from beamzero.games.views import PokerView

_WIDTH, _HEIGHT = 900.0, 620.0
_LINE = 34.0
_INK = "#e6f2ea"


def draw_poker_table(view: PokerView, last: Sequence[Spot], turned: bool) -> Drawing:
    """Draw the first side's card below, or the second's where `turned`; bets on the left, the pot on the right."""
    del last  # moves have no places
    near = int(turned)
    shown = [(view["cards"][1 - near], _WIDTH / 2, 150.0), (view["cards"][near], _WIDTH / 2, _HEIGHT - 150)]
    first = -(len(view["public"]) - 1) / 2
    shown += [
        (card, _WIDTH / 2 + (first + i) * (CARD_WIDTH + 20), _HEIGHT / 2) for i, card in enumerate(view["public"])
    ]
    cards = [_card(*card) for card in shown]
    pot = label(_WIDTH - 40, _HEIGHT / 2, f"Pot {sum(view['paid'])}", 38, **_style("end"), font_weight="bold")
    seats = [_seat(view, 1 - near, 46), _seat(view, near, _HEIGHT - 40)]
    felt = box(0, 0, _WIDTH, _HEIGHT, rx=18, fill="#1f6b45")
    return Drawing(_WIDTH, _HEIGHT, [felt, *cards, *seats, pot, *_talk(view)], {})


def _style(anchor: str) -> Style:
    return {"fill": _INK, "text_anchor": anchor}


def _card(rank: str | None, x: float, y: float) -> Markup:
    return move_to(x - CARD_WIDTH / 2, y - CARD_HEIGHT / 2, draw_face(rank) if rank else draw_back())


def _seat(view: PokerView, side: int, y: float) -> Markup:
    paid = view["paid"][side]
    text = f"{side_titles(view)[side]}: {paid} chip{'s' * (paid != 1)} in the pot"
    return label(_WIDTH / 2, y, text, 27, **_style("middle"))


def _talk(view: PokerView) -> list[Markup]:
    """Write what was said, round by round, the first side first."""
    lines = []
    for number, actions in enumerate(view["said"]):
        x = 40.0 + 190 * number
        lines.append(label(x, 110, f"Round {number + 1}", 27, **_style("start"), font_weight="bold"))
        texts = [f"{('1st', '2nd')[i % 2]} {action}" for i, action in enumerate(actions)]
        lines += [label(x, 110 + _LINE * i, text, 24, **_style("start")) for i, text in enumerate(texts, 1)]
    return lines
