"""The recipes that hold good settings, and what a run's settings come to on this machine and for this game."""

from __future__ import annotations

import dataclasses
import importlib.resources
import tomllib
from collections.abc import Mapping
from typing import Any, TypeVar

import jax

from beamzero.errors import BadInput
from beamzero.games import Game, make_game
from beamzero.nets import compute_dtype
from beamzero.search.beam import BeamSearch
from beamzero.search.devices import device_count
from beamzero.search.lookahead import affordable_depth
from beamzero.spec import parse_options, unknown
from beamzero.training.algorithms import ALGORITHMS
from beamzero.training.settings import AlphaZeroSettings, ProbsSettings, RunSettings

DEFAULT_ALGORITHM = "probs"

Settings = TypeVar("Settings", bound=RunSettings)

_FEWEST_GAMES_IN_A_LANE = 8


def settle(settings: Settings, game: Game, workers: int = 0) -> Settings:
    """`settings` with everything fixed that depends on the machine, so that the run goes on the same elsewhere.

    With `workers`, or several devices, the work is cut into enough pieces for all of them.
    """
    fixed: dict[str, Any] = {
        "precision": compute_dtype(settings.precision),
        "rate_against": default_opponents(game) if settings.rate_against == "auto" else settings.rate_against,
    }
    if isinstance(settings, ProbsSettings):
        fixed["search_batch"] = settings.search_batch or _search_batch(settings, game, workers)
    if isinstance(settings, ProbsSettings | AlphaZeroSettings):
        fixed["lanes"] = settings.lanes or _lanes(settings.games, workers)
    return dataclasses.replace(settings, **fixed)


def _search_batch(settings: ProbsSettings, game: Game, workers: int) -> int:
    """Beam searches whose trees fit into a fair share of the memory; few enough that all workers or devices have some.

    They have where games are half as long as they may be.
    """
    most, memory = (2**15, 16 * 2**30) if jax.default_backend() == "gpu" else (2**10, 2**30)
    most = min(most, memory // BeamSearch(settings.expand).bytes_per_root(game))
    hands = workers or device_count()
    if hands > 1:
        most = min(most, settings.games * min(settings.max_turns, game.max_plies) // (2 * hands))
    return int(max(1, most))


def _lanes(games: int, workers: int) -> int:
    """A GPU takes all games as one batch, several share them; so do the cores of a CPU, if each has enough of them.

    For workers elsewhere there are two lanes each, if that goes: whoever is slow then does fewer.
    """
    if workers:
        most = max(1, min(2 * workers, games // _FEWEST_GAMES_IN_A_LANE, 1024))
        return next(lanes for lanes in range(most, 0, -1) if games % lanes == 0)
    if jax.default_backend() == "gpu" or device_count() > 1:
        return next(lanes for lanes in range(device_count(), 0, -1) if games % lanes == 0)
    shares = (lanes for lanes in (8, 4, 2) if games % lanes == 0 and games // lanes >= _FEWEST_GAMES_IN_A_LANE)
    return next(shares, 1)


def default_opponents(game: Game) -> str:
    """Who an agent is rated against where nobody is named."""
    if game.num_chance:
        return "random expectiminimax:depth=1"
    return " ".join(["random", *(f"lookahead:{depth + 1}" for depth in range(affordable_depth(game)))])


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


def check_game(recipe: Recipe, game: Game) -> None:
    """BadInput unless the recipe is for this game. One for a game as it usually is serves its variants too."""
    wanted = make_game(recipe.game)
    if wanted != game and not (type(wanted) is type(game) and recipe.game == wanted.name):
        raise BadInput(f"the recipe {recipe.name} is for {recipe.game}, not {game.spec}")


def choose_algorithm(recipe: Recipe | None, algorithm: str | None) -> str:
    """The name of the algorithm: the one that is asked for, or else the recipe's own."""
    if algorithm is not None and algorithm not in ALGORITHMS:
        raise unknown("algorithm", algorithm, ALGORITHMS)
    if recipe is None:
        return algorithm or DEFAULT_ALGORITHM
    if algorithm not in (None, recipe.algorithm):
        raise BadInput(f"the recipe {recipe.name} is for {recipe.algorithm}, not {algorithm}")
    return recipe.algorithm


def make_settings(recipe: Recipe | None, changes: Mapping[str, Any], algorithm: str | None = None) -> Any:
    """The settings of a recipe (or the defaults) with `changes`, of the kind that the algorithm has.

    Texts are converted to the setting's type. Without `algorithm` it is the recipe's own.
    """
    kind, settings = ALGORITHMS[choose_algorithm(recipe, algorithm)]
    values = {**(recipe.settings if recipe else {}), **changes}
    return settings(**parse_options(values, settings, f"a run of {kind.title}"))


def _read_recipe(name: str, text: str) -> Recipe:
    data = tomllib.loads(text)
    return Recipe(name, data["about"], data["game"], data["algorithm"], data["settings"])
