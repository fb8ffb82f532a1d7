"""The options in the text that names a player."""

from __future__ import annotations

from collections.abc import Mapping

from beamzero.errors import BadInput
from beamzero.spec import Spec, convert


def take(spec: Spec, name: str, argument: str, kinds: Mapping[str, type]) -> tuple[str | None, dict]:
    """The one argument without a key, if `argument` names it and it is there, and the options as values."""
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
