"""The places of a move on a drawn board, found by comparing the boards before and after it."""

from __future__ import annotations

from beamzero.games.views import GridView, View

Place = list[int]
"""Row and column on a grid, side and house on a sowing board; as `Game.view` counts them."""


def seen_places(before: View, after: View, side: int) -> list[Place]:
    """Guess where `side` put a stone, or from where to where it moved one; none where the boards show neither.

    Right where one stone or piece is put, or one moves; captures are not looked at. What belongs to no side, such as a
    wall, is looked at where `side` has put nothing of its own.
    """
    if before["kind"] == "grid" and after["kind"] == "grid":
        return _seen_on_grid(before, after, side)
    if before["kind"] == "sowing" and after["kind"] == "sowing":
        own = zip(before["houses"][side], after["houses"][side], strict=True)
        return [[side, house] for house, (was, now) in enumerate(own) if now < was][:1]
    return []


def _seen_on_grid(before: GridView, after: GridView, side: int) -> list[Place]:
    was, now = _own(before, side), _own(after, side)
    left, come = sorted(was - now), sorted(now - was)
    if len(left) == 1 and come:
        return [list(left[0]), list(come[0])]
    put = [square for square in come if not before["cells"][square[0]][square[1]]]
    unowned = _own(after, None) - _own(before, None)
    if not come and not left and len(unowned) == 1:
        put = list(unowned)
    return [list(put[0])] if put and not left else []


def _own(view: GridView, side: int | None) -> set[tuple[int, int]]:
    """List the squares, as (row, column), that `side` stands on; None for those with something of no side."""
    pieces = view.get("pieces", {})

    def owner(cell: int | str) -> int | None:
        return cell - 1 if isinstance(cell, int) else pieces[cell]["side"] if cell in pieces else None

    return {
        (row, column)
        for row, cells in enumerate(view["cells"])
        for column, cell in enumerate(cells)
        if cell and owner(cell) == side
    }
