"""The colours of boards and of the two sides on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beamzero.games.views import View


@dataclasses.dataclass(frozen=True)
class Palette:
    """Colours of a board's squares and of what stands on them; readable whatever the terminal's own colours are."""

    grounds: tuple[str, str]
    """Backgrounds of dark and of light squares; a board that is not checkered is all dark."""
    marked: tuple[str, str] | None
    """Backgrounds where the last move was; None exchanges the square's two colours there instead."""
    dots: str
    """The colour of empty points, and of all else that is not to stand out."""
    sides: tuple[str, str]

    def style(self, side: int | None, light: bool = False, marked: bool = False) -> str:
        """Return the rich style of a square on which `side` stands, or that is empty (None)."""
        grounds = self.marked if marked and self.marked else self.grounds
        ink = self.dots if side is None else f"bold {self.sides[side]}"
        return f"{ink} on {grounds[light]}" + (" reverse" if marked and not self.marked else "")


_LIGHT, _DARK = "#ffffff", "#000000"
_NAMED = {"white": _LIGHT, "black": _DARK, "red": "#ff8a78", "yellow": "#ffd54a", "blue": "#123a9c"}
"""Colours by the names that games give their sides."""

PALETTES = {
    "blue": Palette(("#1d3f72", "#2c5590"), None, "#7f9fd0", ("#ff7a6b", "#ffd54a")),
    "felt": Palette(("#2e7d4f", "#3f8f60"), ("#7f8a2a", "#8a9433"), "#a3cfb2", (_DARK, _LIGHT)),
    "wood": Palette(("#7d5f3f", "#a98a63"), ("#7f8a2a", "#94932f"), "#d8c3a0", (_LIGHT, _DARK)),
}


def palette_of(view: View) -> Palette:
    """Return the colours of a view's board, with its sides in the colours that they are named after."""
    default = "blue" if view["kind"] == "grid" and not view.get("checkered") else "wood"
    palette = PALETTES.get(view.get("look", default), PALETTES[default])
    names: Sequence[str] = view.get("sides", ("", ""))
    first, second = (_NAMED.get(name.lower(), usual) for name, usual in zip(names, palette.sides, strict=True))
    return dataclasses.replace(palette, sides=(first, second))
