"""Positions in plain words, for those who hear a drawing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from beamzero.drawing.figures import CHESSMEN, DRAUGHTS
from beamzero.drawing.text import text_of
from beamzero.games.grid import LETTERS
from beamzero.games.views import CardsView, GridView, PointsView, PokerView, SowingView, View


def side_titles(view: View) -> tuple[str, str]:
    """Return the names of the two sides, made up where the game has none."""
    first, second = view.get("sides", ("First side", "Second side"))
    return first, second


def describe_view(view: View) -> str:
    """Describe a position in words. Returns one line, or the lines of a text."""
    described = _DESCRIBERS.get(view["kind"], text_of)(view)
    return f"{described} {view['note']}." if view.get("note") else described


def name_square(view: GridView, row: int, column: int) -> str:
    """Name a square as its board does: by a name of its own, or by letter and number."""
    own = view["names"][row][column] if "names" in view else ""
    return own or f"{view.get('letters', LETTERS)[column : column + 1]}{row + 1}"


def _describe_grid(view: GridView) -> str:
    texts: list[list[str]] = [[], [], []]
    for row, cells in enumerate(view["cells"]):
        for column, cell in enumerate(cells):
            if cell:
                side, kind = _kind_of(view, cell)
                texts[side].append(f"{kind} {name_square(view, row, column)}".strip())
    size = f"Board of {view['rows']} rows and {view['columns']} columns."
    names = [*side_titles(view), *(["Of no side"] if texts[2] else [])]
    return " ".join([size, *(f"{name}: {', '.join(text) or 'nothing'}." for name, text in zip(names, texts))])


def _kind_of(view: GridView, cell: int | str) -> tuple[int, str]:
    """Return the side of what stands on a square, 2 for neither's, and its kind: a stone has none."""
    if isinstance(cell, int):
        return cell - 1, ""
    piece = view.get("pieces", {}).get(cell)
    if piece is None:
        return 2, cell
    return piece["side"], CHESSMEN.get(piece["glyph"]) or DRAUGHTS.get(piece["glyph"]) or cell


def _describe_sowing(view: SowingView) -> str:
    parts = [
        f"{name}: houses {' '.join(map(str, houses))}, store {store}."
        for name, houses, store in zip(side_titles(view), view["houses"], view["stores"])
    ]
    names = side_titles(view)
    marked = [f"Marked: house {house + 1} of {names[side]}." for side, house in view.get("marked", [])]
    return " ".join([*parts, *marked])


def _describe_points(view: PointsView) -> str:
    parts = []
    for side, name in enumerate(side_titles(view)):
        held = [f"{number} on point {point}" for point, number in enumerate(view["checkers"][side], 1) if number]
        held += [f"{view['bar'][side]} on the bar"] if view["bar"][side] else []
        held.append(f"{view['off'][side]} borne off")
        parts.append(f"{name}: {', '.join(held)}.")
    dice = f"Dice of {side_titles(view)[view['side']]}: {' '.join(map(str, view['dice']))}." if view["dice"] else ""
    return " ".join([*parts, dice]).rstrip()


def _describe_cards(view: CardsView) -> str:
    hands = [
        f"{point}: {f'{held} hidden cards' if isinstance(held, int) else ' '.join(held) or 'no cards'}."
        for point, held in view["hands"].items()
    ]
    trick = [f"Trick: {', '.join(f'{point} {card}' for point, card in view['trick'])}."] if view["trick"] else []
    won = f"Tricks: declarer {view['won'][0]}, defenders {view['won'][1]}."
    return " ".join([f"{view['contract']} by {view['declarer']}.", *hands, *trick, won])


def _describe_poker(view: PokerView) -> str:
    cards = [
        f"{name}: {card or 'hidden card'}, {paid} paid."
        for name, card, paid in zip(side_titles(view), view["cards"], view["paid"])
    ]
    public = [f"On the table: {', '.join(card or 'hidden card' for card in view['public'])}."] if view["public"] else []
    said = [f"Round {number}: {', '.join(actions) or 'nothing yet'}." for number, actions in enumerate(view["said"], 1)]
    return " ".join([*cards, *public, *said])


_DESCRIBERS: dict[str, Callable[[Any], str]] = {
    "cards": _describe_cards,
    "grid": _describe_grid,
    "points": _describe_points,
    "poker": _describe_poker,
    "sowing": _describe_sowing,
}
