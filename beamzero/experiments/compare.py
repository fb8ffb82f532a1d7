"""Compares ways of training under one budget: the same evaluations, or the same seconds, and the same opponents.

An evaluation is one position put to one net: V, Q, or the net that gives policy and value. The cost of fitting is in
the seconds alone. Ratings, saving and compiling cost nothing, since they are no part of an algorithm. Learning rates
fall with the share of the budget that is spent.

Every training that is finished is written down, so that a comparison that was stopped goes on where it was:

    FOLDER/
      compare.json                what is compared, and how
      RECIPE-SEED.json            the ratings of a training that is finished
      RECIPE-SEED.safetensors     its agent
      compare.csv                 all ratings
      compare.png                 the curves
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from pathlib import Path

import jax

from beamzero.arena.battle import Battle, battle
from beamzero.arena.battle_size import check_games
from beamzero.arena.playing import Play, play_games
from beamzero.arena.round_robin import measure_anchors, rate_against_anchors
from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase
from beamzero.experiments.comparison import (
    AFTERWARDS,
    Compared,
    Comparison,
    Point,
    read_points,
    write_csv,
    write_points,
)
from beamzero.experiments.workers import DoJobs, Job
from beamzero.nets import Net, count_parameters, make_net
from beamzero.players import Player, SearchPlayer, make_player
from beamzero.players.agent_kind import agent_kind, agent_text
from beamzero.players.trained import Trained
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.memory import check_memory
from beamzero.storage.folders import only_one, prepare_folder
from beamzero.training.algorithm import Algorithm
from beamzero.training.measure import make_opponents
from beamzero.training.recipes import Recipe
from beamzero.training.report import Report


def compare(
    comparison: Comparison, folder: Path, report: OnPhase, do: DoJobs | None = None, play: Play = play_games
) -> Compared:
    """Train and measure, as far as that is not done yet; the results are files in `folder`.

    `do` does the trainings; without it this process does, one after another. `play` plays the battles in the end.
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
    prepare_folder(folder, "compare.json", comparison.terms(), "comparison", AFTERWARDS, comparison.renew)
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
        write_csv(folder / "compare.csv", finished)
    return finished


def _job(comparison: Comparison, folder: Path, recipe: Recipe, seed: int) -> Job:
    """Make a job of one training."""
    work = functools.partial(train_one, comparison, folder.absolute(), recipe, seed)
    return Job(f"{recipe.name}, seed {seed}", comparison.points, work)


def train_one(comparison: Comparison, folder: Path, recipe: Recipe, seed: int, report: Report) -> bool:
    """Do one of the trainings, in this process or another; its results are files."""
    algorithm = comparison.algorithm(recipe)
    opponents = make_opponents(algorithm.settings, comparison.game)
    return bool(_Trainer(comparison, folder, opponents, report.phase).points(recipe, algorithm, seed))


class _Trainer:
    """Trains one agent after the other, and rates each several times."""

    def __init__(self, comparison: Comparison, folder: Path, opponents: Sequence[Player], report: OnPhase) -> None:
        self.comparison, self.folder, self.opponents, self.report = comparison, folder, opponents, report
        self._anchors: dict[str, float] | None = None
        self._compiled: set[str] = set()

    def points(self, recipe: Recipe, algorithm: Algorithm, seed: int) -> list[Point]:
        """Give the points of one training: out of its file, where it is finished."""
        path = self.folder / f"{recipe.name}-{seed}.json"
        if not path.exists() or not _agent_path(self.folder, recipe, seed).exists():
            write_points(path, self._train(recipe, algorithm, seed))
        points = read_points(path)
        of_this = all((point.recipe, point.seed) == (recipe.name, seed) for point in points)
        if len(points) != self.comparison.points or not of_this:
            raise BadInput(f"{path} is damaged: remove it, and this training is done again")
        return points

    def _train(self, recipe: Recipe, algorithm: Algorithm, seed: int) -> list[Point]:
        """Train from scratch to the end of the budget, and write the agent to a file. Returns the points."""
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
        """Rate an agent. Returns its Elo, the ends of its interval, and its score against each opponent."""
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


def _agent_path(folder: Path, recipe: Recipe, seed: int) -> Path:
    return folder / f"{recipe.name}-{seed}.safetensors"


def _parameters(algorithm: Algorithm) -> int:
    """Count the weights of all nets of an algorithm."""
    places = algorithm.agent.nets.values()
    nets = [Net(algorithm.game, make_net(getattr(algorithm.settings, one.setting)), one.head) for one in places]
    return sum(count_parameters(net.shapes()) for net in nets)


def _battles(comparison: Comparison, folder: Path, report: OnPhase, play: Play) -> list[Battle]:
    """Play battles of every two recipes, between agents of the same seed: with one look, and with a search."""
    found = []
    for searching in (False, True) if comparison.battle_games else ():
        for one, other in itertools.combinations(comparison.recipes, 2):
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
    """Make an agent of the recipe without its nets, whose search takes no more memory than that of `_agent_text`."""
    game, evaluations = comparison.game, comparison.play_evaluations
    search = agent_kind(recipe.algorithm).search_at_budget(game, evaluations)
    return SearchPlayer(f"play_evaluations {evaluations}", game, search, zero_evaluator(game))


def _agent_text(comparison: Comparison, folder: Path, recipe: Recipe, seed: int, searching: bool) -> str:
    """Name the agent of a training; where it is `searching`, with a search of about the wanted evaluations a move."""
    kind = agent_kind(recipe.algorithm)
    options = kind.at_budget(comparison.game, comparison.play_evaluations) if searching else {}
    return agent_text(recipe.algorithm, str(_agent_path(folder, recipe, seed)), options)
