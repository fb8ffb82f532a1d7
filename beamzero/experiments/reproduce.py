"""Reproduces a study, run by run: a run that was stopped goes on where it was.

The opponents of the ratings are rated once for all runs of a game:

    FOLDER/
      study.json          what is trained, and how
      anchors-GAME.json   Elo of the opponents
      RUN/                the folder of each run, with its trials in trials.json
      points.csv          all ratings
      figure.png
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase
from beamzero.experiments.study import Study, StudyRun
from beamzero.experiments.study_run import AnchorRatings, StudyRunResult, Task, do_run, now, rate_opponents
from beamzero.experiments.workers import DoJobs, Job, do_jobs, share_device
from beamzero.games import make_game
from beamzero.storage.folders import only_one, prepare_folder
from beamzero.training.recipes import find_recipe, make_settings
from beamzero.training.request import check_settings
from beamzero.training.settings import RunSettings


class Reproduced(NamedTuple):
    """The result of a study so far."""

    results: list[StudyRunResult]
    anchors: dict[str, AnchorRatings]
    """The ratings of the opponents, by game."""
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
    """Do the runs that are not done yet, for at most `minutes`; `changes` are settings that all runs have otherwise.

    With more than one worker so many runs are trained at once, in processes of their own that share the device; `do`
    does the jobs, here or elsewhere.
    """
    changes = changes or {}
    if minutes is not None and not minutes > 0:
        raise BadInput(f"minutes is {minutes}, but must be more than 0")
    workers = min(workers, len(study.runs))
    if workers > 1 and do is do_jobs:
        share_device(workers)
    deadline = None if minutes is None else now() + 60 * minutes
    tasks = [  # errors are found before any work
        Task(run, folder.absolute(), _settings(study, run, changes), changes, study.trials, deadline)
        for run in study.runs
    ]
    terms = {"study": study.name, "pieces": [run.name for run in study.runs], "changes": dict(changes)}
    prepare_folder(folder, "study.json", terms, "study", free=("pieces",))
    with only_one(folder):
        firsts: dict[str, Task] = {}
        for task in tasks:
            firsts.setdefault(task.game.spec, task)
        rating = [Job(game, 0, functools.partial(rate_opponents, one)) for game, one in firsts.items()]
        anchors = dict(zip(firsts, do_jobs(rating, on_progress, warn), strict=True))
        jobs = [
            Job(task.run.name, task.settings.iterations, functools.partial(do_run, task, anchors[task.game.spec]))
            for task in tasks
        ]
        found = do(jobs, on_progress, warn, workers)
    results = [one for one in found if one is not None]
    return Reproduced(results, anchors, complete=len(results) == len(study.runs))


def _settings(study: Study, run: StudyRun, changes: Mapping[str, Any]) -> RunSettings:
    """Make the settings of a run; BadInput where `changes` are not to be made in this study."""
    compared = {key for one in study.runs for key in one.changes if one.changes[key] != run.changes.get(key)}
    if clash := sorted(compared & set(changes)):
        raise BadInput(f"{study.name} compares values of {', '.join(clash)}, so that none can be set for all")
    recipe = find_recipe(run.recipe)
    settings = make_settings(recipe, {**run.changes, **changes}).resolved(make_game(recipe.game))
    if not settings.rate_every:
        raise BadInput(f"rate_every is 0, but {study.name} draws ratings: it must be 1 or more")
    if run.seed == study.runs[0].seed:
        check_settings(recipe.algorithm, settings, make_game(recipe.game))
    return settings
