"""The request for a run, and the run folder that is made for it. Errors are found before anything is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax

from beamzero import __version__
from beamzero.arena.battle_size import battle_needs
from beamzero.core.errors import BadInput
from beamzero.games import GAMES, Game, is_of_library
from beamzero.games.laws import require_laws
from beamzero.nets import Net, compute_dtype, make_net
from beamzero.nets.own_module import check_output
from beamzero.players import starts_program
from beamzero.players.trained import load_trained, open_trained_run, restore_agent
from beamzero.search.memory import bytes_of, check_memory, together
from beamzero.storage.run import Run
from beamzero.training.algorithm import ALGORITHMS, Algorithm, TrainingState
from beamzero.training.measure import make_ladder_opponents, make_opponents
from beamzero.training.recipes import Recipe, check_game, choose_algorithm, make_settings
from beamzero.training.report import NO_REPORT, Report
from beamzero.training.settings import RunSettings, changeable_settings


@dataclasses.dataclass(frozen=True)
class RunRequest:
    """A training run that a user asks for."""

    game: str
    folder: Path
    recipe: Recipe | None = None
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seed: int | None = None
    start_from: str | None = None
    iterations: int | None = None
    """Stop after this many iterations in all; by default, when the settings' iterations are done."""
    minutes: float | None = None
    """Stop after so many minutes."""
    resume: bool = False
    algorithm: str | None = None
    """The name of the algorithm; by default that of the run that goes on, or else the recipe's, or else the first."""
    workers: int = 0
    """Workers on a cluster that the work will be cut for; 0 where this process does it."""
    anchors: Mapping[str, float] | None = None
    """Elo of the opponents of ratings, where that is known; the run measures it otherwise."""
    wandb: str | None = None
    """The project of Weights & Biases that gets the metrics as well; None for none."""
    pictures: bool = True
    """Whether the run's curves are drawn; of many short runs that takes longer than some of their training."""


def create_run(request: RunRequest, game: Game) -> tuple[Run, Algorithm, int]:
    """Create a run as requested. Returns also its algorithm and its seed."""
    if game.hidden:
        raise BadInput(f"{game.name} cannot be trained: the searches that agents learn from would see what it hides")
    name = choose_algorithm(request.recipe, request.algorithm)
    if request.recipe is not None:
        check_game(request.recipe, game)
    if not GAMES.is_lasting(game.name) and not is_of_library(game.name):
        require_laws(game)
    settings = make_settings(request.recipe, request.changes, name).resolved(game, request.workers)
    algorithm, fresh = check_settings(name, settings, game, request.workers)
    _check_workers(request, algorithm)
    seed = 0 if request.seed is None else request.seed
    if request.start_from is not None:
        load_start(request.start_from, name, algorithm, fresh, NO_REPORT)
    about = {
        "game": game.identity,
        "game_text": request.game,
        "algorithm": name,
        "recipe": request.recipe.name if request.recipe else None,
        "settings": dataclasses.asdict(settings),
        "seed": seed,
        "from": request.start_from,
        "version": __version__,
        "device": jax.devices()[0].device_kind,
    }
    return Run.create(request.folder, about), algorithm, seed


def check_settings(name: str, settings: RunSettings, game: Game, workers: int = 0) -> tuple[Algorithm, Any]:
    """Make the algorithm called `name` and the shapes of its first state; BadInput where it cannot run so."""
    algorithm, fresh = _make_algorithm(name, settings, game)
    check_run_memory(algorithm, fresh, workers)
    return algorithm, fresh


def _make_algorithm(name: str, settings: RunSettings, game: Game) -> tuple[Algorithm, Any]:
    """Do what `check_settings` does, but for the memory that a run takes."""
    algorithm = ALGORITHMS[name](game, settings)
    for place in algorithm.agent.nets.values():
        text = getattr(algorithm.settings, place.setting)
        check_output(Net(game, make_net(text), place.head, compute_dtype(algorithm.settings.precision)))
    fresh = jax.eval_shape(algorithm.init, jax.random.key(0))  # finds nets that do not fit the game
    make_opponents(settings, game)
    make_ladder_opponents(settings, game)
    return algorithm, fresh


