"""A study, piece by piece: each is a training run of its own, so that what was stopped goes on where it was.

The opponents of the ratings are rated once for all pieces of a game.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase
from beamzero.experiments.study import Piece, Study
from beamzero.experiments.work_items import PieceResult, Ratings, Task, do_piece, now, rate_opponents
from beamzero.experiments.workers import DoJobs, Job, do_jobs, share_device
from beamzero.games import make_game
from beamzero.storage.claim import claim_folder
from beamzero.storage.run import only_one
from beamzero.training.config import find_recipe, make_settings
from beamzero.training.request import check_settings
from beamzero.training.settings import RunSettings


class Reproduced(NamedTuple):
    """The result of a study so far."""

    results: list[PieceResult]
    anchors: dict[str, Ratings]
    """By game."""
    complete: bool


def reproduce(
    study: Study,
    folder: Path,
    on_progress: OnPhase,
    changes: Mapping[str, Any] | None = None,
    minutes: float | None = None,
    workers: int = 1,
    warn: Callable[[str], None] = warnings.warn,
    do: DoJobs = do_jobs,
) -> Reproduced:
    """Do what is not done yet, for as many minutes; `changes` are settings that all pieces have otherwise.

    With more than one worker so many pieces are trained at once, in processes of their own that share the device; `do`
    is who trains.
    """
    changes = changes or {}
    if minutes is not None and not minutes > 0:
        raise BadInput(f"minutes is {minutes}, but must be more than 0")
    workers = min(workers, len(study.pieces))
    if workers > 1 and do is do_jobs:
        share_device(workers)
    deadline = None if minutes is None else now() + 60 * minutes
    tasks = [  # what is wrong is found before all else
        Task(piece, folder.absolute(), _settings(study, piece, changes), changes, study.trials, deadline)
        for piece in study.pieces
    ]
    terms = {"study": study.name, "pieces": [piece.name for piece in study.pieces], "changes": dict(changes)}
    claim_folder(folder, "study.json", terms, "study", free=("pieces",))
    with only_one(folder):
        firsts: dict[str, Task] = {}
        for task in tasks:
            firsts.setdefault(task.game.spec, task)
        rating = [Job(game, 0, functools.partial(rate_opponents, one)) for game, one in firsts.items()]
        anchors = dict(zip(firsts, do_jobs(rating, on_progress, warn), strict=True))
        jobs = [
            Job(task.piece.name, task.settings.iterations, functools.partial(do_piece, task, anchors[task.game.spec]))
            for task in tasks
        ]
        found = do(jobs, on_progress, warn, workers)
    results = [one for one in found if one is not None]
    return Reproduced(results, anchors, complete=len(results) == len(study.pieces))


def _settings(study: Study, piece: Piece, changes: Mapping[str, Any]) -> RunSettings:
    """Make the settings of a piece; BadInput where that would not be what the study is about."""
    told_apart = {key for one in study.pieces for key in one.changes if one.changes[key] != piece.changes.get(key)}
    if clash := sorted(told_apart & set(changes)):
        raise BadInput(f"{study.name} compares values of {', '.join(clash)}, so that none can be set for all")
    recipe = find_recipe(piece.recipe)
    settings = make_settings(recipe, {**piece.changes, **changes}).resolved(make_game(recipe.game))
    if not settings.rate_every:
        raise BadInput(f"rate_every is 0, but {study.name} draws ratings: it must be 1 or more")
    if piece.seed == study.pieces[0].seed:
        check_settings(recipe.algorithm, settings, make_game(recipe.game))
    return settings
