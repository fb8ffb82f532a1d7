"""How long to think."""

from __future__ import annotations

import dataclasses

from beamzero.errors import BadInput

MAX_DEPTH = 64
"""The deepest search, in plies: what `Game.hash` may count on."""


@dataclasses.dataclass(frozen=True)
class Limit:
    """A search goes on until the first of these is reached; at least one is given."""

    depth: int | None = None
    """Plies, 1 to 64."""
    nodes: int | None = None
    """Positions looked at. The first ply is always searched to its end."""
    seconds: float | None = None
    """Time for one move. The first ply is always searched to its end."""

    def __post_init__(self) -> None:
        if self.depth is None and self.nodes is None and self.seconds is None:
            raise BadInput("a search needs a limit: depth=, nodes= or seconds=")
        if self.depth is not None and not 1 <= self.depth <= MAX_DEPTH:
            raise BadInput(f"depth is {self.depth}, but must be 1 to {MAX_DEPTH}")
        if self.nodes is not None and not 1 <= self.nodes < 2**31 - 2**20:
            raise BadInput(f"nodes is {self.nodes}, but must be 1 to {2**31 - 2**20 - 1}")
        if self.seconds is not None and not 0 < self.seconds <= 86_400:
            raise BadInput(f"seconds is {self.seconds:g}, but must be more than 0 and at most 86400")
