"""Comparisons: the terms, the points of a training, the result, and their files."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from beamzero.arena.battle import Battle
from beamzero.arena.rating import known_elo
from beamzero.core.errors import BadInput
from beamzero.games import Game
from beamzero.search.mcts.mcts import MOST_SIMULATIONS
from beamzero.storage.files import write_atomically, writing
from beamzero.storage.seal import seal, unseal
from beamzero.training.algorithm import ALGORITHMS, Algorithm
from beamzero.training.recipes import Recipe, check_game, make_settings

BUDGETS = ("evaluations", "seconds")

_RANGES: dict[str, tuple[float, float]] = {
    "amount": (1, 1e15),
    "seeds": (1, 1000),
    "points": (1, 1000),
    "rate_games": (2, 10**6),
    "battle_games": (0, 10**6),
    "play_evaluations": (1, MOST_SIMULATIONS),
}
_EVEN = ("rate_games", "battle_games")
AFTERWARDS = ("battle_games", "play_evaluations")
"""Terms that may be changed when a comparison goes on: no training depends on them."""


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The terms of a comparison: recipes, budget, measurements."""

    game: Game
    recipes: tuple[Recipe, ...]
    budget: str = "evaluations"
    amount: float = 2e7
    seeds: int = 3
    points: int = 8
    """Ratings of a training, at even steps of the budget, the last one at its end."""
    rate_games: int = 200
    """Games against each opponent in a rating."""
    rate_against: str = "auto"
    battle_games: int = 200
    """Games of each two agents against each other at the end; 0 for none."""
    play_evaluations: int = 200
    """About so many evaluations a move where agents search in these games; they are played with one look too."""

    def __post_init__(self) -> None:
        if self.budget not in BUDGETS:
            raise BadInput(f"the budget is {self.budget!r}, but must be {' or '.join(BUDGETS)}")
        names = [recipe.name for recipe in self.recipes]
        if len(names) < 2 or len(set(names)) < len(names):
            raise BadInput(f"two recipes or more can be compared, and none twice, but these are: {' '.join(names)}")
        for name, (low, high) in _RANGES.items():
            if not low <= getattr(self, name) <= high:
                raise BadInput(f"{name} is {getattr(self, name):g}, but must be {low:g} to {high:g}")
        for name in _EVEN:
            if getattr(self, name) % 2:
                raise BadInput(f"{name} is {getattr(self, name)}, but must be even: openings are played twice")
        for recipe in self.recipes:
            check_game(recipe, self.game)

    def algorithm(self, recipe: Recipe) -> Algorithm:
        """Make the algorithm of a recipe; rated by one look against the opponents that all have in common, and no gate.

        A gate's games would be evaluations that are not counted.
        """
        kind = ALGORITHMS[recipe.algorithm]
        return kind(self.game, make_settings(recipe, {"rate_against": self.rate_against, **kind.compared}))

    def terms(self) -> dict[str, Any]:
        """Give all that the result depends on, as JSON can hold it."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        settings = {recipe.name: dataclasses.asdict(self.algorithm(recipe).settings) for recipe in self.recipes}
        return json.loads(json.dumps({**plain, "game": self.game.identity, "recipes": settings}))

    def renew(self, terms: dict[str, Any]) -> dict[str, Any]:
        """Leave out of the terms of an earlier version the settings that changed nothing."""
        kinds = {recipe.name: ALGORITHMS[recipe.algorithm].settings_type for recipe in self.recipes}
        before = {name: kinds[name].without_retired(one) for name, one in terms["recipes"].items() if name in kinds}
        return {**terms, "recipes": {**terms["recipes"], **before}}


class Point(NamedTuple):
    """A rating of a training; the fields before the scores are columns of the CSV file."""

    recipe: str
    seed: int
    iteration: int
    games: int
    evaluations: int
    seconds: float
    elo: float | None
    low: float | None
    high: float | None
    scores: dict[str, float]

    @property
    def strength(self) -> float:
        """Give its Elo, or the bound that is known."""
        return known_elo(self.elo, self.low, self.high)

    @property
    def bound(self) -> str:
        """Tell the kind of its strength: "" an Elo, ">" a lower bound, since it lost no game, "<" an upper one."""
        return "" if self.elo is not None else ">" if self.low is not None else "<"


class Compared(NamedTuple):
    """The result of a comparison."""

    points: dict[str, list[list[Point]]]
    """The points of each training, by recipe, then by seed."""
    parameters: dict[str, int]
    """The number of weights of all nets of a recipe."""
    battles: list[Battle]
    """Battles of each two recipes, between agents of the same seed: all with one look, then all with a search."""


def read_points(path: Path) -> list[Point]:
    """Read the points of a training; none where the file is damaged. Version 0.1 wrote a list without a seal."""
    try:
        data = path.read_bytes()
        rows = json.loads(data) if data.startswith(b"[") else unseal(data)["points"]
        points = [Point(**row) for row in rows]
        return points if all(map(_is_whole, points)) else []
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []


def _is_whole(point: Point) -> bool:
    """Tell whether the fields of a point in a file have the right types."""
    spent = (point.iteration, point.games, point.evaluations, point.seconds)
    known = [x for x in (point.elo, point.low, point.high) if x is not None]
    numbers = [*spent, *known, *(point.scores.values() if isinstance(point.scores, dict) else [None])]
    return all(isinstance(number, (int, float)) for number in numbers)


def write_points(path: Path, points: Sequence[Point]) -> None:
    """Write the points of a training that is finished."""
    with writing(str(path)):
        write_atomically(path, seal({"points": [point._asdict() for point in points]}))


def write_csv(path: Path, finished: Compared) -> None:
    """Write all points as a table."""
    points = [point for runs in finished.points.values() for run in runs for point in run]
    columns = Point._fields[:-1]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, *(f"score against {opponent}" for opponent in points[0].scores)])
    writer.writerows([*(getattr(point, name) for name in columns), *point.scores.values()] for point in points)
    with writing(str(path)):
        write_atomically(path, text.getvalue())
