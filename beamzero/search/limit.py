"""The limit of a search: depth, nodes, seconds, evaluations."""

from __future__ import annotations

import dataclasses

from beamzero.core.errors import BadInput

MAX_DEPTH = 64
"""The deepest search, in plies; `Game.hash` may rely on it."""


@dataclasses.dataclass(frozen=True)
class Limit:
    """Bounds of a search, which goes on until the first of them is reached, or until it has nothing left to do.

    >>> import jax
    >>> import beamzero as bz
    >>> player = bz.make_player("alphabeta:depth=9", "tic_tac_toe")
    >>> found = player.consider(player.game.position("a1").state, jax.random.key(0), bz.Limit(depth=2))
    >>> found.depth
    2
    >>> bz.Limit(seconds=1, nodes=5000).within(bz.Limit(nodes=100))
    Limit(depth=None, nodes=100, seconds=1, evaluations=None)
    """

    depth: int | None = None
    """Plies, 1 to 64, of a search that goes deeper and deeper; others have no depth."""
    nodes: int | None = None
    """Positions made, or looked at by a search that counts those. The first unit of work is always done."""
    seconds: float | None = None
    """Time for one move. The first unit of work is always done."""
    evaluations: int | None = None
    """Positions put to the evaluator. The first unit of work is always done."""

    def __post_init__(self) -> None:
        if self.depth is not None and not 1 <= self.depth <= MAX_DEPTH:
            raise BadInput(f"depth is {self.depth}, but must be 1 to {MAX_DEPTH}")
        for name in ("nodes", "evaluations"):
            number = getattr(self, name)
            if number is not None and not 1 <= number < 2**31 - 2**20:
                raise BadInput(f"{name} is {number}, but must be 1 to {2**31 - 2**20 - 1}")
        if self.seconds is not None and not 0 < self.seconds <= 86_400:
            raise BadInput(f"seconds is {self.seconds:g}, but must be more than 0 and at most 86400")

    def __bool__(self) -> bool:
        """Tell whether there is any bound."""
        return any(bound is not None for bound in dataclasses.astuple(self))

    def within(self, other: Limit | None) -> Limit:
        """Make the limit that is reached as soon as this one is, or the `other`."""
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other or Limit()), strict=True)
        return Limit(*(min((x for x in pair if x is not None), default=None) for pair in pairs))
