"""A study, piece by piece: each is a training run of its own, so that what was stopped goes on where it was.

The opponents of the ratings are rated once for all pieces of a game. A piece is finished when its run is and when its
agent has had its trials; then nothing of it is done again.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from beamzero.arena.battle import battle
from beamzero.arena.ladder import rate_players, round_robin
from beamzero.arena.rating import known_elo
from beamzero.errors import BadInput
from beamzero.games import Game, make_game
from beamzero.players import make_player
from beamzero.runs.checkpoints import Checkpoints
from beamzero.runs.claim import claim_folder
from beamzero.runs.files import write_atomically, writing
from beamzero.runs.metrics import read_metrics
from beamzero.runs.run import FILE, Run, only_one
from beamzero.spec import quote
from beamzero.training.config import find_recipe, make_settings, settle
from beamzero.training.loop import train
from beamzero.training.order import Order, make_opponents
from beamzero.training.report import Report
from beamzero.training.settings import RunSettings
from beamzero.training.studies import ITSELF, Piece, Study, Trial

Told = Callable[[str, int, int], None]
"""Told what is being done, and how many iterations of all pieces are done, of how many."""

Ratings = dict[str, list[float | None]]
"""Of each opponent its Elo, and the low and the high end of its interval."""

ANCHOR_GAMES = 1000
"""Games of every two opponents, for their ratings."""

TRIALS = "trials.json"


class Point(NamedTuple):
    """A rating on the way."""

    iteration: int
    elo: float | None
    low: float | None
    high: float | None
    scores: dict[str, float]

    @property
    def strength(self) -> float:
        """Its Elo, or the bound that is known of one that won or lost every game."""
        return known_elo(self.elo, self.low, self.high)


class PieceResult(NamedTuple):
    """What came of a piece that is finished."""

    piece: Piece
    points: list[Point]
    mean_turns: float
    """Of all games of the training."""
    seconds: float
    """Of training, ratings included."""
    trials: dict[str, list[float]]
    """By a trial's title: score, low and high end of its interval."""


class Finished(NamedTuple):
    """What came of a study so far."""

    results: list[PieceResult]
    anchors: dict[str, Ratings]
    """By game."""
    complete: bool


def reproduce(
    study: Study,
    folder: Path,
    told: Told,
    changes: Mapping[str, Any] | None = None,
    minutes: float | None = None,
    warn: Callable[[str], None] = warnings.warn,
) -> Finished:
    """Do what is not done yet, for as many minutes; `changes` are settings that all pieces have otherwise."""
    changes = changes or {}
    if minutes is not None and not minutes > 0:
        raise BadInput(f"minutes is {minutes}, but must be more than 0")
    settings = [_settings(study, piece, changes) for piece in study.pieces]  # what is wrong is found before all else
    terms = {"study": study.name, "pieces": [piece.name for piece in study.pieces], "changes": dict(changes)}
    claim_folder(folder, "study.json", terms, "study", free=("pieces",))
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    total = sum(one.iterations for one in settings)
    with only_one(folder):
        anchors: dict[str, Ratings] = {}
        results: list[PieceResult] = []
        done = 0
        for piece, own in zip(study.pieces, settings, strict=True):
            watch = _Watch(piece.name, done, total, told, warn)
            game = make_game(find_recipe(piece.recipe).game)
            if not _is_trained(folder / piece.name, own):
                if deadline is not None and time.monotonic() >= deadline:
                    continue  # later ones may be finished already
                anchors.setdefault(game.spec, _anchors(folder, game, own, watch))
                if not _train(folder / piece.name, piece, changes, own, anchors[game.spec], deadline, watch):
                    continue
            anchors.setdefault(game.spec, _anchors(folder, game, own, watch))
            results.append(_result(study, folder, piece, game, watch))
            done += own.iterations
    return Finished(results, anchors, complete=len(results) == len(study.pieces))


class _Watch(Report):
    """Tells of a piece as of a part of the whole."""

    def __init__(self, name: str, before: int, total: int, told: Told, warn: Callable[[str], None]) -> None:
        self.name, self.before, self.total, self.told, self.warn = name, before, total, told, warn
        self.done = 0

    def message(self, text: str) -> None:
        self.warn(f"{self.name}: {text}")

    def begin(self, title: str, done: int, total: int) -> None:
        self.done = done

    def phase(self, name: str, done: int, total: int) -> None:
        self.told(f"{self.name}: {name}", self.before + self.done, self.total)

    def iteration(self, record: Mapping[str, Any]) -> None:
        self.done = record["iteration"]


def _settings(study: Study, piece: Piece, changes: Mapping[str, Any]) -> RunSettings:
    """What a piece is trained with; BadInput where that would not be what the study is about."""
    told_apart = {key for one in study.pieces for key in one.changes if one.changes[key] != piece.changes.get(key)}
    if clash := sorted(told_apart & set(changes)):
        raise BadInput(f"{study.name} compares values of {', '.join(clash)}, so that none can be set for all")
    recipe = find_recipe(piece.recipe)
    settings = settle(make_settings(recipe, {**piece.changes, **changes}), make_game(recipe.game))
    if not settings.rate_every:
        raise BadInput(f"rate_every is 0, but {study.name} draws ratings: it must be 1 or more")
    return settings


