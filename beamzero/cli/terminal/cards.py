"""Games of four hands of cards, drawn for a terminal: the hands, the trick between them, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from rich.text import Text

from beamzero.games.bridge.text import COMPASS, SUITS, suit_text
from beamzero.games.views import CardsView, View

_SYMBOLS = dict(zip(SUITS, "♠♥♦♣"))
_RED = "HD"
_COLUMN = 22


def has_four_hands(view: View) -> TypeGuard[CardsView]:
    """Tell whether a view shows four hands of cards, which `draw_cards` can draw."""
    if view["kind"] != "cards":
        return False
    hands = view.get("hands")
    return isinstance(hands, dict) and set(hands) == set(COMPASS)


def draw_cards(view: CardsView, colour: bool) -> Text:
    """Draw the hands, N above, E on the right, S below and W on the left; of a hidden one, its number of cards."""
    paint = _Paint(view, colour)
    north, east, south, west = (paint.hand(point) for point in COMPASS)
    trick = paint.trick()
    height = max(len(west), len(trick), len(east))
    middle = [_in_columns(*row) for row in zip(*(_filled(part, height) for part in (west, trick, east)))]
    above, below = ([_in_columns(Text(), line) for line in hand] for hand in (north, south))
    lines = [*above, *middle, *below, Text(), *paint.notes()]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


class _Paint:
    def __init__(self, view: CardsView, colour: bool) -> None:
        self.view, self.colour = view, colour

    def suit(self, suit: str) -> Text:
        return Text(_SYMBOLS[suit], "bold red" if self.colour and suit in _RED else "")

    def card(self, card: str) -> Text:
        return self.suit(card[0]).append(card[1], "bold" if self.colour else "")

    def hand(self, point: str) -> list[Text]:
        """Draw a title and the hand suit by suit; of a hidden hand, what is known of it."""
        view, cards = self.view, self.view["hands"][point]
        about = {"declarer": view["declarer"], "dummy": view["dummy"], "you": view["seat"], "to play": view["to_play"]}
        notes = ", ".join(note for note, whose in about.items() if whose == point)
        title = Text.assemble((point, "bold" if self.colour else ""), f" {notes}" if notes else "")
        if not isinstance(cards, int):
            return [title, *(Text.assemble(self.suit(s), f" {suit_text(cards, s) or '-'}") for s in SUITS if cards)]
        void = Text(" ").join(map(self.suit, view["voids"][point]))
        hidden = Text(f"{cards} card{'s' * (cards != 1)} unseen", "dim" if self.colour else "")
        return [title, hidden, *([Text.assemble("no ", void)] if void else [])]

    def trick(self) -> list[Text]:
        """Draw the cards of this trick, each before the hand that played it."""
        played = {point: self.card(card) for point, card in self.view["trick"]}
        if not played:
            return []
        north, east, south, west = (played.get(point, Text(" ·")) for point in COMPASS)
        return [
            Text(),
            Text.assemble(" " * 5, north),
            Text.assemble(west, " " * 8, east),
            Text.assemble(" " * 5, south),
        ]

    def notes(self) -> list[Text]:
        view, (ours, theirs) = self.view, self.view["won"]
        level, strain = view["contract"][0], view["contract"][1:]
        bid = Text.assemble(level, self.suit(strain) if strain in SUITS else strain)
        lines = [Text.assemble(" ", bid, f" by {view['declarer']}, tricks: declarer {ours}, defenders {theirs}")]
        if last := view["last_trick"]:
            played = [Text.assemble(f"{point} ", self.card(card)) for point, card in last]
            lines.append(Text.assemble(" last trick: ", Text(", ").join(played)))
        return lines


def _filled(lines: Sequence[Text], height: int) -> list[Text]:
    return [*lines, *(Text() for _ in range(height - len(lines)))]


def _in_columns(*parts: Text) -> Text:
    line = Text(" ")
    for place, part in enumerate(parts):
        line.append(" " * (1 + place * _COLUMN - len(line))).append_text(part)
    return line
