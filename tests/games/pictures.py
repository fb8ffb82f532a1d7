"""Whether data has the type that is declared for it: texts, numbers, lists, dicts, and dicts with declared keys."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict


def fits(value: Any, kind: Any) -> bool:
    """Hold a value against a type, strictly: a bool is no int, and a dict has no key that its type does not name."""
    origin, inside = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        hints = get_type_hints(kind)
        known = isinstance(value, dict) and kind.__required_keys__ <= value.keys() <= hints.keys()
        return known and all(fits(part, hints[key]) for key, part in value.items())
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inside)
    if origin is Literal:
        return value in inside
    if origin is list:
        return type(value) is list and all(fits(part, inside[0]) for part in value)
    if origin is dict:
        return type(value) is dict and all(
            fits(key, inside[0]) and fits(part, inside[1]) for key, part in value.items()
        )
    return type(value) is kind
