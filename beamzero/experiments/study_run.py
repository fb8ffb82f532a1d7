"""One run of a study: its training, the opponents of its ratings, and the trials of its agent.

A run is finished when it is trained and its agent has had its trials; then nothing of it is done again.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from beamzero.arena.battle import battle
from beamzero.arena.rating import known_elo
from beamzero.arena.round_robin import rate_players, round_robin
from beamzero.arena.score import score
from beamzero.arena.truth import load_truth
from beamzero.core.errors import BadInput
from beamzero.core.spec import quote
from beamzero.experiments.study import ITSELF, SOLVED, StudyRun, Trial
from beamzero.games import Game, make_game
from beamzero.players import make_player
from beamzero.storage.checkpoints import Checkpoints
from beamzero.storage.files import write_atomically, writing
from beamzero.storage.metrics import read_metrics
from beamzero.storage.run import RUN_FILE, Run
from beamzero.storage.seal import seal, unseal
from beamzero.training.loop import train
from beamzero.training.measure import make_opponents
from beamzero.training.recipes import find_recipe
from beamzero.training.report import Report
from beamzero.training.request import RunRequest
from beamzero.training.settings import RunSettings

AnchorRatings = dict[str, list[float | None]]
"""By opponent: its Elo, and the low and the high end of its interval."""

_ANCHOR_GAMES = 1000
"""Games of every two opponents, for their ratings."""

_TRIALS_FILE = "trials.json"


class StudyRating(NamedTuple):
    """The rating of a run after some iteration."""

    iteration: int
    elo: float | None
    low: float | None
    high: float | None
    scores: dict[str, float]

    @property
    def strength(self) -> float:
        """Give its Elo, or the bound that is known of one that won or lost every game."""
        return known_elo(self.elo, self.low, self.high)


class StudyRunResult(NamedTuple):
    """The result of a run that is finished."""

    run: StudyRun
    points: list[StudyRating]
    mean_turns: float
    """The mean number of turns, over all games of the training."""
    seconds: float
    """The seconds of training, ratings included."""
    trials: dict[str, list[float]]
    """By a trial's title: score, low and high end of its interval."""


class Task(NamedTuple):
    """A run and all that is needed to do it, in this process or another."""

    run: StudyRun
    folder: Path
    """The folder of the study."""
    settings: RunSettings
    changes: Mapping[str, Any]
    trials: Sequence[Trial]
    deadline: float | None
    """By `now`, which is the same on machines whose clocks agree."""

    @property
    def game(self) -> Game:
        return make_game(find_recipe(self.run.recipe).game)

    @property
    def run_folder(self) -> Path:
        return self.folder / self.run.name


def now() -> float:
    """Give the time in seconds, by which deadlines are set."""
    return time.time()


def do_run(task: Task, ratings: AnchorRatings, report: Report) -> StudyRunResult | None:
    """Train a run and hold its trials, as far as that is not done; None where the time is up before."""
    if not _is_trained(task) and not _train(task, ratings, report):
        return None
    return _result(task, report)


def rate_opponents(task: Task, report: Report) -> AnchorRatings:
    """Rate the opponents, once; by more games than a run would take, since all ratings depend on them."""
    game, settings = task.game, task.settings
    path = task.folder / f"anchors-{game.spec.replace(':', '-')}.json"
    games = min(_ANCHOR_GAMES, 2 * settings.anchor_games)
    wanted = {"against": settings.rate_against, "games": games}
    known = _read(path, _are_ratings)
    if known and known["measured"] == wanted:
        return known["ratings"]
    opponents = make_opponents(settings, game)
    names = [player.name for player in opponents]
    played = round_robin(
        game, opponents, games, None, 0,
        lambda title, done, of: report.phase(f"measuring opponents, {title}", done, of),
    )  # fmt: skip
    found = rate_players(played, names, names[0], 0) if len(names) > 1 else []
    ratings: AnchorRatings = {one.agent: [one.elo, one.low, one.high] for one in found}
    ratings.setdefault(names[0], [1000.0, 1000.0, 1000.0])
    _write(path, {"measured": wanted, "ratings": ratings})
    return ratings


def anchor_elos(ratings: AnchorRatings) -> dict[str, float]:
    """Give the ratings that opponents count as: their Elo or the bound that is known, as in `measure_anchors`."""
    known = {name: known_elo(*rating) for name, rating in ratings.items()}
    return {name: elo for name, elo in known.items() if not math.isnan(elo)}


