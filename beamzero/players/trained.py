"""Trained agents and where they are stored: run folders, .safetensors files, and the agents of the package."""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import operator
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import ml_dtypes
import numpy as np

from beamzero.core.errors import BadInput, RunStopped
from beamzero.core.registry import ALGORITHMS
from beamzero.core.spec import Spec, parse, quote, unknown
from beamzero.games import Game
from beamzero.nets import Net, Weights, compute_dtype, make_net
from beamzero.players.agent_kind import agent_kind, own_file
from beamzero.players.options import take
from beamzero.search.evaluator import Evaluator
from beamzero.storage.agentfile import flatten, load_agent, save_agent
from beamzero.storage.checkpoints import Checkpoints, Restored
from beamzero.storage.run import Run


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained agent: its nets and their weights, by their names in `AgentKind.nets`, and facts about them."""

    nets: dict[str, Net]
    weights: dict[str, Weights]
    info: dict[str, Any]
    """The facts in an agent file: the game, the nets, the recipe and settings, the iterations and the rating."""

    @classmethod
    def from_tree(cls, game: Game, tree: dict[str, Any], info: dict[str, Any], where: str) -> Trained:
        """Take the agent out of the `tree` of a checkpoint; `info` describes it, and `where` names it in errors."""
        nets, places = _nets(info, game, where), agent_kind(info["algorithm"]).nets
        weights = {name: functools.reduce(operator.getitem, places[name].path, tree) for name in nets}
        return cls(nets, weights, info)

    @property
    def algorithm(self) -> str:
        """Give the name of the algorithm that trained the agent."""
        return self.info["algorithm"]

    @property
    def evaluator(self) -> Evaluator:
        """Make the evaluator of the nets."""
        return agent_kind(self.algorithm).evaluator(self.nets, self.weights)

    def save(self, path: str | Path, half: bool = False) -> None:
        """Write the agent as one .safetensors file; with `half` its weights are rounded to 16 bits each."""
        tensors = flatten(self.weights)
        if half:
            with np.errstate(over="ignore"):
                tensors = {name: tensor.astype(np.float16) for name, tensor in tensors.items()}
            if not _all_finite(tensors):
                raise BadInput("some weights are too large for 16 bits: write them with 32, which is the default")
        save_agent(path, tensors, self.info)


def shipped_agents() -> dict[str, Path]:
    """List the agent files that come with the package, by name."""
    folder = Path(str(importlib.resources.files("beamzero") / "agents"))
    return {path.stem: path for path in sorted(folder.glob("*.safetensors"))} if folder.is_dir() else {}


def load_trained(path: str, game: Game, checkpoint: str = "last", algorithm: str | None = None) -> Trained:
    """Read the agent at `path` (a run folder, a .safetensors file or a shipped agent's name), which must play `game`.

    `checkpoint` of a run is "last", "best", or the number of an iteration. `algorithm` is the one that must have
    trained the agent; None takes an agent of any.
    """
    place = Path(path)
    if place.is_dir():
        return _from_run(place, game, checkpoint, algorithm)
    if checkpoint != "last":
        raise BadInput(f"{path} is no run folder, so it has no checkpoint {checkpoint!r}")
    shipped = shipped_agents()
    if path in shipped:
        place = shipped[path]
    elif place.suffix != ".safetensors" and not place.exists():
        known = f"; shipped agents: {', '.join(shipped)}" if shipped else ""
        raise BadInput(f"no agent {path!r}: give a run folder or a .safetensors file{known}")
    tensors, info = load_agent(place)
    _check_algorithm(info, path, algorithm)
    _check_info(info, place)
    nets = _nets(info, game, str(place))
    return Trained(nets, _fitting(nets, tensors, f"{_no_agent(info, place)}: its weights"), info)


@dataclasses.dataclass(frozen=True)
class Source:
    """The place of an agent, as the text of a player names it."""

    algorithm: str
    path: str
    checkpoint: str

    def load(self, game: Game) -> Trained:
        """Read the agent, which must play `game`."""
        return load_trained(self.path, game, self.checkpoint, self.algorithm)


def take_trained(
    name: str, spec: Spec, kinds: Mapping[str, type], example: str = "connect_four"
) -> tuple[Source, dict[str, Any]]:
    """Read the text of a trained player: the place of its agent, and the options `kinds` with their values."""
    argument, options = take(spec, name, "path", {"path": str, "checkpoint": str, **kinds})
    path = options.pop("path", argument)
    if not path:
        head = spec.head
        raise BadInput(f"{name} needs an agent, such as {head}:runs/{example} or {head}:agent.safetensors")
    return Source(spec.head, path, options.pop("checkpoint", "last")), options


def load_info(path: Path) -> dict[str, Any]:
    """Read the facts in an agent file, without its weights; BadInput where game, algorithm or nets are missing."""
    info = load_agent(path)[1]
    _check_algorithm(info, str(path), None)
    _check_info(info, path)
    return info


def open_trained_run(folder: Path, algorithm: str | None = None) -> Run:
    """Open the run in `folder`; BadInput where it is not of `algorithm` (None: any) or its run.json is incomplete."""
    run = Run.open(folder)
    _check_algorithm(run.about, str(folder), algorithm)
    settings = run.about.get("settings")
    settings = settings if isinstance(settings, dict) else {}
    nets = [place.setting for place in agent_kind(run.about["algorithm"]).nets.values()]
    missing = [key for key in ("game", "game_text", "settings", "seed", "from") if key not in run.about]
    missing += [key for key in (*nets, "precision") if not isinstance(settings.get(key), str)]
    if missing:
        raise BadInput(f"{folder / 'run.json'} is damaged: it does not say {', '.join(missing)}")
    return run


def _check_algorithm(info: dict[str, Any], where: str, wanted: str | None) -> None:
    """Raise BadInput where the agent `where` was trained by an unknown algorithm, or by another than `wanted`."""
    found = info.get("algorithm")
    if not isinstance(found, str) or found not in ALGORITHMS:
        known = " and ".join(ALGORITHMS)
        named = isinstance(found, str) and found.isidentifier()
        hint = f"; if it is a class in a Python file of yours, name it: file.py:{found:.60}" if named else ""
        raise BadInput(f"{where} was trained by {found!r:.60}, but this version plays agents of {known}{hint}")
    if wanted not in (None, found):
        raise BadInput(f"{where} was trained by {found}: write {found}:{quote(where)}")


def _check_info(info: dict[str, Any], place: Path) -> None:
    """Raise BadInput where an agent file does not name, each as a text, the game and the nets of its weights."""
    settings = info.get("settings")
    settings = settings if isinstance(settings, dict) else {}
    wanted = {"game": info.get("game")}
    wanted |= {one.setting: settings.get(one.setting) for one in agent_kind(info["algorithm"]).nets.values()}
    missing = [key for key, text in wanted.items() if not isinstance(text, str)]
    if missing:
        raise BadInput(f"{_no_agent(info, place)}: it does not say its {' and '.join(missing)}")


def _no_agent(info: dict[str, Any], place: Path) -> str:
    """Write the beginning of an error about an agent file."""
    return f"{place} is no agent of {info['algorithm']} that this version can read"


ALL = "all"
"""The name, in place of one checkpoint, for every checkpoint of a run."""


def every_checkpoint(name: str) -> dict[int, str]:
    """List the texts that name the agents of a run, by iteration, if `name` says ``checkpoint=all``; else none."""
    spec = parse(name)
    if spec.options.get("checkpoint") != ALL:
        return {}
    agent = own_file(spec)
    if agent.head not in ALGORITHMS:
        return {}
    path = agent.options.get("path") or next(iter(agent.arguments), "")
    run = open_trained_run(Path(path), agent.head)
    others = [quote(text) for text in spec.arguments]
    others += [f"{key}={quote(text)}" for key, text in spec.options.items() if key != "checkpoint"]
    steps = Checkpoints(run.checkpoints_folder, keep=1).steps()
    return {step: f"{spec.head}:{','.join([*others, f'checkpoint={step}'])}" for step in steps}


def restore_agent(run: Run, like: Any, step: int | None = None, **options: Any) -> Restored:
    """Restore a checkpoint of a run, as `Checkpoints.restore` does; BadInput where there is none."""
    try:
        return Checkpoints(run.checkpoints_folder, keep=1).restore(like, step, **options)
    except RunStopped as error:
        raise BadInput(f"{run.folder} holds no agent that could be used: {error}") from None


def _from_run(folder: Path, game: Game, checkpoint: str, algorithm: str | None) -> Trained:
    """Read an agent from a run folder."""
    run = open_trained_run(folder, algorithm)
    nets = _nets(run.about, game, str(folder))
    places = agent_kind(run.about["algorithm"]).nets
    like: dict[str, Any] = {}
    for name, net in nets.items():
        put(like, places[name].path, net.shapes())
    step = _checkpoint_step(Checkpoints(run.checkpoints_folder, keep=1), checkpoint, folder)
    found = restore_agent(run, like, step, part=True)
    if not _all_finite(_flat(found.tree)):
        raise BadInput(f"{folder} holds no agent that could be used: its weights are not finite")
    info = {**found.note, **run.about, "iterations": found.step}
    return Trained.from_tree(game, found.tree, info, str(folder))


def put(tree: dict[str, Any], path: Sequence[str], leaf: Any) -> None:
    """Put `leaf` into nested dicts, at the end of the keys in `path`."""
    *parents, last = path
    for key in parents:
        tree = tree.setdefault(key, {})
    tree[last] = leaf


def _checkpoint_step(checkpoints: Checkpoints, checkpoint: str, folder: Path) -> int | None:
    """Find the iteration of a checkpoint that a text names; None for the last."""
    if checkpoint == "last":
        return None
    if checkpoint == "best":
        if checkpoints.best_step is None:
            raise BadInput(f"no checkpoint of {folder} has been rated best yet; use checkpoint=last")
        return checkpoints.best_step
    if not checkpoint.isdecimal() or int(checkpoint) not in checkpoints.steps():
        raise unknown(f"checkpoint in {folder}", checkpoint, ["last", "best", *map(str, checkpoints.steps())])
    return int(checkpoint)


def _nets(info: dict[str, Any], game: Game, where: str) -> dict[str, Net]:
    """Make the nets of an agent, by name; BadInput where it plays another game."""
    if info["game"] != game.identity:
        raise BadInput(f"{where} plays {info['game']!s:.200}, not {game.identity}")
    dtype = compute_dtype("auto")  # what suits this machine, whatever the agent was trained on
    try:
        return {
            name: Net(game, make_net(info["settings"][place.setting]), place.head, dtype)
            for name, place in agent_kind(info["algorithm"]).nets.items()
        }
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


_FLOATS = {np.dtype(kind) for kind in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)}


def _fitting(nets: dict[str, Net], tensors: dict[str, np.ndarray], what: str) -> dict[str, Weights]:
    """Make the weights of each net of the tensors of a file; BadInput about `what` where they do not fit the nets."""
    kernels = sum(name.endswith("/kernel") for name in tensors)
    # Layers are counted first: to find the shapes of a deep net takes long.
    layers = [net.settings.layers for net in nets.values()]
    fit = None in layers or kernels == sum(filter(None, layers))
    shapes: Any = {}
    if fit:
        shapes = {name: net.shapes() for name, net in nets.items()}
        wanted = _flat(shapes)
        fit = {name: leaf.shape for name, leaf in wanted.items()} == {name: x.shape for name, x in tensors.items()}
    if not fit:
        raise BadInput(f"{what} do not fit its nets")
    others = {tensor.dtype.name for tensor in tensors.values() if tensor.dtype not in _FLOATS}
    if others:
        raise BadInput(f"{what} are {min(others)}, but must be {' or '.join(sorted(kind.name for kind in _FLOATS))}")
    with np.errstate(over="ignore"):
        weights = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
    if not _all_finite(weights):
        raise BadInput(f"{what} are not finite")
    # The tree of the nets themselves: modules in a list have numbers as keys, which a name in a file does not say.
    return jax.tree.unflatten(jax.tree.structure(shapes), [jax.device_put(weights[name]) for name in _flat(shapes)])


def _all_finite(arrays: Mapping[str, Any]) -> bool:
    """Tell whether all numbers in some arrays are finite."""
    return all(bool(np.isfinite(np.asarray(array, np.float32)).all()) for array in arrays.values())


def _flat(tree: Any) -> dict[str, Any]:
    """List the leaves of nested dicts by their names in an agent file."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {"/".join(str(entry.key) for entry in path): leaf for path, leaf in leaves}
