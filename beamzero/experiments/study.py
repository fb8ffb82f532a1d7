"""Studies: training runs that can be done one at a time, how they are shown, and the trials of each agent."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

ITSELF = "itself"
"""In place of an opponent: the same agent with one look."""
SOLVED = "solved positions"
"""In place of an opponent: positions whose best moves are known; the agent's errors are counted."""


@dataclasses.dataclass(frozen=True)
class StudyRun:
    """One training run of a study."""

    recipe: str
    labels: Mapping[str, str]
    """Its differences from other runs of its study, the seed aside."""
    changes: Mapping[str, Any]
    """Settings that are not the recipe's."""
    seed: int

    @property
    def name(self) -> str:
        """Name its folder, such as net_small-E_10-M_2-seed_0."""
        words = [f"{key}_{value}" for key, value in {**self.labels, "seed": self.seed}.items()]
        return "-".join(words).replace(" ", "_")


@dataclasses.dataclass(frozen=True)
class Panel:
    """One picture of a figure: a line for each value of the label `by`, over all runs that have it; one for none."""

    title: str
    by: str | None = None
    where: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    """By label: the values that a run must have one of to be shown."""

    def shows(self, run: StudyRun) -> bool:
        """Tell whether a run is shown."""
        return all(run.labels[label] in values for label, values in self.where.items())


@dataclasses.dataclass(frozen=True)
class Trial:
    """A battle of every agent once it is trained, or its share of errors in solved positions."""

    opponent: str
    games: int
    """The number of games, or of positions of each class."""
    search: str = ""
    """Options with which the agent plays; it has one look without any."""
    published: float | None = None
    """The number that was published."""

    @property
    def title(self) -> str:
        """Say for people what is tried."""
        how = self.search or "one look"
        return f"{how} in {SOLVED}" if self.opponent == SOLVED else f"{how} against {self.opponent}"

    @property
    def measures(self) -> str:
        """Name its number: "errors" or "score"."""
        return "errors" if self.opponent == SOLVED else "score"


@dataclasses.dataclass(frozen=True)
class Study:
    """The runs of a figure, how it is drawn, and the published numbers."""

    name: str
    about: str
    runs: tuple[StudyRun, ...]
    panels: tuple[Panel, ...]
    trials: tuple[Trial, ...] = ()
    anchors: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Elo that was published for the opponents of the ratings."""
    alike: bool = True
    """Whether the runs that are shown are alike enough for a mean over all of them."""
    turns: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """By recipe: the published mean number of turns of a game."""
