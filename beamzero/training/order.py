"""What a user asks of a run, and the run folder that comes of it. What is wrong is found before anything is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax

from beamzero import __version__
from beamzero.errors import BadInput
from beamzero.games import Game, make_game
from beamzero.players import Player, make_player
from beamzero.players.trained import load_trained, open_probs_run, restore_agent
from beamzero.runs.run import Run
from beamzero.training.config import CHANGEABLE, ProbsSettings, Recipe, make_settings, settle
from beamzero.training.fit import new_learner
from beamzero.training.probs import Probs, ProbsState
from beamzero.training.report import QUIET, Report


@dataclasses.dataclass(frozen=True)
class Order:
    """What a user asked for."""

    game: str
    folder: Path
    recipe: Recipe | None = None
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seed: int | None = None
    start_from: str | None = None
    iterations: int | None = None
    """Stop after this many iterations in all; by default, when the settings' iterations are done."""
    minutes: float | None = None
    """Stop after this long."""
    resume: bool = False


def create_run(order: Order, game: Game) -> tuple[Run, ProbsSettings, int]:
    if order.recipe is not None and make_game(order.recipe.game) != game:
        raise BadInput(f"the recipe {order.recipe.name} is for {order.recipe.game}, not {game.spec}")
    settings = settle(make_settings(order.recipe, order.changes), game)
    algorithm = Probs(game, settings)
    fresh = jax.eval_shape(algorithm.init, jax.random.key(0))  # finds nets that do not fit the game
    make_opponents(settings, game)
    seed = 0 if order.seed is None else order.seed
    if order.start_from is not None:
        load_start(order.start_from, game, fresh, QUIET)
    about = {
        "game": game.identity,
        "game_text": order.game,
        "algorithm": "probs",
        "recipe": order.recipe.name if order.recipe else None,
        "settings": dataclasses.asdict(settings),
        "seed": seed,
        "from": order.start_from,
        "version": __version__,
        "device": jax.devices()[0].device_kind,
    }
    return Run.create(order.folder, about), settings, seed


def resume_run(order: Order, game: Game) -> tuple[Run, ProbsSettings, int]:
    """The run of the folder, with its own settings; only what is measured, and how long, may change."""
    run = open_probs_run(order.folder)
    about = run.about
    if about["game"] != game.identity:
        raise BadInput(f"{order.folder} holds a run of {about['game']}, not of {game.spec}")
    if order.seed not in (None, about["seed"]):
        raise BadInput(f"the run in {order.folder} has seed {about['seed']}, which cannot be changed by --resume")
    if order.start_from not in (None, about["from"]):
        raise BadInput(f"the run in {order.folder} is under way, so it cannot start from {order.start_from!r}")
    asked = {**(order.recipe.settings if order.recipe else {}), **order.changes}
    before = make_settings(None, about["settings"])
    settings = make_settings(None, {**about["settings"], **asked})
    for name in sorted(set(asked) - CHANGEABLE):
        if getattr(settings, name) != getattr(before, name):
            was = getattr(before, name)
            allowed = ", ".join(sorted(CHANGEABLE))
            raise BadInput(f"{name} is {was} in {order.folder} and cannot be changed by --resume (only: {allowed})")
    make_opponents(settings, game)
    return run, settings, about["seed"]


def make_opponents(settings: ProbsSettings, game: Game) -> list[Player]:
    """Who the agent is rated against."""
    names = settings.rate_against.split()
    if not names or len(set(names)) < len(names):
        raise BadInput(f"rate_against is {settings.rate_against!r}, but must name one opponent or more, and none twice")
    return [make_player(name, game) for name in names]


def load_start(text: str, game: Game, fresh: ProbsState, report: Report) -> ProbsState:
    """The nets of another agent to start from, and its optimizer's state where there is one (in a run folder)."""
    path = Path(text.removeprefix("probs:"))
    if path.is_dir():
        run = open_probs_run(path)
        if run.about["game"] != game.identity:
            raise BadInput(f"{path} holds a run of {run.about['game']}, not of {game.spec}")
        return ProbsState.from_tree(restore_agent(run, fresh.as_tree(), warn=report.message).tree)
    trained = load_trained(str(path), game)
    weights = (trained.value_weights, trained.q_weights)
    for mine, theirs, name in zip((fresh.value.weights, fresh.q.weights), weights, ("value_net", "q_net"), strict=True):
        if jax.tree.map(lambda x: x.shape, mine) != jax.tree.map(lambda x: x.shape, theirs):
            raise BadInput(f"{path} has {name} {trained.info['settings'][name]}, which is not the one of this run")
    return ProbsState(*map(new_learner, weights))
