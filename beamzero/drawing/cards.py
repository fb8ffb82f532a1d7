"""Four hands of cards round a table. Hidden hands are hidden in the view already."""

from __future__ import annotations

from collections.abc import Sequence

from beamzero.drawing.deck import CARD_HEIGHT, CARD_WIDTH, SUIT_NAMES, SUIT_SIGNS, draw_back, draw_face
from beamzero.drawing.layout import XY, Drawing, Spot
from beamzero.drawing.svg import Markup, Style, box, group, label, move_to
from beamzero.games.bridge.text import RANKS, SUITS
from beamzero.games.views import CardsView

POINTS = {"N": "North", "E": "East", "S": "South", "W": "West"}
"""The hands, clockwise."""

_RIM = 34.0
_LABEL = 40.0
"""The line with a hand's name."""
_ACROSS, _DOWN = 70.0, 44.0
"""From one card to the next in the hands above and below, and in those at the sides."""
_MIDDLE = 12 * _DOWN + CARD_HEIGHT
_WIDTH = 12 * _ACROSS + CARD_WIDTH + 2 * _RIM + 160
_HEIGHT = 2 * (CARD_HEIGHT + 2 * _LABEL + _RIM) + _MIDDLE
_SEATS = ("bottom", "left", "top", "right")
"""Where hands lie, clockwise."""
_INK, _BRIGHT = "#e6f2ea", "#f6d63c"


def draw_card_table(view: CardsView, last: Sequence[Spot], turned: bool) -> Drawing:
    """Draw the hands, that of the one who looks or of the declarer below; a turned table would tell nothing new."""
    del turned
    table = _Table(view)
    felt = box(0, 0, _WIDTH, _HEIGHT, rx=18, fill="#1f6b45")
    hands = [card for seat in ("top", "left", "right", "bottom") for card in table.hand(seat)]
    body = [felt, *table.words(), *hands, *table.trick(last)]
    return Drawing(_WIDTH, _HEIGHT, body, table.spots, radius=36)


def card_spot(card: str) -> Spot:
    """Give the place of a card, suit and rank from 0."""
    return SUITS.index(card[0]), RANKS.index(card[1])


class _Table:
    """The hands of one view, and where their open cards lie."""

    def __init__(self, view: CardsView) -> None:
        self.view = view
        bottom = list(POINTS).index(view["seat"] or view["declarer"])
        self.point = {seat: list(POINTS)[(bottom + i) % 4] for i, seat in enumerate(_SEATS)}
        self.spots: dict[Spot, XY] = {}

    def hand(self, seat: str) -> list[Markup]:
        """Draw the cards of a hand, one over the other."""
        held = self.view["hands"][self.point[seat]]
        if isinstance(held, int):
            return [move_to(*_corner(seat, i, held), draw_back()) for i in range(held)]
        drawn = []
        for i, card in enumerate(_in_order(held, self.view["contract"])):
            x, y = _corner(seat, i, len(held))
            drawn.append(move_to(x, y, draw_face(card[1], card[0])))
            self.spots[card_spot(card)] = _free_part(seat, x, y, i == len(held) - 1)
        return drawn

    def trick(self, last: Sequence[Spot]) -> list[Markup]:
        """Draw this trick; at the end the last one, paler."""
        view, seats = self.view, {point: seat for seat, point in self.point.items()}
        is_old = not view["trick"] and view["to_play"] is None
        shown = view["last_trick"] if is_old else view["trick"]
        style: Style = {"class_": "trick", "opacity": 0.45 if is_old else None}
        return [
            move_to(*_trick_corner(seats[point]), draw_face(card[1], card[0], card_spot(card) in last), **style)
            for point, card in shown
        ]

    def words(self) -> list[Markup]:
        """Write the contract, the tricks won, and the name of each hand."""
        view, (x, y) = self.view, (_RIM + CARD_WIDTH + _LABEL, _RIM + CARD_HEIGHT + 3 * _LABEL)
        declarer, defenders = view.get("sides", ["Declarer", "Defenders"])
        strain = view["contract"][1:]
        bid = f"{view['contract'][:1]}{SUIT_SIGNS.get(strain, strain)} by {POINTS[view['declarer']]}"
        won = [f"{declarer} {view['won'][0]}", f"{defenders} {view['won'][1]}"]
        style: Style = {"fill": _INK, "text_anchor": "start"}
        lines = [label(x, y + 10 + 36 * (i + 1), line, 27, **style) for i, line in enumerate(won)]
        return [label(x, y, bid, 38, **style, font_weight="bold"), *lines, *(self._name(seat) for seat in _SEATS)]

    def _name(self, seat: str) -> Markup:
        point, (x, y, anchor) = self.point[seat], _name_spot(seat)
        to_play = point == self.view["to_play"]
        style: Style = {"fill": _BRIGHT, "font_weight": "bold"} if to_play else {"fill": _INK}
        return group(label(x, y, self._title(point), 27, text_anchor=anchor, **style))

    def _title(self, point: str) -> str:
        view = self.view
        about = {"declarer": view["declarer"], "dummy": view["dummy"]}
        notes = [note for note, whose in about.items() if whose == point]
        voids = view["voids"].get(point, []) if isinstance(view["hands"][point], int) else []
        notes += [f"no {', '.join(SUIT_NAMES[suit] for suit in voids)}"] if voids else []
        return f"{POINTS[point]} ({', '.join(notes)})" if notes else POINTS[point]


