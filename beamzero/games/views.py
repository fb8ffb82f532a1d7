"""The types of what `Game.view` returns, by kind: JSON-able data from which the terminal and the browser draw."""

from __future__ import annotations

from typing import Literal, TypedDict

SIDE_NAMES = ("first", "second")
"""The names of the two sides where a view gives no others."""


class AnyView(TypedDict, total=False):
    """Keys that a view of any kind may have."""

    sides: list[str]  # the names of the two, such as ["White", "Black"], which are then drawn in these colours
    turn: bool  # players sit opposite each other, so the second side sees the board turned; the view never is
    note: str  # a line to stand below the board
    look: str  # the board's material: "blue", "felt" or "wood"


class PieceView(TypedDict):
    """How a piece is drawn, and which side owns it."""

    glyph: str
    side: int


class GridOptions(AnyView, total=False):
    """Keys that a grid may have. Rows are numbered and columns have letters unless they say otherwise."""

    pieces: dict[str, PieceView]  # by the texts in the cells; any other text is of no side, and drawn as it is
    checkered: bool  # squares alternate, the bottom left one dark
    letters: str  # of the columns
    names: list[list[str]]  # a text for each square, laid out as the cells
    top_first: bool  # the first row is at the top
    slanted: bool  # each row stands half a square to the right of the one below
    gravity: bool  # stones fall to the lowest free square


class GridView(GridOptions):
    """A board of squares. A place is [row, column]."""

    kind: Literal["grid"]
    rows: int
    columns: int
    cells: list[list[int | str]]
    """[rows, columns] from the bottom row up: stones are 0 for none, 1 for the first side's and 2 for the second's;
    pieces of several kinds are texts, "" for none."""


class SowingView(AnyView):
    """Houses with counts, and a store for each side. A place is [side, house]."""

    kind: Literal["sowing"]
    houses: list[list[int]]  # [2, N] from each side's own left
    stores: list[int]  # [2]
    marked: list[list[int]]  # [side, house] of those to point out


class PointsView(AnyView):
    """Backgammon's board.

    A place is [0, point] as the first side counts, [1, side] for that side's bar, and [2, side] for what it has borne
    off.
    """

    kind: Literal["points"]
    checkers: list[list[int]]  # [2, 24] on the points 1 to 24, as each side counts
    bar: list[int]  # [2]
    off: list[int]  # [2]
    dice: list[int]  # those that are still to be played
    side: int  # whose dice they are


class CardsView(AnyView):
    """Hands round a table, N, E, S and W clockwise, with only what the seat may know of them.

    A card is a text such as "SA" or "H7". A place is [suit, rank], from 0, the suits in the order S, H, D, C and the
    deuce first.
    """

    kind: Literal["cards"]
    hands: dict[str, list[str] | int]  # by hand: its cards, or how many it has where they are hidden
    voids: dict[str, list[str]]  # by hand: the suits that it is known to be out of
    seat: str | None  # the hand that looks; None for OPEN
    to_play: str | None  # None at the end
    declarer: str
    dummy: str
    defenders: list[str]
    contract: str  # such as "3NT"
    trick: list[list[str]]  # [hand, card] in the order played
    last_trick: list[list[str]]
    won: list[int]  # [2] tricks of the declarer's side and of the defenders


class PokerView(AnyView):
    """Two sides' cards, those on the table, and the betting. Moves have no places."""

    kind: Literal["poker"]
    cards: list[str | None]  # [2] such as "K"; None where it lies face down
    public: list[str | None]
    paid: list[int]  # [2] chips that each side has put in
    said: list[list[str]]  # for each round that has begun, its actions, the first side's first


class TextView(AnyView):
    """Lines of text, as `Game.show` gives them."""

    kind: Literal["text"]
    text: str


View = GridView | SowingView | PointsView | CardsView | PokerView | TextView
"""A position as data to be drawn; `kind` says which of these types it is."""


def side_names(view: View) -> tuple[str, str]:
    """Return the names of the two sides."""
    first, second = view.get("sides", SIDE_NAMES)
    return first, second
