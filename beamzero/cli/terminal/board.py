"""Positions drawn for a terminal: in colours, or with brackets and letters where there are none."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeGuard, cast

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from beamzero.cli.terminal.cards import draw_cards, has_four_hands
from beamzero.cli.terminal.palette import palette_of
from beamzero.cli.terminal.points import SIGNS, draw_points
from beamzero.cli.terminal.sowing import draw_sowing
from beamzero.games import Game, State
from beamzero.games.grid import LETTERS, STONES
from beamzero.games.views import GridView, PointsView, SowingView, View, side_names

Square = tuple[int, int]
"""Row and column, from 0 at the bottom left."""


def in_colour(console: Console) -> bool:
    """Tell whether a console shows colours."""
    return console.color_system is not None and not console.no_color


def draw_board(game: Game, state: State, before: State | None, seat: int, colour: bool) -> Text:
    """Draw the board as `seat` sees it, with what changed since `before` marked.

    A game whose kind of view is not known here shows its own text.
    """
    view = game.view(state, seat)
    earlier = None if before is None else game.view(before, seat)
    turned = bool(view.get("turn")) and seat == 1
    if view["kind"] == "sowing":
        drawn = draw_sowing(view, cast("SowingView | None", earlier), side_names(view), turned, colour)
    elif view["kind"] == "points":
        drawn = draw_points(view, cast("PointsView | None", earlier), side_names(view), turned, colour)
    elif has_four_hands(view):
        drawn = draw_cards(view, colour)
    elif _is_grid(view):
        drawn = _draw_grid(view, changed_squares(cast(GridView, earlier), view) if earlier else set(), turned, colour)
    else:
        return Text(game.show(state, seat))
    return drawn.append(f"\n {view['note']}") if view.get("note") else drawn


def side_text(game: Game, state: State, side: int, colour: bool, brief: bool = False) -> Text:
    """Write the name of a side and, unless `brief`, how to find it on the board: by its stone, colour or letters."""
    view = game.view(state)
    name = side_names(view)[side]
    if view["kind"] == "points":
        own = [Face(side, _DISC, SIGNS[side])]
    elif not _is_grid(view):
        return Text(name, "bold")
    else:
        own = [face for face in _faces(view).values() if face.side == side]
    style = palette_of(view).style(side)
    if "pieces" not in view and "sides" not in view:
        return Text(f" {own[0].glyph} ", style) if colour else Text(own[0].letter)
    if colour:
        return Text.assemble((f" {_DISC} ", style), (f" {name}", "bold"))
    if brief:
        return Text(name)
    letters = [face.letter for face in own]
    case = {"upper case": str.isupper, "lower case": str.islower}
    alike = [word for word, is_so in case.items() if "pieces" in view and all(map(is_so, letters))]
    return Text(f"{name} ({alike[0] if alike else ' '.join(letters)})")


def rolled_text(game: Game, state: State, thrown: str, colour: bool) -> Text:
    """Write which side rolled `thrown`; `state` is the one after the roll."""
    return Text.assemble(side_text(game, state, int(game.next_side(state)), colour, brief=True), f" rolls {thrown}")


# --- grids -----------------------------------------------------------------------------------------------------------

_DISC = "●"
_SOLID = str.maketrans("♔♕♖♗♘♙⛀⛁⛂⛃", "♚♛♜♝♞♟●♚●♚")
"""Outlined pieces become full ones, since colours tell the sides apart, and draughts, which few fonts have, others."""
_NO_EMOJI = "\N{VARIATION SELECTOR-15}"
"""Asks for a pawn as plain text; some terminals would draw it two cells wide."""


class Face(NamedTuple):
    """The sign of one kind of cell."""

    side: int | None
    glyph: str
    """The sign in colours."""
    letter: str
    """The sign without colours."""


def _is_grid(view: View) -> TypeGuard[GridView]:
    """Tell whether a view is a grid of stones or of pieces that can be drawn here."""
    if view["kind"] != "grid" or view["columns"] > len(LETTERS):
        return False
    return {cell for row in view["cells"] for cell in row} <= _faces(view).keys()


def _faces(view: GridView) -> dict[Any, Face]:
    """Return the sign of each kind of cell, by its value in the view."""
    if "pieces" not in view:
        discs = (_DISC, _DISC) if "sides" in view else STONES[1:]
        stones = {1 + side: Face(side, discs[side], STONES[1 + side]) for side in (0, 1)}
        return {0: Face(None, STONES[0], STONES[0]), **stones}
    pieces = {text: (piece["side"], piece["glyph"].translate(_SOLID)) for text, piece in view["pieces"].items()}
    letters = {text: text.lower() if side else text.upper() for text, (side, _) in pieces.items()}
    if len(set(letters.values())) < len(letters):
        letters = {text: text for text in letters}  # the game has a use of its own for upper and lower case
    faces = {
        text: Face(side, glyph.replace("♟", "♟" + _NO_EMOJI), letters[text]) for text, (side, glyph) in pieces.items()
    }
    return {"": Face(None, " " if view.get("checkered") else STONES[0], STONES[0]), **faces}


def changed_squares(before: GridView, after: GridView) -> set[Square]:
    """Find the squares of the last move: where a stone was put, or all that changed where stones or pieces move."""
    pairs = {
        (r, c): (was, now)
        for r, rows in enumerate(zip(before["cells"], after["cells"], strict=True))
        for c, (was, now) in enumerate(zip(*rows, strict=True))
        if was != now
    }
    put = {square: now for square, (was, now) in pairs.items() if not was}
    gone = {was for was, now in pairs.values() if not now}
    moved = "pieces" in after or not gone.isdisjoint(put.values())
    return set(put) if put and not moved else set(pairs)


def _draw_grid(view: GridView, marked: set[Square], turned: bool, colour: bool) -> Text:
    rows, columns = range(view["rows"]), range(view["columns"])
    from_top = rows if turned != bool(view.get("top_first")) else rows[::-1]
    from_left = columns[::-1] if turned else columns
    paint = _Paint(view, colour)
    numbers = [" " if "names" in view else f" {row + 1:>{len(str(len(rows)))}} " for row in rows]
    lines = []
    for row in from_top:
        squares = (paint.square(row, column, (row, column) in marked) for column in from_left)
        lines.append(Text.assemble((" " * paint.lean * row + numbers[row], "dim"), paint.edge, *squares, paint.edge))
    if paint.edge:
        width = paint.width * len(columns) + 2
        for place, row, half in ((0, from_top[0], "▄"), (len(lines) + 1, from_top[-1], "▀")):
            margin = " " * (paint.lean * row + len(numbers[row]))
            lines.insert(place, Text(margin).append(half * width, paint.palette.grounds[0]))
    if "names" not in view:
        letters = view.get("letters", LETTERS)
        names = "".join(f" {letters[column]}".ljust(paint.width) for column in from_left)
        line = Text(" " * (len(numbers[0]) + len(paint.edge)) + names.rstrip(), "dim")
        lines.insert(0 if view.get("top_first") else len(lines), line)
    if not colour:
        for line in lines:
            line.rstrip()
    return Text("\n").join(lines)


class _Paint:
    """Draws the squares of one view, all of them equally wide."""

    def __init__(self, view: GridView, colour: bool) -> None:
        self.view, self.colour, self.palette, self.faces = view, colour, palette_of(view), _faces(view)
        self.checkered, slanted = bool(view.get("checkered")), bool(view.get("slanted"))
        self.name_width = max((len(name) for row in view.get("names", []) for name in row), default=0)
        self.sign_width = max(cell_len(self.sign(face)) for face in self.faces.values()) + slanted
        self.width = self.name_width + self.sign_width + 2
        self.lean = self.width // 2 if slanted else 0
        self.edge = Text(" " if colour and not self.checkered else "", self.palette.style(None))

    def sign(self, face: Face) -> str:
        return face.glyph if self.colour else face.letter

    def square(self, row: int, column: int, marked: bool) -> Text:
        """Draw one square; a marked one has another background, or brackets where there are no colours."""
        face = self.faces[self.view["cells"][row][column]]
        name = self.view["names"][row][column].rjust(self.name_width) if self.name_width else ""
        sign = self.sign(face) if name.strip() or not self.name_width or face.side is not None else " "
        left, right = "[]" if marked and not self.colour else "  "
        text = left + sign + right + " " * (self.sign_width - cell_len(sign))
        if not self.colour:
            return Text(name + text)
        light = self.checkered and (row + column) % 2 == 1
        return Text.assemble(
            (name, self.palette.style(None, light, marked)), (text, self.palette.style(face.side, light, marked))
        )
