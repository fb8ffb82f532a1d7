"""Positions and values, drawn for a terminal: in colours, or with brackets and letters where there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from beamzero.games import Game, State
from beamzero.games.grid import LETTERS, STONES
from beamzero.players.analysis import MoveValue

_BOARD = "#1d3f72"
_HOLE = "#7f9fd0"
_STONE = ("#ff7a6b", "#ffd54a")
"""The colours of the two sides, readable on the board's own ground whatever the terminal's is."""

SIDES = ("first", "second")

Cells = Sequence[Sequence[int]]


def in_colour(console: Console) -> bool:
    """Whether what is printed there keeps its styles."""
    return console.color_system is not None


def side_text(game: Game, state: State, side: int, colour: bool) -> Text:
    """What a side is called: by its stones on a grid, in their colour; else first or second."""
    if _cells(game.view(state)) is None:
        return Text(SIDES[side], "bold")
    stone = STONES[side + 1]
    return Text(f" {stone} ", _stone_style(side)) if colour else Text(stone)


def draw_board(game: Game, state: State, before: State | None, seat: int, colour: bool) -> Text:
    """The board as `seat` may see it, with what changed since `before` marked.

    A game whose view is no grid of stones shows its own text.
    """
    cells = _cells(game.view(state, seat))
    if cells is None:
        return Text(game.show(state, seat))
    earlier = None if before is None else _cells(game.view(before, seat))
    return _draw_grid(cells, set() if earlier is None else _changed(earlier, cells), colour)


def _cells(view: dict[str, Any]) -> Cells | None:
    """The cells of a grid whose stones are all of one kind; None for any other view."""
    if view.get("kind") != "grid" or view["columns"] > len(LETTERS):
        return None
    return view["cells"] if all(0 <= cell < len(STONES) for row in view["cells"] for cell in row) else None


def _changed(before: Cells, after: Cells) -> set[tuple[int, int]]:
    """The squares, as row and column, where a stone was put; where none was, all that changed."""
    changed = {
        (r, c): before[r][c] for r, row in enumerate(after) for c, cell in enumerate(row) if cell != before[r][c]
    }
    return {square for square, was in changed.items() if was == 0} or set(changed)


def _draw_grid(cells: Cells, marked: set[tuple[int, int]], colour: bool) -> Text:
    margin = len(str(len(cells))) + 2
    edge = Text(" " if colour else "", f"on {_BOARD}")
    rows = []
    for row in reversed(range(len(cells))):
        squares = (_square(cell, (row, column) in marked, colour) for column, cell in enumerate(cells[row]))
        rows.append(Text.assemble((f"{row + 1:>{margin - 1}} ", "dim"), edge, *squares, edge))
    letters = "".join(f" {letter} " for letter in LETTERS[: len(cells[0])])
    rows.append(Text(" " * (margin + len(edge)) + letters, "dim"))
    if colour:
        width = len(letters) + 2 * len(edge)
        rows.insert(0, Text(" " * margin).append("▄" * width, _BOARD))
        rows.insert(-1, Text(" " * margin).append("▀" * width, _BOARD))
    else:
        for line in rows:
            line.rstrip()
    return Text("\n").join(rows)


def _square(cell: int, marked: bool, colour: bool) -> Text:
    if marked and not colour:
        return Text(f"[{STONES[cell]}]")
    style = f"{_HOLE} on {_BOARD}" if cell == 0 else _stone_style(cell - 1)
    return Text(f" {STONES[cell]} ", f"{style} reverse" if marked else style)


def _stone_style(side: int) -> str:
    return f"bold {_STONE[side]} on {_BOARD}"


def draw_values(moves: Sequence[MoveValue], policy: bool = False) -> Text:
    """A line for each move: its value as a number and a bar, its `policy` if asked for, what is best or proven."""
    width = max(4, *(len(move.move) for move in moves))
    head = f" {'move':<{width}}  value  {'loss ':>{_BAR}} {' win':<{_BAR}}" + ("  policy" if policy else "")
    return Text("\n").join(
        [Text(head.rstrip(), "dim"), *(_value_line(move, moves[0], width, policy) for move in moves)]
    )


def _value_line(move: MoveValue, best: MoveValue, width: int, policy: bool) -> Text:
    is_best = (move.policy, move.value) == (best.policy, best.value)
    line = Text.assemble(
        (f" {move.move:<{width}}", "bold" if is_best else ""),
        f"  {move.value:+z.2f}  ",
        _bar(move.value),
        f"  {move.policy:>6.1%}" if policy else "",
        ("  ◂ best", "bold green") if is_best else "",
        f"  proven {_result(move.value)}" if move.proven else "",
    )
    line.rstrip()
    return line


_BAR = 12
"""Characters on either side of a bar's middle."""


def _bar(value: float) -> Text:
    """A bar from the middle: to the right and green for a win, to the left and red for a loss."""
    halves = round(min(abs(value), 1.0) * _BAR * 2)
    full, half = divmod(halves, 2)
    left = ("▐" * half + "█" * full) if value < 0 else ""
    right = ("█" * full + "▌" * half) if value > 0 else ""
    return Text.assemble((f"{left:>{_BAR}}", "red"), ("│", "dim"), (f"{right:<{_BAR}}", "green"))


def _result(value: float) -> str:
    return {1.0: "win", 0.0: "draw", -1.0: "loss"}.get(value, "")
