"""The text that names a thing with parameters: ``name:key=value,key="a value, quoted"``.

Games, agents and nets all go by it, so that one line of text is enough to say exactly what was meant.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from beamzero.core.errors import BadInput

Scalar = bool | int | float | str

# No repetition is ever taken back, so that a long text takes no longer than it is long.
_PART = re.compile(
    r'\s*+(?:(?P<key>[A-Za-z_]\w*+)\s*+=\s*+)?(?P<value>"(?:[^"\\]|\\.)*+"\s*+|[^,"]*+)(?:,|$)',
)


@dataclasses.dataclass(frozen=True)
class Spec:
    """A parsed name: `head` before the first colon, then `arguments` without a key and `options` with one."""

    head: str
    arguments: tuple[str, ...] = ()
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)


def parse(text: str) -> Spec:
    """Take ``head:argument,key=value`` apart. Values stay text; a key given twice is an error."""
    head, _, tail = text.strip().partition(":")
    arguments: list[str] = []
    options: dict[str, str] = {}
    position = 0
    while position < len(tail):
        match = _PART.match(tail, position)
        if match is None or match.end() == position:
            raise BadInput(f"cannot read {tail[position:]!r} in {text!r}: write name:key=value, quoting commas")
        value = match["value"].strip()
        if value.startswith('"'):
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        if match["key"] is None:
            arguments.append(value)
        elif match["key"] in options:
            raise BadInput(f"{match['key']!r} is given twice in {text!r}")
        else:
            options[match["key"]] = value
        position = match.end()
    return Spec(head, tuple(arguments), options)


def quote(value: Scalar) -> str:
    """Write a value as text that `parse` and `convert` read back."""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if not re.search(r'[,"\s]', text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def convert(text: str, kind: type, what: str) -> Any:
    """Convert `text` to a value of `kind` (bool, int, float or str); `what` names it in the error."""
    try:
        if kind is bool:
            return {"true": True, "false": False, "1": True, "0": False}[text.strip().lower()]
        return kind(text)
    except (KeyError, ValueError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[kind]
        raise BadInput(f"{what} is {text!r}, but must be {wanted}") from None


def parse_options(options: Mapping[str, Any], kind: type, what: str) -> dict[str, Any]:
    """Convert `options` to values for the fields of the dataclass `kind`; unknown keys are refused."""
    types = field_types(kind)
    values = {}
    for key, value in options.items():
        if key not in types:
            raise BadInput(f"{what} has no setting {key!r} (it has: {', '.join(types) or 'none'})")
        values[key] = convert(value if isinstance(value, str) else quote(value), types[key], f"{what}: {key}")
    return values


def field_types(kind: type) -> dict[str, type]:
    """List the fields of a dataclass by name, with their types (bool, int, float or str)."""
    if not dataclasses.is_dataclass(kind):
        return {}
    return {field.name: _type_of(kind, field) for field in dataclasses.fields(kind)}


def _type_of(kind: type, field: dataclasses.Field[Any]) -> type:
    """Find the type that an annotation stands for; KeyError where it is not known."""
    kinds: dict[Any, type] = {"bool": bool, "int": int, "float": float, "str": str}
    if field.type in kinds:
        return kinds[field.type]
    if isinstance(field.type, type):
        return field.type
    try:  # another name of a type
        found: type = typing.get_type_hints(kind)[field.name]
    except (NameError, TypeError) as error:
        raise KeyError(str(error)) from None
    return found


def unknown(kind: str, name: str, known: Iterable[str], listed: Iterable[str] | None = None) -> BadInput:
    """Make the error for a name that does not exist, which lists the nearest one and then all of them.

    `listed` stands in place of all, where they are too many to be read.
    """
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return BadInput(f"unknown {kind} {name!r}{hint} ({list_of(known if listed is None else listed)})")


def list_of(known: Iterable[str]) -> str:
    """List what there is, as errors say it: ``there are: a, b``, or ``there are none``."""
    names = ", ".join(known)
    return f"there are: {names}" if names else "there are none"
