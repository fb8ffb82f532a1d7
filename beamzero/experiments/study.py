"""Studies: trainings that can be done one at a time, how they are shown, and what each agent is tried in."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

ITSELF = "itself"
"""In place of an opponent: the same agent with one look."""
SOLVED = "solved positions"
"""In place of an opponent: positions whose best moves are known; the agent's errors are counted."""


@dataclasses.dataclass(frozen=True)
class Piece:
    """One training."""

    recipe: str
    labels: Mapping[str, str]
    """In what it differs from other pieces of its study, the seed aside."""
    changes: Mapping[str, Any]
    """Settings that are not the recipe's."""
    seed: int

    @property
    def name(self) -> str:
        """Its folder, such as net_small-E_10-M_2-seed_0."""
        words = [f"{key}_{value}" for key, value in {**self.labels, "seed": self.seed}.items()]
        return "-".join(words).replace(" ", "_")


@dataclasses.dataclass(frozen=True)
class Panel:
    """One picture of a figure: a line for each value of the label `by`, over all pieces that have it; one for none."""

    title: str
    by: str | None = None
    where: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    """By label: the values that a piece must have one of to be shown."""

    def shows(self, piece: Piece) -> bool:
        return all(piece.labels[label] in values for label, values in self.where.items())


@dataclasses.dataclass(frozen=True)
class Trial:
    """A battle of every agent once it is trained, or its share of errors in solved positions."""

    opponent: str
    games: int
    """Or positions of each class."""
    search: str = ""
    """Options with which the agent plays; it has one look without any."""
    published: float | None = None
    """The number that was published."""

    @property
    def title(self) -> str:
        how = self.search or "one look"
        return f"{how} in {SOLVED}" if self.opponent == SOLVED else f"{how} against {self.opponent}"

    @property
    def measures(self) -> str:
        """Its number: "errors" or "score"."""
        return "errors" if self.opponent == SOLVED else "score"


@dataclasses.dataclass(frozen=True)
class Study:
    """The pieces of a figure, how it is drawn, and what was published of it."""

    name: str
    about: str
    pieces: tuple[Piece, ...]
    panels: tuple[Panel, ...]
    trials: tuple[Trial, ...] = ()
    anchors: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Elo that was published for the opponents of the ratings."""
    alike: bool = True
    """Whether the pieces that are shown are alike enough for a mean over all of them."""
    turns: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """By recipe: how many turns games had on average, as published."""
