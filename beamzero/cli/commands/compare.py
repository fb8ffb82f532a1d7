"""`beamzero compare`: trainings by several recipes under the same budget."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from beamzero.cli.cluster import Cluster, WorkerGpus, Workers, lasting, warn_of_worker, workers_of
from beamzero.cli.common import (
    RUNS_FOLDER,
    AsJson,
    GameName,
    err,
    out,
    print_json,
    print_rows,
    progress_bar,
    short_number,
)
from beamzero.cluster.battles import ClusterPlay
from beamzero.cluster.executor import ClusterJobs
from beamzero.experiments.compare import compare
from beamzero.experiments.comparison import Compared, Comparison, Point
from beamzero.games import make_game
from beamzero.plots.experiments import draw_comparison
from beamzero.plots.style import write_png
from beamzero.storage.files import writing
from beamzero.training.recipes import find_recipe


def compare_command(
    game: GameName,
    recipes: Annotated[
        str, typer.Option(metavar="A B...", help="Two recipes or more, as beamzero recipes lists them.")
    ],
    more: Annotated[list[str] | None, typer.Argument(metavar="[RECIPE]...", hidden=True)] = None,
    budget: Annotated[str, typer.Option(help="The unit of the budget: evaluations or seconds.")] = Comparison.budget,
    amount: Annotated[
        float | None,
        typer.Option(help="The budget of each training; by default 20 million evaluations or 120 seconds."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Trainings of each recipe, each with another seed.")] = Comparison.seeds,
    points: Annotated[int, typer.Option(help="Ratings of each training, at even steps.")] = Comparison.points,
    rate_games: Annotated[int, typer.Option(help="Games against each opponent in a rating.")] = Comparison.rate_games,
    rate_against: Annotated[
        str, typer.Option(help="Opponents of the ratings, separated by spaces; the first one is 1000.")
    ] = Comparison.rate_against,
    battle_games: Annotated[
        int, typer.Option(help="Games of the final agents against each other; 0 for none.")
    ] = Comparison.battle_games,
    play_evaluations: Annotated[
        int, typer.Option(help="Evaluations a move in these games, for agents that search.")
    ] = Comparison.play_evaluations,
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where results go; by default runs/compare-GAME-BUDGET.")
    ] = None,
    cluster: Cluster = None,
    workers: Workers = None,
    worker_gpus: WorkerGpus = 0.0,
    json: AsJson = False,
) -> None:
    """Train by several recipes from scratch under the same budget, with several seeds, and draw strength against it.

    The same command continues a comparison that was stopped.
    """
    rules = make_game(game)
    names = [name for text in (recipes, *(more or [])) for name in re.split(r"[,\s]+", text) if name]
    comparison = Comparison(
        game=rules,
        recipes=tuple(find_recipe(name) for name in names),
        budget=budget,
        amount=amount if amount is not None else (120.0 if budget == "seconds" else Comparison.amount),
        seeds=seeds,
        points=points,
        rate_games=rate_games,
        rate_against=rate_against,
        battle_games=battle_games,
        play_evaluations=play_evaluations,
    )
    folder = lasting(folder or RUNS_FOLDER / re.sub(r"[^\w.=+-]", "-", f"compare-{game}-{budget}"))
    try:
        with (
            workers_of(cluster, workers, worker_gpus, warn_of_worker, (make_game(game).spec,)) as pool,
            progress_bar("comparing") as update,
        ):
            who = () if pool is None else (ClusterJobs(pool), ClusterPlay(pool))
            finished = compare(comparison, folder, lambda name, done, total: update(name, done, total), *who)
    except KeyboardInterrupt:
        err.print(f"the same command goes on with what is finished in {folder}", soft_wrap=True)
        raise
    picture = folder / "compare.png"
    curves = {
        name: [[(getattr(point, budget), point.strength, bool(point.bound)) for point in run] for run in runs]
        for name, runs in finished.points.items()
    }
    with writing(str(picture)):
        write_png(draw_comparison(curves, budget, f"{rules.spec}: {' against '.join(names)}"), picture)
    if json:
        return print_json(_as_json(comparison, finished, folder))
    _show(comparison, finished)
    out.print(f"\nthe numbers are in {folder / 'compare.csv'}, the curves in {picture}", soft_wrap=True)
    return None


def _as_json(comparison: Comparison, finished: Compared, folder: Path) -> dict[str, Any]:
    return {
        "game": comparison.game.spec, "budget": comparison.budget, "amount": comparison.amount,
        "recipes": {
            name: {
                "parameters": finished.parameters[name],
                "seeds": [run[-1]._asdict() for run in runs],
                "elo": _mean_elo([run[-1] for run in runs]),
            }
            for name, runs in finished.points.items()
        },
        "battles": [played.as_dict() for played in finished.battles], "folder": str(folder),
    }  # fmt: skip


def _mean_elo(points: Sequence[Point]) -> float | None:
    """Return the mean Elo; None where one of the agents has only a bound."""
    return None if any(point.bound for point in points) else float(np.mean([point.strength for point in points]))


def _show(comparison: Comparison, finished: Compared) -> None:
    last = {name: [run[-1] for run in runs] for name, runs in finished.points.items()}
    games, looks, seconds = (
        [float(np.mean([getattr(point, key) for point in points])) for points in last.values()]
        for key in ("games", "evaluations", "seconds")
    )
    columns = (
        last,
        [short_number(finished.parameters[name]) for name in last],
        map(short_number, games),
        map(short_number, looks),
        [f"{number:.1f}" for number in seconds],
        ["-" if (mean := _mean_elo(points)) is None else f"{mean:.0f}" for points in last.values()],
        [", ".join(f"{point.bound}{point.strength:.0f}" for point in points) for points in last.values()],
    )
    titles = ("recipe", "weights", "games", "looks", "seconds", "Elo", "by seed")
    print_rows(titles, list(zip(*columns, strict=True)), left=("by seed",))
    out.print("weights: what the nets learn; looks: evaluations; > and <: lost or won no game, so a bound", style="dim")
    if finished.battles:
        out.print("\nagainst each other, score of the first-named:")
    for played in finished.battles:
        low, high = played.interval
        who = f"{played.agents[0]} v {played.agents[1]}, {played.games} games"
        out.print(f"  {played.score:.3f} [{low:.3f}, {high:.3f}]  {who}", soft_wrap=True)