def resume_run(request: RunRequest, game: Game) -> tuple[Run, Algorithm, int]:
    """Open the run of the folder, with its own settings; only how it is measured, and how long, may change."""
    choose_algorithm(request.recipe, request.algorithm)
    run = open_trained_run(request.folder)
    about = run.about
    name = about["algorithm"]
    if request.algorithm not in (None, name):
        raise BadInput(f"{request.folder} holds a run of {name}, not of {request.algorithm}")
    choose_algorithm(request.recipe, name)
    if about["game"] != game.identity:
        raise BadInput(f"{request.folder} holds a run of {about['game']}, not of {game.spec}")
    if request.seed not in (None, about["seed"]):
        raise BadInput(f"the run in {request.folder} has seed {about['seed']}, which cannot be changed by --resume")
    if request.start_from not in (None, about["from"]):
        raise BadInput(f"the run in {request.folder} is under way, so it cannot start from {request.start_from!r}")
    kind = ALGORITHMS[name].settings_type
    asked = {**kind.without_retired(request.recipe.settings if request.recipe else {}), **request.changes}
    stored = kind.without_retired(about["settings"])
    before = make_settings(None, stored, name)
    settings = make_settings(None, {**stored, **asked}, name)
    for key in sorted(set(asked) - changeable_settings(kind)):
        if getattr(settings, key) != getattr(before, key):
            was = getattr(before, key)
            allowed = ", ".join(sorted(changeable_settings(kind)))
            raise BadInput(f"{key} is {was} in {request.folder} and cannot be changed by --resume (only: {allowed})")
    if "rate_against" not in asked and any(map(starts_program, settings.rate_against.split())):
        raise BadInput(
            f"the run in {request.folder} is rated against another program, and such is started only where you name it:"
            f" give --set rate_against={settings.rate_against!r}"
        )
    algorithm, fresh = _make_algorithm(name, settings, game)
    _check_workers(request, algorithm)
    check_run_memory(algorithm, fresh, request.workers, "go on with it where there is more")
    return run, algorithm, about["seed"]


def _check_workers(request: RunRequest, algorithm: Algorithm) -> None:
    if request.workers and not algorithm.uses_executor:
        others = " and ".join(kind.title for kind in ALGORITHMS.values() if kind.uses_executor)
        raise BadInput(f"{algorithm.title} is trained in one process; a cluster is for {others}")


def check_run_memory(algorithm: Algorithm, fresh: TrainingState, workers: int = 0, instead: str | None = None) -> None:
    """Raise BadInput where an iteration, or a rating after it, would take more memory than is free.

    `fresh` is the state of the algorithm, or its shapes; `workers` elsewhere play and search. `instead` is the advice
    where no setting can be lowered.
    """
    check_memory(algorithm.bytes_needed(elsewhere=workers > 0), "this run", instead=instead)
    settings, game = algorithm.settings, algorithm.game
    if not settings.rate_every:
        return
    players = [*make_opponents(settings, game), algorithm.player(fresh)]
    states = {"smaller nets": 2 * bytes_of(fresh)}  # before the iteration, and after
    for what in ("rate_games", "anchor_games"):
        check_memory(
            together(states, battle_needs(game, players, getattr(settings, what), what)), "a rating of this run"
        )


def load_start(text: str, name: str, algorithm: Algorithm, fresh: TrainingState, report: Report) -> Any:
    """Load the state that a run of the algorithm called `name` starts with, out of another agent.

    A run folder gives all of its state; an agent file gives its weights, and the rest is as in `fresh`.
    """
    head, colon, rest = text.partition(":")
    path = Path(rest if colon and head in ALGORITHMS else text)
    if path.is_dir():
        run = open_trained_run(path)
        _check_start(str(path), run.about, name, algorithm)
        return algorithm.from_tree(restore_agent(run, fresh.as_tree(), warn=report.message).tree)
    trained = load_trained(str(path), algorithm.game, algorithm=None)
    _check_start(str(path), trained.info, name, algorithm)
    return algorithm.from_agent(fresh, trained.weights)


def _check_start(where: str, info: Mapping[str, Any], name: str, algorithm: Algorithm) -> None:
    """Raise BadInput unless an agent has the same algorithm and game, and nets of the same shapes."""
    if info["algorithm"] != name:
        raise BadInput(f"{where} was trained by {info['algorithm']}, but this run is one of {name}")
    game = algorithm.game
    if info["game"] != game.identity:
        raise BadInput(f"{where} plays {info['game']}, not {game.spec}")
    for place in algorithm.agent.nets.values():
        theirs, mine = info["settings"][place.setting], getattr(algorithm.settings, place.setting)
        if Net(game, make_net(theirs), place.head).shapes() != Net(game, make_net(mine), place.head).shapes():
            raise BadInput(f"{where} has the {place.setting} {theirs}, which is not the one of this run, {mine}")
    for setting in algorithm.sizes:
        theirs, mine = info["settings"].get(setting, 0), getattr(algorithm.settings, setting)
        if Path(where).is_dir() and theirs != mine:
            raise BadInput(
                f"{where} has the {setting} {theirs}, and this run {mine}: set {setting}={theirs}, or start from its"
                " agent alone, which beamzero export writes"
            )
