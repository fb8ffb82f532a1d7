"""The colours of boards: what a board is made of, and how its two sides stand out on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beamzero.games.views import View


@dataclasses.dataclass(frozen=True)
class Look:
    """Grounds, and what is drawn on them; readable whatever the terminal's own colours are."""

    grounds: tuple[str, str]
    """Dark and light squares; a board that is not checkered is all dark."""
    marked: tuple[str, str] | None
    """The same where the last move was; None turns the square's two colours round."""
    dots: str
    """Empty points, and whatever else is not to stand out."""
    sides: tuple[str, str]

    def style(self, side: int | None, light: bool = False, marked: bool = False) -> str:
        """How a square is drawn that `side` stands on, or nobody (None)."""
        grounds = self.marked if marked and self.marked else self.grounds
        ink = self.dots if side is None else f"bold {self.sides[side]}"
        return f"{ink} on {grounds[light]}" + (" reverse" if marked and not self.marked else "")


_LIGHT, _DARK = "#ffffff", "#000000"
_NAMED = {"white": _LIGHT, "black": _DARK, "red": "#ff8a78", "yellow": "#ffd54a", "blue": "#123a9c"}
"""The colours after which players call their sides."""

LOOKS = {
    "blue": Look(("#1d3f72", "#2c5590"), None, "#7f9fd0", ("#ff7a6b", "#ffd54a")),
    "felt": Look(("#2e7d4f", "#3f8f60"), ("#7f8a2a", "#8a9433"), "#a3cfb2", (_DARK, _LIGHT)),
    "wood": Look(("#7d5f3f", "#a98a63"), ("#7f8a2a", "#94932f"), "#d8c3a0", (_LIGHT, _DARK)),
}


def look_of(view: View) -> Look:
    """What the board of a view is made of, with its sides in the colours they are named after."""
    natural = "blue" if view["kind"] == "grid" and not view.get("checkered") else "wood"
    look = LOOKS.get(view.get("look", natural), LOOKS[natural])
    names: Sequence[str] = view.get("sides", ("", ""))
    first, second = (_NAMED.get(name.lower(), usual) for name, usual in zip(names, look.sides, strict=True))
    return dataclasses.replace(look, sides=(first, second))
