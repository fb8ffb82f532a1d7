"""SVG as text: elements, escaped words and short numbers, in ASCII."""

from __future__ import annotations

import re
from typing import NewType

Markup = NewType("Markup", str)
"""A piece of SVG in which every text is escaped already."""

Attribute = str | float | None
Style = dict[str, Attribute]
"""Attributes of an element by name, with `_` for `-` and `class_` for `class`."""

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
MONOSPACED = "'DejaVu Sans Mono', Menlo, Consolas, monospace"

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
_CENTRAL = 0.35  # of its size, from the middle of a capital letter to the line that it stands on


def escape(text: str) -> Markup:
    """Write a text for XML, in ASCII. Characters that XML cannot hold become question marks."""
    escaped = _NOT_XML.sub("?", text).translate(_ESCAPES)
    return Markup(escaped.encode("ascii", "xmlcharrefreplace").decode())


def write_number(number: float) -> str:
    """Write a number with at most two decimals."""
    return f"{number:z.2f}".rstrip("0").rstrip(".")


def element(name: str, /, *children: Markup, **attributes: Attribute) -> Markup:
    """Write an element with attributes as a `Style` has them; those that are None are left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value) if isinstance(value, str) else write_number(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>")


def group(*children: Markup, **attributes: Attribute) -> Markup:
    """Join elements to a group."""
    return element("g", *children, **attributes)


def move_to(x: float, y: float, /, *children: Markup, **attributes: Attribute) -> Markup:
    """Join elements that are drawn around (0, 0) to a group around (x, y)."""
    return group(*children, **attributes, transform=f"translate({write_number(x)} {write_number(y)})")


def box(x: float, y: float, width: float, height: float, /, **attributes: Attribute) -> Markup:
    """Draw a rectangle by its upper left corner."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def circle(x: float, y: float, radius: float, /, **attributes: Attribute) -> Markup:
    """Draw a circle by its middle."""
    return element("circle", cx=x, cy=y, r=radius, **attributes)


def polygon(corners: list[tuple[float, float]], /, **attributes: Attribute) -> Markup:
    """Draw a polygon by its corners."""
    points = " ".join(f"{write_number(x)},{write_number(y)}" for x, y in corners)
    return element("polygon", points=points, **attributes)


def path(way: str, /, **attributes: Attribute) -> Markup:
    """Draw a path."""
    return element("path", d=way, **attributes)


def label(x: float, y: float, text: str, size: float, /, **attributes: Attribute) -> Markup:
    """Write a text whose capital letters have their middle at the height y; in the middle of x unless anchored."""
    style: Style = {"text_anchor": "middle", "font_family": FONT, "font_size": size, **attributes}
    return element("text", escape(text), x=x, y=y + _CENTRAL * size, **style)
