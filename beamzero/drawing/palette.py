"""The colours of boards and sides, as the page in the browser has them by day."""

from __future__ import annotations

from typing import NamedTuple

from beamzero.games.views import View

INK = "#23262b"
DIM = "#5b616b"
PAPER = "#ffffff"

_NAMED = {"black": "#1d1f21", "white": "#f7f5ef", "red": "#d8433b", "yellow": "#f2c230", "blue": "#2f6fd0"}


class Material(NamedTuple):
    """Colours of what a board is made of."""

    edge: str
    """Around the squares."""
    light: str
    dark: str
    """Of squares; a board that is not checkered is all dark."""
    line: str
    line_width: float
    """Between the squares."""
    ink: str
    """Of coordinates."""
    sides: tuple[str, str]
    """Names of the usual colours of the two sides."""


MATERIALS = {
    "blue": Material("#17346b", "#e9eef8", "#e9eef8", "#17418f", 5, "#efe6d6", ("red", "yellow")),
    "felt": Material("#23382c", "#3a9465", "#2c8255", "#1d5a3a", 3, "#efe6d6", ("black", "white")),
    "wood": Material("#dcb376", "#dcb376", "#dcb376", "#7a5b33", 2, "#4a3518", ("white", "black")),
    "board": Material("#6f4e31", "#ecd9b9", "#b1845a", "none", 0, "#efe6d6", ("white", "black")),
    "paper": Material(PAPER, PAPER, PAPER, DIM, 3, DIM, ("blue", "red")),
    "cells": Material(PAPER, "#efe9dc", "#efe9dc", "#8b8576", 3, DIM, ("red", "blue")),
}


def material_name(view: View) -> str:
    """Name what the board of a view is made of: what it says, or what is usual for its kind."""
    look = view.get("look", "")
    if look in MATERIALS and look != "wood":
        return look
    if view["kind"] == "cards":
        return "felt"
    if view["kind"] != "grid":
        return "wood"
    if view.get("checkered"):
        return "board"
    usual = "blue" if view.get("gravity") else "cells" if view.get("slanted") else "paper"
    return look or usual if look in MATERIALS else usual


def side_colours(view: View) -> tuple[str, str]:
    """Return the colours of the two sides: those that they are named after, or the material's."""
    usual = MATERIALS[material_name(view)].sides
    names = view.get("sides", usual)
    first, second = (_NAMED.get(name.lower(), _NAMED[other]) for name, other in zip(names, usual, strict=True))
    return first, second


def contrast(colour: str) -> str:
    """Return what can be read on a colour, given as #rrggbb: nearly black or nearly white."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#26282b" if 0.3 * red + 0.6 * green + 0.1 * blue > 140 else "#e9e4da"


def blend(first: str, second: str, part: float) -> str:
    """Mix two colours, given as #rrggbb: the first at 0, the second at 1."""
    pairs = [(int(first[start : start + 2], 16), int(second[start : start + 2], 16)) for start in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)
