"""`beamzero reproduce`: trains what a published figure shows, and draws it again."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from beamzero.arena.intervals import mean_spread
from beamzero.cli.cluster import Cluster, WorkerGpus, lasting, training_on
from beamzero.cli.common import RUNS_FOLDER, AsJson, err, out, print_json, progress_bar, split_setting
from beamzero.experiments.reproduce import Reproduced, reproduce
from beamzero.experiments.studies import STUDIES, make_study
from beamzero.experiments.study import Study
from beamzero.experiments.study_run import StudyRunResult, anchor_elos
from beamzero.plots.experiments import Curves, draw_study
from beamzero.plots.style import write_png
from beamzero.storage.files import write_atomically, writing
from beamzero.training.recipes import find_recipe

_USUAL_SEEDS = ", ".join(f"{usual} for {name}" for name, (_, usual) in STUDIES.items())


def reproduce_command(
    figure: Annotated[str, typer.Argument(metavar="FIGURE", help=f"One of {', '.join(STUDIES)}.")],
    seeds: Annotated[
        int | None, typer.Option(min=1, max=1000, help=f"Trainings of each setting; {_USUAL_SEEDS}.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Train for this long at most; the same command continues.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Trainings at once, in processes that share the device, or on a cluster with --cluster; by default"
            " one, or as many as the cluster has cores.",
        ),
    ] = None,
    cluster: Cluster = None,
    worker_gpus: WorkerGpus = 0.0,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of all trainings.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where results go; by default runs/FIGURE.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Repeat the trainings of a published figure or of a table of ours, rate them on the way, and draw the figure.

    Each training is a run of its own in the folder. The same command continues what was stopped.
    """
    study = make_study(figure, seeds)
    folder = lasting(folder or RUNS_FOLDER / figure)
    changes = dict(split_setting(text) for text in set_ or [])
    try:
        with training_on(cluster, workers, worker_gpus) as (do, at_once), progress_bar(figure) as update:
            finished = reproduce(study, folder, update, changes, minutes, at_once, lambda text: err.print(text), do)
    except KeyboardInterrupt:
        err.print(f"the same command goes on with what is in {folder}", soft_wrap=True)
        raise
    if not finished.results:
        if json:
            print_json(_as_json(study, finished, folder))
        err.print(f"no training is finished yet: the same command goes on in {folder}", soft_wrap=True)
        return None
    picture = folder / "figure.png"
    panels = list(_panels(study, finished))
    with writing(str(picture)):
        write_png(draw_study(panels, f"{study.name}: {study.about}"), picture)
    _write_csv(folder / "points.csv", finished)
    if json:
        return print_json(_as_json(study, finished, folder))
    _show(study, finished)
    out.print(f"\nthe figure is {picture}, its numbers are in {folder / 'points.csv'}", soft_wrap=True)
    if not finished.complete:
        left = len(study.runs) - len(finished.results)
        out.print(f"{left} of {len(study.runs)} trainings are to be done: the same command goes on", soft_wrap=True)
    return None


def _panels(study: Study, finished: Reproduced) -> list[Curves]:
    """Return the curves of the panels that have results."""
    found = []
    for panel in study.panels:
        own = [one for one in finished.results if panel.shows(one.run)]
        lines: dict[str, list[list[tuple[int, float]]]] = {}
        for one in own:
            name = f"{panel.by} {one.run.labels[panel.by]}" if panel.by else "one look"
            lines.setdefault(name, []).append([(point.iteration, point.strength) for point in one.points])
        if own:
            game = find_recipe(own[0].run.recipe).game
            ratings = finished.anchors[game]
            found.append(Curves(panel.title, lines, anchor_elos(ratings)))
    return found


def _groups(study: Study, finished: Reproduced) -> list[tuple[str, list[StudyRunResult]]]:
    """Group the results for the tables: all of one game together, then those that share a label that not all have.

    Results that no panel shows are in groups of their own.
    """
    results = finished.results
    shown = [one for one in results if any(panel.shows(one.run) for panel in study.panels)]
    same_game = len({find_recipe(one.run.recipe).game for one in shown}) == 1
    found = [("all", shown)] if study.alike and same_game else []
    for key in dict.fromkeys(key for one in results for key in one.run.labels):
        values = dict.fromkeys(one.run.labels[key] for one in results)
        for value in values if len(values) > 1 else ():
            own = [one for one in shown if one.run.labels[key] == value]
            found.append((f"{key} {value}", own or [one for one in results if one.run.labels[key] == value]))
    return found