def _corner(seat: str, index: int, number: int) -> XY:
    """Find the upper left corner of card `index` of `number` in a hand."""
    along = index - (number - 1) / 2
    if seat in ("top", "bottom"):
        y = _RIM + _LABEL if seat == "top" else _HEIGHT - _RIM - _LABEL - CARD_HEIGHT
        return _WIDTH / 2 + along * _ACROSS - CARD_WIDTH / 2, y
    x = _RIM if seat == "left" else _WIDTH - _RIM - CARD_WIDTH
    return x, _HEIGHT / 2 + along * _DOWN - CARD_HEIGHT / 2


def _free_part(seat: str, x: float, y: float, is_top: bool) -> XY:
    """Find the middle of the part of a card that no other card covers, beside or below its rank."""
    if seat in ("left", "right"):
        return x + 64, y + (CARD_HEIGHT if is_top else _DOWN) / 2
    return x + (CARD_WIDTH if is_top else _ACROSS) / 2, y + CARD_HEIGHT - 24


def _trick_corner(seat: str) -> XY:
    x, y = {"bottom": (0, 78), "top": (0, -78), "left": (-112, 0), "right": (112, 0)}[seat]
    return _WIDTH / 2 + x - CARD_WIDTH / 2, _HEIGHT / 2 + y - CARD_HEIGHT / 2


def _name_spot(seat: str) -> tuple[float, float, str]:
    """Find where a hand's name stands, and which part of the name stands there."""
    beside = _HEIGHT / 2 - _MIDDLE / 2 - 22
    return {
        "bottom": (_WIDTH / 2, _HEIGHT - _RIM / 2 - _LABEL / 2, "middle"),
        "top": (_WIDTH / 2, _RIM / 2 + _LABEL / 2, "middle"),
        "left": (_RIM, beside, "start"),
        "right": (_WIDTH - _RIM, beside, "end"),
    }[seat]


def _in_order(cards: Sequence[str], contract: str) -> list[str]:
    """Sort cards: trumps on the left, black and red suits in turn, the highest card first."""
    suits = {"H": "HSDC", "D": "DSHC", "C": "CHSD"}.get(contract[1:2], "SHCD")
    return sorted(cards, key=lambda card: suits.index(card[0]) * 13 - RANKS.index(card[1]))