def _train(task: Task, ratings: AnchorRatings, report: Report) -> bool:
    """Train a run to its end, from where it is; False where the time is up before."""
    left = None if task.deadline is None else task.deadline - now()
    if left is not None and left <= 0:
        return False
    recipe = find_recipe(task.run.recipe)
    begun = (task.run_folder / RUN_FILE).exists()
    request = RunRequest(
        game=recipe.game,
        folder=task.run_folder,
        recipe=None if begun else recipe,
        changes={} if begun else {**task.run.changes, **task.changes},
        seed=None if begun else task.run.seed,
        minutes=None if left is None else left / 60,
        resume=begun,
        anchors=anchor_elos(ratings),
        pictures=False,
    )
    outcome = train(request, report)
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome.iterations >= task.settings.iterations


def _is_trained(task: Task) -> bool:
    """Tell whether all iterations of a run are done and saved."""
    return task.settings.iterations in Checkpoints(Run(task.run_folder, {}).checkpoints_folder, keep=1).steps()


def _result(task: Task, report: Report) -> StudyRunResult:
    """Read the measurements of a run that is trained, and hold its trials, unless that was done before."""
    run = Run.open(task.run_folder)
    records = read_metrics(run.folder)
    if not records:
        raise BadInput(f"{run.folder} is damaged, it has no metrics: remove it, and this training is done again")
    path = run.folder / _TRIALS_FILE
    trials = _read(path, lambda found: all(map(_is_interval, found.values()))) or {}
    for trial in task.trials:
        if trial.title not in trials:
            trials[trial.title] = _hold(trial, task, report)
            _write(path, trials)
    points = list(_points(records, task.settings.rate_every))
    turns = [record.get("mean_turns", math.nan) for record in records]
    seconds = records[-1].get("total_seconds", math.nan)
    return StudyRunResult(task.run, points, sum(turns) / len(turns), seconds, trials)


def _hold(trial: Trial, task: Task, report: Report) -> list[float]:
    """Hold a trial. Returns the score of the agent, or its errors, and the interval."""
    game, seed = task.game, task.run.seed
    text = f"{find_recipe(task.run.recipe).algorithm}:{quote(str(task.run_folder))}"
    agent = make_player(f"{text},{trial.search}" if trial.search else text, game)

    def progress(done: int, total: int) -> None:
        report.phase(trial.title, done, total)

    if trial.opponent == SOLVED:
        errors = score(load_truth(game, trial.games), agent, seed, progress).all
        return [errors.rate, *errors.interval]
    opponent = make_player(text if trial.opponent == ITSELF else trial.opponent, game)
    played = battle(game, agent, opponent, trial.games, seed=seed, progress=progress)
    return [played.score, *played.interval]


def _points(records: Sequence[Mapping[str, Any]], every: int) -> Iterator[StudyRating]:
    """Yield the ratings at the same iterations for all runs: one that was cut has others too."""
    last = records[-1]["iteration"]
    for record in records:
        iteration, rating = record["iteration"], record.get("rating")
        if rating and (iteration in (1, last) or iteration % every == 0):
            yield StudyRating(iteration, rating["elo"], rating["low"], rating["high"], rating.get("scores", {}))


def _read(path: Path, is_right: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    """Read a file of ours and check its content by `is_right`; None where it is not there.

    Version 0.1 wrote files without a seal.
    """
    try:
        data = path.read_bytes()
        found = unseal(data) if b'"seal"' in data else json.loads(data)
        if isinstance(found, dict) and is_right(found):
            return found
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        pass
    raise BadInput(f"{path} is damaged: remove it, and what it held is measured again")


def _are_ratings(found: dict[str, Any]) -> bool:
    """Tell whether the content of a file is what `rate_opponents` writes."""
    ratings = found.get("ratings")
    if found.keys() != {"measured", "ratings"} or not isinstance(ratings, dict):
        return False
    return isinstance(found["measured"], dict) and all(map(_is_interval, ratings.values()))


def _is_interval(value: Any) -> bool:
    """Tell whether a value is an estimate and the two ends of its interval."""
    numbers = isinstance(value, list) and len(value) == 3
    return numbers and all(number is None or isinstance(number, int | float) for number in value)


def _write(path: Path, data: Mapping[str, Any]) -> None:
    with writing(str(path)):
        write_atomically(path, seal(data))