def _group_json(study: Study, title: str, own: Sequence[StudyRunResult]) -> dict[str, Any]:
    elo = np.array([one.points[-1].strength for one in own])
    trials = {}
    for trial in study.trials:
        scores = np.array([one.trials[trial.title][0] for one in own])
        low, high = own[0].trials[trial.title][1:]
        if len(own) > 1:
            spread = float(mean_spread(scores[:, None])[0])
            low, high = max(0.0, scores.mean() - spread), min(1.0, scores.mean() + spread)
        trials[trial.title] = {
            "measures": trial.measures, "value": float(scores.mean()), "interval": [float(low), float(high)],
            "published": trial.published,
        }  # fmt: skip
    spread = float(mean_spread(elo[:, None])[0])
    interval = [elo.mean() - spread, elo.mean() + spread] if len(own) > 1 else own[0].points[-1][2:4]
    return {
        "group": title, "trainings": len(own), "elo": float(elo.mean()), "interval": list(interval), "trials": trials,
        "mean_turns": float(np.mean([one.mean_turns for one in own])),
        "seconds": float(sum(one.seconds for one in own)),
    }  # fmt: skip


def _as_json(study: Study, finished: Reproduced, folder: Path) -> dict[str, Any]:
    return {
        "figure": study.name, "complete": finished.complete, "folder": str(folder),
        "anchors": finished.anchors, "published_anchors": dict(study.anchors), "published_turns": dict(study.turns),
        "groups": [_group_json(study, *group) for group in _groups(study, finished)],
    }  # fmt: skip


def _show(study: Study, finished: Reproduced) -> None:
    for game, ratings in finished.anchors.items():
        table = Table("opponent", "Elo", "95% interval", "published", title=game, box=None, header_style="bold")
        for name, (elo, low, high) in ratings.items():
            table.add_row(name, _whole(elo), f"{_whole(low)} to {_whole(high)}", _whole(study.anchors.get(name)))
        out.print(table)
    found = [_group_json(study, *group) for group in _groups(study, finished)]
    table = Table("", "trainings", "Elo at the end", "95% interval", "turns", "seconds", box=None, header_style="bold")
    for group in found:
        low, high = group["interval"]
        table.add_row(
            group["group"], str(group["trainings"]), _whole(group["elo"]), f"{_whole(low)} to {_whole(high)}",
            f"{group['mean_turns']:.1f}", f"{group['seconds']:.0f}",
        )  # fmt: skip
    out.print(table)
    for trial in study.trials:
        title = trial.title if trial.published is None else f"{trial.title} ({trial.published:g} published)"
        table = Table("", trial.measures, "95% interval", title=title, box=None, header_style="bold")
        for group in found:
            value, (low, high) = group["trials"][trial.title]["value"], group["trials"][trial.title]["interval"]
            table.add_row(group["group"], f"{value:.3f}", f"{low:.3f} to {high:.3f}")
        out.print(table)
    for recipe, turns in study.turns.items():
        out.print(f"published for {recipe}: {turns:g} turns a game", style="dim")


def _whole(number: float | None) -> str:
    return "" if number is None or number != number else f"{number:.0f}"


def _write_csv(path: Path, finished: Reproduced) -> None:
    opponents = list(dict.fromkeys(name for one in finished.results for name in one.points[-1].scores))
    keys = list(finished.results[0].run.labels)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    against = [f"score against {name}" for name in opponents]
    writer.writerow([*keys, "seed", "iteration", "elo", "low", "high", *against])
    for one in finished.results:
        for point in one.points:
            scores = [point.scores.get(name) for name in opponents]
            labels = [one.run.labels[key] for key in keys]
            writer.writerow([*labels, one.run.seed, point.iteration, point.elo, point.low, point.high, *scores])
    with writing(str(path)):
        write_atomically(path, text.getvalue())
