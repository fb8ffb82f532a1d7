"""Trained agents, as they are kept: run folders, .safetensors files, and the ones that ship."""

from __future__ import annotations

import dataclasses
import importlib.resources
from pathlib import Path
from typing import Any

import jax
import numpy as np

from beamzero.errors import BadInput, RunStopped
from beamzero.games import Game
from beamzero.nets import Net, Weights, compute_dtype, make_evaluator, make_net
from beamzero.runs.agentfile import flatten, load_agent, save_agent, unflatten
from beamzero.runs.checkpoints import Checkpoints, Restored
from beamzero.runs.run import Run
from beamzero.search.evaluator import Evaluator
from beamzero.spec import unknown


@dataclasses.dataclass(frozen=True)
class Trained:
    """The two nets of a PROBS agent with their weights, and what is known about them."""

    value_net: Net
    q_net: Net
    value_weights: Weights
    q_weights: Weights
    info: dict[str, Any]
    """The game, the nets, the recipe and settings, the iterations and the rating: what an agent file says."""

    @property
    def evaluator(self) -> Evaluator:
        return make_evaluator(self.value_net, self.value_weights, self.q_net, self.q_weights)

    def save(self, path: str | Path) -> None:
        """Write it as one .safetensors file."""
        save_agent(path, flatten({"value": self.value_weights, "q": self.q_weights}), self.info)


def shipped_agents() -> dict[str, Path]:
    """The agents that come with the package, by name."""
    folder = Path(str(importlib.resources.files("beamzero") / "agents"))
    return {path.stem: path for path in sorted(folder.glob("*.safetensors"))} if folder.is_dir() else {}


def load_trained(path: str, game: Game, checkpoint: str = "last") -> Trained:
    """The agent at `path` (a run folder, a .safetensors file or the name of a shipped agent), which must play `game`.

    `checkpoint` says which one of a run: "last", "best", or the number of an iteration.
    """
    place = Path(path)
    if place.is_dir():
        return _from_run(place, game, checkpoint)
    if checkpoint != "last":
        raise BadInput(f"{path} is no run folder, so it has no checkpoint {checkpoint!r}")
    shipped = shipped_agents()
    if path in shipped:
        place = shipped[path]
    elif place.suffix != ".safetensors" and not place.exists():
        known = f"; shipped agents: {', '.join(shipped)}" if shipped else ""
        raise BadInput(f"no agent {path!r}: give a run folder or a .safetensors file{known}")
    tensors, info = load_agent(place)
    try:
        value_net, q_net = _nets(info, game, str(place))
        weights = unflatten(tensors)
        return Trained(value_net, q_net, _fitting(value_net, weights["value"]), _fitting(q_net, weights["q"]), info)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{place} is no PROBS agent that this version can read: {error}") from None


def open_probs_run(folder: Path) -> Run:
    """The run in `folder`, if it is one of PROBS and its run.json says all that it should."""
    run = Run.open(folder)
    algorithm = run.about.get("algorithm")
    if algorithm != "probs":
        raise BadInput(f"{folder} is a run of {algorithm!r}, not of probs")
    settings = run.about.get("settings")
    settings = settings if isinstance(settings, dict) else {}
    missing = [key for key in ("game", "game_text", "settings", "seed", "from") if key not in run.about]
    missing += [key for key in ("value_net", "q_net", "precision") if not isinstance(settings.get(key), str)]
    if missing:
        raise BadInput(f"{folder / 'run.json'} is damaged: it does not say {', '.join(missing)}")
    return run


def restore_agent(run: Run, like: Any, step: int | None = None, **options: Any) -> Restored:
    """A checkpoint of somebody's run, as `Checkpoints.restore` gives it; where there is none, that is bad input."""
    try:
        return Checkpoints(run.checkpoints_folder, keep=1).restore(like, step, **options)
    except RunStopped as error:
        raise BadInput(f"{run.folder} holds no agent that could be used: {error}") from None


def _from_run(folder: Path, game: Game, checkpoint: str) -> Trained:
    run = open_probs_run(folder)
    info = run.about
    value_net, q_net = _nets(info, game, str(folder))
    like = {"value": {"weights": value_net.shapes()}, "q": {"weights": q_net.shapes()}}
    step = _checkpoint_step(Checkpoints(run.checkpoints_folder, keep=1), checkpoint, folder)
    found = restore_agent(run, like, step, part=True)
    info = {**info, "iterations": found.step, **found.note}
    return Trained(value_net, q_net, found.tree["value"]["weights"], found.tree["q"]["weights"], info)


def _checkpoint_step(checkpoints: Checkpoints, checkpoint: str, folder: Path) -> int | None:
    if checkpoint == "last":
        return None
    if checkpoint == "best":
        if checkpoints.best_step is None:
            raise BadInput(f"no checkpoint of {folder} has been rated best yet; use checkpoint=last")
        return checkpoints.best_step
    if not checkpoint.isdecimal() or int(checkpoint) not in checkpoints.steps():
        raise unknown(f"checkpoint in {folder}", checkpoint, ["last", "best", *map(str, checkpoints.steps())])
    return int(checkpoint)


def _nets(info: dict[str, Any], game: Game, where: str) -> tuple[Net, Net]:
    if info.get("algorithm") != "probs":
        raise BadInput(f"{where} was trained by {info.get('algorithm')!r}, but probs: plays agents of PROBS")
    if info["game"] != game.identity:
        raise BadInput(f"{where} plays {info['game']}, not {game.identity}")
    settings = info["settings"]
    dtype = compute_dtype("auto")  # what suits this machine, whatever the agent was trained on
    return (
        Net(game, make_net(settings["value_net"]), "value", dtype),
        Net(game, make_net(settings["q_net"]), "scores", dtype),
    )


def _fitting(net: Net, weights: dict[str, Any]) -> Weights:
    """The weights, if they have the shapes that the net asks for."""
    wanted = {name: array.shape for name, array in _flat(net.shapes()).items()}
    found = {name: array.shape for name, array in _flat(weights).items()}
    if wanted != found:
        raise ValueError("its weights do not fit its nets")
    return jax.tree.map(lambda x: jax.numpy.asarray(np.asarray(x, np.float32)), weights)


def _flat(tree: Any) -> dict[str, Any]:
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}