def _anchors(folder: Path, game: Game, settings: RunSettings, watch: Report) -> Ratings:
    """The ratings of the opponents, measured once; with more games than a run would take, since all hangs on them."""
    path = folder / f"anchors-{game.spec.replace(':', '-')}.json"
    games = min(ANCHOR_GAMES, 2 * settings.anchor_games)
    wanted = {"against": settings.rate_against, "games": games}
    known = _read(path)
    if known and known.get("measured") == wanted and isinstance(known.get("ratings"), dict):
        return known["ratings"]
    opponents = make_opponents(settings, game)
    names = [player.name for player in opponents]
    played = round_robin(
        game, opponents, games, None, 0,
        lambda title, done, of: watch.phase(f"measuring opponents, {title}", done, of),
    )  # fmt: skip
    found = rate_players(played, names, names[0], 0) if len(names) > 1 else []
    ratings: Ratings = {one.agent: [one.elo, one.low, one.high] for one in found}
    ratings.setdefault(names[0], [1000.0, 1000.0, 1000.0])
    _write(path, {"measured": wanted, "ratings": ratings})
    return ratings


def anchor_elos(ratings: Ratings) -> dict[str, float]:
    """What the opponents count as: their Elo or the bound that is known, as in `measure_anchors`."""
    known = {name: known_elo(*rating) for name, rating in ratings.items()}
    return {name: elo for name, elo in known.items() if not math.isnan(elo)}


def _train(
    folder: Path,
    piece: Piece,
    changes: Mapping[str, Any],
    settings: RunSettings,
    ratings: Ratings,
    deadline: float | None,
    watch: Report,
) -> bool:
    """Train a piece to its end, from where it is; False where the time is up before."""
    recipe = find_recipe(piece.recipe)
    begun = (folder / FILE).exists()
    order = Order(
        game=recipe.game,
        folder=folder,
        recipe=None if begun else recipe,
        changes={} if begun else {**piece.changes, **changes},
        seed=None if begun else piece.seed,
        minutes=None if deadline is None else max(1e-3, (deadline - time.monotonic()) / 60),
        resume=begun,
        anchors=anchor_elos(ratings),
        pictures=False,
    )
    outcome = train(order, watch)
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome.iterations >= settings.iterations


def _is_trained(folder: Path, settings: RunSettings) -> bool:
    """Whether all iterations of a run are done and saved."""
    return settings.iterations in Checkpoints(Run(folder, {}).checkpoints_folder, keep=1).steps()


def _result(study: Study, folder: Path, piece: Piece, game: Game, watch: Report) -> PieceResult:
    """What a run that is finished measured, and its trials, which are held now unless they were."""
    run = Run.open(folder / piece.name)
    records = read_metrics(run.folder)
    if not records:
        raise BadInput(f"{run.folder} is damaged, it has no metrics: remove it, and this training is done again")
    path = run.folder / TRIALS
    trials = _read(path) or {}
    for trial in study.trials:
        if trial.title not in trials:
            trials[trial.title] = _hold(trial, run, game, piece.seed, watch)
            _write(path, trials)
    points = list(_points(records, run.about["settings"]["rate_every"]))
    turns = [record["mean_turns"] for record in records]
    return PieceResult(piece, points, sum(turns) / len(turns), records[-1]["total_seconds"], trials)


def _hold(trial: Trial, run: Run, game: Game, seed: int, watch: Report) -> list[float]:
    """The agent's score in a trial, and its interval."""
    text = f"{run.about['algorithm']}:{quote(str(run.folder))}"
    one = make_player(f"{text},{trial.search}" if trial.search else text, game)
    other = make_player(text if trial.opponent == ITSELF else trial.opponent, game)
    found = battle(
        game, one, other, trial.games, seed=seed, progress=lambda done, of: watch.phase(trial.title, done, of)
    )
    return [found.score, found.interval.low, found.interval.high]


def _points(records: Sequence[Mapping[str, Any]], every: int) -> Iterator[Point]:
    """The ratings at the same iterations for all pieces: a run that was cut has others too."""
    last = records[-1]["iteration"]
    for record in records:
        if record.get("rating") and (record["iteration"] in (1, last) or record["iteration"] % every == 0):
            yield Point(record["iteration"], *(record["rating"][name] for name in ("elo", "low", "high", "scores")))


def _read(path: Path) -> dict[str, Any] | None:
    """What a file of ours holds; None where it is not there."""
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise BadInput(f"{path} is damaged: remove it, and what it held is measured again")
    return found


def _write(path: Path, data: Mapping[str, Any]) -> None:
    with writing(str(path)):
        write_atomically(path, json.dumps(data, indent=1))
