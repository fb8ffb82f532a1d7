"""The settings of a PROBS run, and the recipes that hold good ones."""

from __future__ import annotations

import ast
import dataclasses
import importlib.resources
import inspect
import textwrap
import tomllib
from collections.abc import Mapping
from typing import Any

import jax

from beamzero.errors import BadInput
from beamzero.games import Game
from beamzero.nets import compute_dtype, make_net
from beamzero.search.beam import MOST_EXPANSIONS, BeamSearch
from beamzero.search.minimax import affordable_depth
from beamzero.spec import parse_options, unknown


@dataclasses.dataclass(frozen=True)
class ProbsSettings:
    """Every setting of a PROBS run. ``--set name=value`` changes one; a recipe sets several."""

    iterations: int = 100
    """Iterations of the whole cycle; schedules are laid out over this number."""
    games: int = 1000
    """Self-play games an iteration, all of which V learns from."""
    q_games: int = 0
    """Games whose states are searched to teach Q; 0 means all of them."""
    q_games_per_step: int = 0
    """Teach Q in steps of this many games, searching each with the Q of the step before; 0 means in one step."""
    max_turns: int = 100
    """A game is cut after this many turns and then counts as a draw."""
    replay_capacity: int = 100_000
    """C: states remembered within an iteration; the oldest go first."""
    drop_ratio: float = 0.0
    """Share of the remembered states left out of each pass at random, against overfitting."""

    temperature: float = 0.1
    """Self-play draws moves from softmax(Q / temperature)."""
    sampled_moves: int = 0
    """Draw only this many first moves of a game and then play the best one; 0 draws every move."""
    noise: float = 0.25
    """epsilon: the share of Dirichlet noise in self-play's move probabilities."""
    noise_alpha: float = 0.5
    """alpha of that noise. As it is drawn anew for each move, all moves are alike to it, and alpha changes no game."""

    expand: int = 10
    """E: nodes that the beam search expands."""
    depth: int = 99
    """M: depth limit of the beam search, as in the paper: leaves lie up to M + 1 plies down."""
    strict_depth: bool = False
    """Let no leaf lie deeper than `depth` plies."""
    search_batch: int = 0
    """Beam searches that run side by side; more needs more memory. 0 chooses by the device, once for a run."""

    value_net: str = "mlp:width=128,depth=3"
    """The net V, such as mlp:width=256,depth=3."""
    q_net: str = "mlp:width=256,depth=3"
    """The net Q."""
    precision: str = "auto"
    """What nets compute in: float32, bfloat16, or auto (bfloat16 on a GPU, float32 on a CPU), once for a run."""
    value_learning_rate: float = 0.003
    """Learning rate of V (Adam)."""
    q_learning_rate: float = 0.003
    """Learning rate of Q (Adam)."""
    final_learning_rate: float = 0.05
    """Share of the learning rates that is left at the end; they fall along a cosine. 1 keeps them constant."""
    value_batch_size: int = 128
    """Minibatch of V."""
    q_batch_size: int = 128
    """Minibatch of Q."""
    value_passes: int = 1
    """Passes over the remembered states for V."""
    q_passes: int = 1
    """Passes over the searched states for Q."""
    symmetry: bool = True
    """Show the nets a random one of each state's mirror images and rotations, where the game has them."""

    rate_every: int = 1
    """Rate the agent every so many iterations, and at the end; 0 never does."""
    rate_games: int = 100
    """Games against each opponent in a rating."""
    rate_against: str = "auto"
    """Opponents of a rating, separated by spaces; their own ratings are measured first, the first one being 1000.
    "auto": random, and lookahead:1 to lookahead:3 as far as the game is small enough for them."""
    anchor_games: int = 400
    """Games of each pair of opponents when their ratings are measured."""

    checkpoint_every: int = 1
    """Save a checkpoint every so many iterations, and at the end."""
    keep_checkpoints: int = 3
    """Checkpoints kept: this many of the last ones, and the best."""

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise BadInput(f"{name} is {value}, but must be {low} to {high}")
        for name in ("rate_games", "anchor_games"):
            if getattr(self, name) % 2:
                raise BadInput(
                    f"{name} is {getattr(self, name)}, but must be even: openings are played with both colours"
                )
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise BadInput(f"precision is {self.precision!r}, but must be auto, float32 or bfloat16")
        if self.q_games > self.games:
            raise BadInput(f"q_games is {self.q_games}, but must be at most games, {self.games}")
        teaching = self.q_games or self.games
        if self.q_games_per_step and teaching % self.q_games_per_step:
            raise BadInput(
                f"q_games_per_step is {self.q_games_per_step}, but must divide the {teaching} games that teach Q"
            )
        make_net(self.value_net)
        make_net(self.q_net)


