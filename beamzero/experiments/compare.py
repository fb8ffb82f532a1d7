"""Several ways of training under one budget: the same evaluations, or the same seconds, and the same opponents after.

An evaluation is one position put to one net: V, Q, or the net that gives policy and value. What fitting costs is in the
seconds alone. Ratings, saving and compiling cost nothing, since they are no part of an algorithm. Learning rates fall
with the share of the budget that is spent.

Every training that is finished is written down, so that a comparison that was stopped goes on where it was.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import io
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax

from beamzero.arena.battle import Battle, battle
from beamzero.arena.battle_size import check_games
from beamzero.arena.playing import Play, play_games
from beamzero.arena.rating import known_elo
from beamzero.arena.round_robin import measure_anchors, rate_against_anchors
from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase
from beamzero.experiments.workers import DoJobs, Job
from beamzero.games import Game
from beamzero.nets import Net, count_parameters, make_net
from beamzero.players import Player, SearchPlayer, make_player
from beamzero.players.agent_kind import agent_kind, agent_text
from beamzero.players.trained import Trained
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.mcts.mcts import MOST_SIMULATIONS
from beamzero.search.memory import check_memory
from beamzero.storage.claim import claim_folder
from beamzero.storage.files import write_atomically, writing
from beamzero.storage.run import only_one
from beamzero.storage.seal import seal, unseal
from beamzero.training.algorithm import ALGORITHMS, Algorithm
from beamzero.training.config import Recipe, check_game, make_settings
from beamzero.training.report import Report
from beamzero.training.request import make_opponents

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
_AFTERWARDS = ("battle_games", "play_evaluations")
"""Terms that may be changed when a comparison goes on: no training depends on it."""


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The terms of a comparison: recipes, budget, measurements."""

    game: Game
    recipes: tuple[Recipe, ...]
    budget: str = "evaluations"
    amount: float = 2e7
    seeds: int = 3
    points: int = 8
    """Ratings on the way, at even steps of the budget, the last one at its end."""
    rate_games: int = 200
    """Games against each opponent in a rating."""
    rate_against: str = "auto"
    battle_games: int = 200
    """Games of each two agents against each other at the end; 0 for none."""
    play_evaluations: int = 200
    """About so many evaluations a move in these games where the agents search; they are played with one look too."""

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
        """The algorithm of a recipe; rated by one look against the opponents that all have in common, and no gate.

        A gate's games would be evaluations that are not counted.
        """
        kind = ALGORITHMS[recipe.algorithm]
        return kind(self.game, make_settings(recipe, {"rate_against": self.rate_against, **kind.compared}))

    def terms(self) -> dict[str, Any]:
        """All that the result depends on, as JSON can hold it."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        settings = {recipe.name: dataclasses.asdict(self.algorithm(recipe).settings) for recipe in self.recipes}
        return json.loads(json.dumps({**plain, "game": self.game.identity, "recipes": settings}))

    def renew(self, terms: dict[str, Any]) -> dict[str, Any]:
        """Leave out of the terms of an earlier version the settings that changed nothing."""
        kinds = {recipe.name: ALGORITHMS[recipe.algorithm].settings_type for recipe in self.recipes}
        before = {name: kinds[name].without_retired(said) for name, said in terms["recipes"].items() if name in kinds}
        return {**terms, "recipes": {**terms["recipes"], **before}}


class Point(NamedTuple):
    """A rating on the way; the fields before the scores are columns of the CSV file."""

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
        """Its Elo, or the bound that is known."""
        return known_elo(self.elo, self.low, self.high)

    @property
    def bound(self) -> str:
        """The kind of its strength: "" an Elo, ">" a lower bound, since it lost no game, "<" an upper one."""
        return "" if self.elo is not None else ">" if self.low is not None else "<"


class Compared(NamedTuple):
    """The result of a comparison."""

    points: dict[str, list[list[Point]]]
    """By recipe, then by seed."""
    parameters: dict[str, int]
    """The number of weights of all nets of a recipe."""
    battles: list[Battle]
    """Of each two recipes, agents of the same seed: all with one look, then all with a search."""


def compare(
    comparison: Comparison, folder: Path, report: OnPhase, do: DoJobs | None = None, play: Play = play_games
) -> Compared:
    """Train and measure, as far as that is not done yet; the files in `folder` say what came of it.

    `do` is who trains, if it is not this process, one after another; and `play` who plays the battles in the end.
    """
    algorithms = {recipe.name: comparison.algorithm(recipe) for recipe in comparison.recipes}
    opponents = make_opponents(next(iter(algorithms.values())).settings, comparison.game)
    check_games(comparison.game, opponents, comparison.rate_games, "rate_games")
    for recipe in comparison.recipes:
        if do is None:
            check_memory(algorithms[recipe.name].bytes_needed(), recipe.name)
        if comparison.battle_games:
            agent = _searching_agent(comparison, recipe)
            check_games(comparison.game, [agent], comparison.battle_games, "battle_games", play is not play_games)
    claim_folder(folder, "compare.json", comparison.terms(), "comparison", _AFTERWARDS, comparison.renew)
    with only_one(folder):
        trainer = _Trainer(comparison, folder, opponents, report)
        points: dict[str, list[list[Point]]] = {recipe.name: [] for recipe in comparison.recipes}
        # The recipes take turns, so that a machine that is busier later on is so for all of them.
        trainings = list(itertools.product(range(comparison.seeds), comparison.recipes))
        if do is not None:
            do([_job(comparison, folder, recipe, seed) for seed, recipe in trainings], report)
        for seed, recipe in trainings:
            points[recipe.name].append(trainer.points(recipe, algorithms[recipe.name], seed))
        finished = Compared(
            points,
            {name: _parameters(algorithm) for name, algorithm in algorithms.items()},
            _battles(comparison, folder, report, play),
        )
        _write_csv(folder / "compare.csv", finished)
    return finished


def _job(comparison: Comparison, folder: Path, recipe: Recipe, seed: int) -> Job:
    work = functools.partial(train_one, comparison, folder.absolute(), recipe, seed)
    return Job(f"{recipe.name}, seed {seed}", comparison.points, work)


def train_one(comparison: Comparison, folder: Path, recipe: Recipe, seed: int, watch: Report) -> bool:
    """Do one of the trainings, in this process or another; its files say what came of it."""
    algorithm = comparison.algorithm(recipe)
    opponents = make_opponents(algorithm.settings, comparison.game)
    return bool(_Trainer(comparison, folder, opponents, watch.phase).points(recipe, algorithm, seed))


class _Trainer:
    """Trains one agent after the other and rates it on the way."""

    def __init__(self, comparison: Comparison, folder: Path, opponents: Sequence[Player], report: OnPhase) -> None:
        self.comparison, self.folder, self.opponents, self.report = comparison, folder, opponents, report
        self._anchors: dict[str, float] | None = None
        self._compiled: set[str] = set()

    def points(self, recipe: Recipe, algorithm: Algorithm, seed: int) -> list[Point]:
        """Those of one training: out of its file, where it is finished."""
        path = self.folder / f"{recipe.name}-{seed}.json"
        if not path.exists() or not _agent_path(self.folder, recipe, seed).exists():
            points = self._train(recipe, algorithm, seed)
            with writing(str(path)):
                write_atomically(path, seal({"points": [point._asdict() for point in points]}))
        points = _read_points(path)
        of_this = all((point.recipe, point.seed) == (recipe.name, seed) for point in points)
        if len(points) != self.comparison.points or not of_this:
            raise BadInput(f"{path} is damaged: remove it, and this training is done again")
        return points

    def _train(self, recipe: Recipe, algorithm: Algorithm, seed: int) -> list[Point]:
        """From scratch to the end of the budget; the agent is written to a file."""
        budget, amount, marks = self.comparison.budget, self.comparison.amount, self.comparison.points
        init_key, key = jax.random.split(jax.random.key(seed))
        state = jax.jit(algorithm.init)(init_key)
        spent = {"evaluations": 0.0, "seconds": 0.0, "games": 0.0}

        def on_progress(name: str, done: int, total: int) -> None:
            self.report(f"{recipe.name}, seed {seed}, {100 * spent[budget] / amount:.0f}%: {name}", done, total)

        if recipe.name not in self._compiled:
            algorithm.iterate(state, 0, key, on_progress)  # to compile everything, at no cost
            self._compiled.add(recipe.name)
        points: list[Point] = []
        iteration = 0
        while spent[budget] < amount:
            state, record = algorithm.iterate(state, iteration, key, on_progress, spent[budget] / amount)
            iteration += 1
            spent["evaluations"] += record["evaluations"] + record.get("looks", 0)
            spent["seconds"] += sum(record["seconds"].values())
            spent["games"] += record["games"]
            passed = min(marks, int(marks * spent[budget] / amount))
            if passed > len(points):
                elo, low, high, scores = self._rate(algorithm.player(state), seed + iteration, on_progress)
                so_far = int(spent["games"]), int(spent["evaluations"]), spent["seconds"]
                point = Point(recipe.name, seed, iteration, *so_far, elo, low, high, scores)
                # One iteration may pass several marks: the agent is the same at all of them.
                points += [point] * (passed - len(points))
        info = {
            "game": self.comparison.game.identity, "algorithm": recipe.algorithm, "recipe": recipe.name, "seed": seed,
            "settings": dataclasses.asdict(algorithm.settings), "iterations": iteration,
        }  # fmt: skip
        path = _agent_path(self.folder, recipe, seed)
        Trained.from_tree(self.comparison.game, state.as_tree(), info, str(path)).save(path)
        return points

    def _rate(
        self, player: Player, seed: int, on_progress: OnPhase
    ) -> tuple[float | None, float | None, float | None, dict]:
        game = self.comparison.game
        if self._anchors is None:
            self._anchors = measure_anchors(
                game, self.opponents, 400, 0, lambda _, done, total: on_progress("measuring opponents", done, total)
            )
        rating, battles = rate_against_anchors(
            game, player, self.opponents, self._anchors, self.comparison.rate_games, seed,
            lambda _, done, total: on_progress("rating", done, total),
        )  # fmt: skip
        return rating.elo, rating.low, rating.high, {name: played.score for name, played in battles.items()}


def _read_points(path: Path) -> list[Point]:
    """The points in a file; none where it is damaged. Version 0.1 wrote a list without a seal."""
    try:
        data = path.read_bytes()
        rows = json.loads(data) if data.startswith(b"[") else unseal(data)["points"]
        points = [Point(**row) for row in rows]
        return points if all(map(_is_whole, points)) else []
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []


def _is_whole(point: Point) -> bool:
    """Whether what a file says is a point."""
    spent = (point.iteration, point.games, point.evaluations, point.seconds)
    known = [x for x in (point.elo, point.low, point.high) if x is not None]
    numbers = [*spent, *known, *(point.scores.values() if isinstance(point.scores, dict) else [None])]
    return all(isinstance(number, (int, float)) for number in numbers)


def _agent_path(folder: Path, recipe: Recipe, seed: int) -> Path:
    return folder / f"{recipe.name}-{seed}.safetensors"


def _parameters(algorithm: Algorithm) -> int:
    places = algorithm.agent.nets.values()
    nets = [Net(algorithm.game, make_net(getattr(algorithm.settings, one.setting)), one.head) for one in places]
    return sum(count_parameters(net.shapes()) for net in nets)


def _battles(comparison: Comparison, folder: Path, report: OnPhase, play: Play) -> list[Battle]:
    """Every two recipes, the agents of the same seed: with one look, and with a search."""
    recipes = comparison.recipes
    pairs = [(one, other) for number, one in enumerate(recipes) for other in recipes[number + 1 :]]
    found = []
    for searching in (False, True) if comparison.battle_games else ():
        for one, other in pairs:
            for seed in range(comparison.seeds):
                players = [
                    make_player(_agent_text(comparison, folder, recipe, seed, searching), comparison.game)
                    for recipe in (one, other)
                ]
                title = f"{one.name} v {other.name}, seed {seed}" + (", searching" if searching else "")
                found.append(
                    battle(
                        comparison.game, players[0], players[1], comparison.battle_games, seed=seed,
                        progress=lambda done, total: report(title, done, total), play=play,
                    )
                )  # fmt: skip
    return found


def _searching_agent(comparison: Comparison, recipe: Recipe) -> Player:
    """An agent of the recipe without its nets, whose search takes no more memory than that of `_agent_text`."""
    game, evaluations = comparison.game, comparison.play_evaluations
    search = agent_kind(recipe.algorithm).search_at_budget(game, evaluations)
    return SearchPlayer(f"play_evaluations {evaluations}", game, search, zero_evaluator(game))


def _agent_text(comparison: Comparison, folder: Path, recipe: Recipe, seed: int, searching: bool) -> str:
    """The agent of a training, with a search of about the wanted number of evaluations a move, if it is to search."""
    kind = agent_kind(recipe.algorithm)
    options = kind.at_budget(comparison.game, comparison.play_evaluations) if searching else {}
    return agent_text(recipe.algorithm, str(_agent_path(folder, recipe, seed)), options)


def _write_csv(path: Path, finished: Compared) -> None:
    points = [point for runs in finished.points.values() for run in runs for point in run]
    columns = Point._fields[:-1]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, *(f"score against {opponent}" for opponent in points[0].scores)])
    writer.writerows([*(getattr(point, name) for name in columns), *point.scores.values()] for point in points)
    with writing(str(path)):
        write_atomically(path, text.getvalue())
