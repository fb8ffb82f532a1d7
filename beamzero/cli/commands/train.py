"""`beamzero train`: trains an agent."""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from beamzero.arena.rating import elo_text
from beamzero.cli.cluster import Cluster, WorkerGpus, Workers, lasting, workers_of
from beamzero.cli.common import RUNS_FOLDER, AsJson, GameName, err, out, print_json, split_setting
from beamzero.cli.prometheus import Prometheus, PrometheusReport, metrics_at
from beamzero.cli.terminal.display import TrainingDisplay
from beamzero.cluster.executor import ClusterExecutor
from beamzero.core.errors import BadInput
from beamzero.core.leaving import INTERRUPTED
from beamzero.core.registry import ALGORITHMS
from beamzero.core.spec import quote
from beamzero.games import make_game
from beamzero.players.agent_kind import agent_text
from beamzero.training.loop import Outcome, train
from beamzero.training.recipes import DEFAULT_ALGORITHM, Recipe, find_recipe, quick_recipe
from beamzero.training.report import Report
from beamzero.training.request import RunRequest


def train_command(
    game: GameName,
    algo: Annotated[
        str | None,
        typer.Option(
            help=f"The algorithm: {', '.join(ALGORITHMS.built_in)}, or file.py:Class of yours;"
            f" by default the recipe's own, or else {DEFAULT_ALGORITHM}."
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            help="Settings that are known to work, as beamzero recipes lists them, or a .toml file of yours; by default"
            " GAME_quick, or GAME_ALGORITHM_quick with --algo ALGORITHM, where there is one; none: the bare defaults."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one setting; may be repeated.")
    ] = None,
    start_from: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="AGENT", help="Start from a trained agent: a run folder or a .safetensors file."
        ),
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop after this long.")] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Stop after this many iterations in all; schedules stay as the recipe has them.")
    ] = None,
    run: Annotated[Path | None, typer.Option(metavar="DIR", help="The run's folder; by default runs/GAME.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in that folder.")] = False,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**31 - 1, help="The same seed gives the same run; 0 by default.")
    ] = None,
    cluster: Cluster = None,
    workers: Workers = None,
    worker_gpus: WorkerGpus = 0.0,
    prometheus: Prometheus = None,
    wandb: Annotated[
        str | None,
        typer.Option(
            metavar="PROJECT",
            help="Log the metrics to this project of Weights & Biases as well (pip install 'beamzero[wandb]'); a run"
            " that goes on with the same option is the same run there.",
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """Train an agent by self-play; Ctrl-C saves and stops, --resume goes on."""
    if minutes is not None and iterations is not None:
        raise BadInput("give --minutes or --iterations, not both")
    algo = None if algo is None else ALGORITHMS.read(algo)
    request = RunRequest(
        game=game,
        folder=lasting(run or RUNS_FOLDER / re.sub(r"[^\w.=+-]", "-", game)),
        algorithm=algo,
        recipe=_recipe(recipe, game, algo, resume),
        changes=dict(split_setting(text) for text in set_ or []),
        seed=seed,
        start_from=start_from,
        iterations=iterations,
        minutes=minutes,
        resume=resume,
        wandb=wandb,
    )
    named = (make_game(game).spec, *([] if algo is None else [ALGORITHMS.source(algo)]))
    with (
        TrainingDisplay(minutes) as display,
        metrics_at(prometheus, display.message) as registry,
        workers_of(cluster, workers, worker_gpus, display.message, named) as pool,
    ):
        report: Report = display
        if registry is not None:
            report = PrometheusReport(display, registry, request.folder, None if pool is None else pool.facts)
        if pool is None:
            outcome = train(request, report)
        else:
            outcome = train(dataclasses.replace(request, workers=pool.wanted), report, ClusterExecutor(pool))
    if json:
        print_json(
            {
                "game": outcome.game.spec, "run": str(outcome.run.folder), "iterations": outcome.iterations,
                "seconds": round(outcome.seconds, 1), "rating": outcome.rating, "interrupted": outcome.interrupted,
            }
        )  # fmt: skip
    else:
        _show(outcome)
    if not outcome.interrupted:
        return 0
    game, folder = outcome.run.about["game_text"], outcome.run.folder
    own = "" if algo is None or ALGORITHMS.source(algo) == algo else f" --algo {quote(ALGORITHMS.source(algo))}"
    logged = "" if wandb is None else f" --wandb {quote(wandb)}"
    err.print(
        f"go on with: {_this_command()} train {quote(game)}{own} --run {quote(str(folder))} --resume{logged}",
        soft_wrap=True,
    )
    return INTERRUPTED


def _recipe(name: str | None, game: str, algorithm: str | None, resume: bool) -> Recipe | None:
    """Find the recipe of a run: the one that is named, or for a new run the quick one of its game."""
    if name == "none":
        return None
    if name is not None:
        return find_recipe(name)
    return None if resume else quick_recipe(make_game(game), algorithm)


def _this_command() -> str:
    """Return how this program was started, so that the lines it prints can be typed in again."""
    if Path(sys.argv[0]).name == "beamzero":
        return sys.argv[0]
    python = Path(sys.executable)
    return f"{python.relative_to(Path.cwd()) if python.is_relative_to(Path.cwd()) else python} -m beamzero"


def _show(outcome: Outcome) -> None:
    folder, game = outcome.run.folder, outcome.run.about["game_text"]
    state = "stopped" if outcome.interrupted else "trained"
    command = _this_command()
    out.print(f"\n{state} after {outcome.iterations} iterations, {outcome.seconds:.0f} s of training in all")
    if outcome.rating:
        anchor = next(iter(outcome.rating["scores"]))
        how = f" ({anchor} is 1000), {outcome.algorithm.rated_by}"
        out.print(Text.assemble("Elo ", (elo_text(outcome.rating), "bold"), how))
        for name, score in outcome.rating["scores"].items():
            out.print(f"  score {score:.3f} against {name}")
    if outcome.run.plot_path.exists():
        out.print(f"the curve is in {outcome.run.plot_path}", soft_wrap=True)
    options = outcome.algorithm.agent.to_play(dataclasses.asdict(outcome.algorithm.settings))
    agent = agent_text(outcome.run.about["algorithm"], str(folder), options)
    out.print(f"play against it: {command} play {quote(game)} --agent {agent}", soft_wrap=True)