_RANGES: dict[str, tuple[float, float]] = {
    "iterations": (1, 10**8),
    "games": (1, 10**6),
    "q_games": (0, 10**6),
    "q_games_per_step": (0, 10**6),
    "max_turns": (1, 10**5),
    "replay_capacity": (1, 10**8),
    "drop_ratio": (0.0, 0.99),
    "temperature": (1e-6, 1e6),
    "sampled_moves": (0, 10**5),
    "noise": (0.0, 1.0),
    "noise_alpha": (1e-3, 1e3),
    "expand": (1, MOST_EXPANSIONS),
    "depth": (1, 10**6),
    "search_batch": (0, 10**6),
    "value_learning_rate": (1e-9, 1.0),
    "q_learning_rate": (1e-9, 1.0),
    "final_learning_rate": (0.0, 1.0),
    "value_batch_size": (1, 10**6),
    "q_batch_size": (1, 10**6),
    "value_passes": (1, 1000),
    "q_passes": (1, 1000),
    "rate_every": (0, 10**8),
    "rate_games": (2, 10**6),
    "anchor_games": (2, 10**6),
    "checkpoint_every": (1, 10**8),
    "keep_checkpoints": (1, 10**6),
}

CHANGEABLE = {
    "rate_every", "rate_games", "rate_against", "anchor_games", "checkpoint_every", "keep_checkpoints",
}  # fmt: skip
"""What may differ when a run is resumed: how it is measured and saved, not what it learns."""


def settle(settings: ProbsSettings, game: Game) -> ProbsSettings:
    """`settings` with everything fixed that depends on the machine, so that the run goes on the same elsewhere."""
    on_gpu = jax.default_backend() == "gpu"
    most, memory = (2**15, 16 * 2**30) if on_gpu else (2**10, 2**30)
    fitting = memory // BeamSearch(settings.expand).bytes_per_root(game)
    return dataclasses.replace(
        settings,
        precision=compute_dtype(settings.precision),
        rate_against=default_opponents(game) if settings.rate_against == "auto" else settings.rate_against,
        search_batch=settings.search_batch or int(max(1, min(most, fitting))),
    )


def default_opponents(game: Game) -> str:
    """Who an agent is rated against where nobody is named."""
    return " ".join(["random", *(f"lookahead:{depth + 1}" for depth in range(affordable_depth(game)))])


def describe_settings(kind: type = ProbsSettings) -> list[tuple[str, Any, str]]:
    """Every setting with its default and its docstring, in order."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(tree, ast.ClassDef)
    docs: dict[str, str] = {}
    for field, doc in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant):
            docs[field.target.id] = str(doc.value.value)  # type: ignore[union-attr]
    return [(field.name, field.default, docs[field.name]) for field in dataclasses.fields(kind)]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """One TOML file: a game, an algorithm, and the settings that differ from the defaults."""

    name: str
    about: str
    game: str
    algorithm: str
    settings: Mapping[str, Any]


def list_recipes() -> dict[str, Recipe]:
    """The recipes of this package by name."""
    folder = importlib.resources.files("beamzero") / "recipes"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return {file.name[:-5]: _read_recipe(file.name[:-5], file.read_text()) for file in files}


def find_recipe(name: str) -> Recipe:
    """The recipe of that name; BadInput with all names where there is none."""
    recipes = list_recipes()
    if name not in recipes:
        raise unknown("recipe", name, recipes)
    return recipes[name]


def make_settings(recipe: Recipe | None, changes: Mapping[str, Any]) -> ProbsSettings:
    """The settings of a recipe (or the defaults) with `changes`; texts are converted to the setting's type."""
    values = parse_options({**(recipe.settings if recipe else {}), **changes}, ProbsSettings, "a PROBS run")
    return ProbsSettings(**values)


def _read_recipe(name: str, text: str) -> Recipe:
    data = tomllib.loads(text)
    return Recipe(name, data["about"], data["game"], data["algorithm"], data["settings"])
