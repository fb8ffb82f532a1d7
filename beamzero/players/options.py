"""Options in the text that names a player."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.core.spec import Spec, convert
from beamzero.search.limit import Limit

LIMIT_OPTIONS: Mapping[str, type] = {"seconds": float, "nodes": int, "evaluations": int}
"""The options that limit a search of any kind."""

ROOM = 20_000
"""The default size, in units of work, of a tree that grows until a limit."""

_LONGEST_SECONDS = 3600.0


def take(spec: Spec, name: str, argument: str, kinds: Mapping[str, type]) -> tuple[str | None, dict]:
    """Read the one argument without a key, if `argument` names it and it is there, and the options as values."""
    if len(spec.arguments) > (1 if argument else 0):
        allowed = f"{spec.head}:{argument.upper()}" if argument else spec.head
        raise BadInput(f"cannot read {spec.arguments[-1]!r} in the agent {name!r}: write {allowed}")
    for key in spec.options:
        if key not in kinds:
            raise BadInput(f"{spec.head} has no option {key!r} (it has: {', '.join(kinds) or 'none'})")
    options = {key: convert(value, kinds[key], f"{name}: {key}") for key, value in spec.options.items()}
    if spec.arguments and argument in options:
        raise BadInput(f"{argument} is given twice in {name!r}")
    return (spec.arguments[0] if spec.arguments else None), options


def take_limit(name: str, options: Mapping[str, Any]) -> Limit | None:
    """Read the limit that the options of the player called `name` give; None where they give none."""
    seconds = options.get("seconds")
    if seconds is not None and not 0 < seconds <= _LONGEST_SECONDS:
        raise BadInput(f"{name}: seconds is {seconds:g}, but must be more than 0, at most {_LONGEST_SECONDS:g}")
    try:
        return Limit(**{key: options[key] for key in LIMIT_OPTIONS if key in options}) or None
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None
