"""Recipes, which hold good settings, and the settings that a run gets from them."""

from __future__ import annotations

import dataclasses
import importlib.resources
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.core.spec import parse_options, unknown
from beamzero.games import Game, make_game, make_stored_game
from beamzero.players import starts_program
from beamzero.storage.files import reason
from beamzero.training.algorithm import ALGORITHMS

DEFAULT_ALGORITHM = next(iter(ALGORITHMS.built_in))


@dataclasses.dataclass(frozen=True)
class Recipe:
    """One TOML file: a game, an algorithm, and the settings that differ from the defaults."""

    name: str
    about: str
    game: str
    algorithm: str
    settings: Mapping[str, Any]
    takes: str = ""
    """How long a training by it takes, and on what machine; empty where that was not measured."""


def list_recipes() -> dict[str, Recipe]:
    """Read the recipes of this package, by name."""
    folder = importlib.resources.files("beamzero") / "recipes"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return {file.name[:-5]: _read_recipe(file.name[:-5], file.read_text()) for file in files}


def find_recipe(name: str) -> Recipe:
    """Find the recipe of that name, or read a .toml file of one's own; BadInput with all names where there is none."""
    if name.endswith(".toml"):
        return _read_file(Path(name))
    recipes = list_recipes()
    if name not in recipes:
        raise unknown("recipe", name, recipes)
    return recipes[name]


def quick_recipe(game: Game, algorithm: str | None = None) -> Recipe | None:
    """Find the quick recipe of a game for an algorithm, by default the first that is built in; None without one.

    A variant is trained by the recipe of its game if nets see both alike: those of the recipe fit then.
    """
    wanted = algorithm or DEFAULT_ALGORITHM
    for recipe in list_recipes().values():
        if not (recipe.name.endswith("_quick") and recipe.algorithm == wanted and _serves(recipe, game)):
            continue
        if make_game(recipe.game).observation_shape == game.observation_shape:
            return recipe
    return None


def describe_choice(recipe: Recipe | None, game: Game, algorithm: str | None) -> str:
    """Say by which settings a new run trains, and how long that takes, or which recipes there are for the game."""
    if recipe is not None:
        takes = f"; it takes {recipe.takes}" if recipe.takes else ""
        variant = f" for {recipe.game}" if takes and make_game(recipe.game) != game else ""
        return f"by the recipe {recipe.name} ({recipe.about}){takes}{variant}"
    others = [name for name, one in list_recipes().items() if _serves(one, game)]
    known = f"; recipes for it: {', '.join(others)}" if others else ""
    return (
        f"no quick recipe for {game.spec} by {algorithm or DEFAULT_ALGORITHM}: the defaults, which may be slow{known}"
    )


def check_game(recipe: Recipe, game: Game) -> None:
    """Raise BadInput unless the recipe is for this game. One for a game without options serves its variants too."""
    if not _serves(recipe, game):
        raise BadInput(f"the recipe {recipe.name} is for {recipe.game}, not {game.spec}")


def _serves(recipe: Recipe, game: Game) -> bool:
    wanted = make_stored_game(recipe.game, game, "the game as")
    return wanted == game or (type(wanted) is type(game) and recipe.game == wanted.name)


def choose_algorithm(recipe: Recipe | None, algorithm: str | None) -> str:
    """Choose the name of the algorithm: the one that is asked for, or else the recipe's own."""
    if algorithm is not None and algorithm not in ALGORITHMS:
        raise unknown("algorithm", algorithm, ALGORITHMS)
    if recipe is None:
        return algorithm or DEFAULT_ALGORITHM
    if algorithm not in (None, recipe.algorithm):
        raise BadInput(f"the recipe {recipe.name} is for {recipe.algorithm}, not {algorithm}")
    return recipe.algorithm


def make_settings(recipe: Recipe | None, changes: Mapping[str, Any], algorithm: str | None = None) -> Any:
    """Make the settings of a recipe (or the defaults) with `changes`, of the kind that the algorithm has.

    Texts are converted to the setting's type. Without `algorithm` it is the recipe's own.
    """
    kind = ALGORITHMS[choose_algorithm(recipe, algorithm)]
    values = {**(kind.settings_type.without_retired(recipe.settings) if recipe else {}), **changes}
    return kind.settings_type(**parse_options(values, kind.settings_type, f"a run of {kind.title}"))


_KEYS = {"about": str, "takes": str, "game": str, "algorithm": str, "settings": dict}


def _read_file(path: Path) -> Recipe:
    """Read a recipe of a user; BadInput where it is none."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"the recipe {path} cannot be read: {reason(error)}") from None
    data = {"about": "", "takes": "", "settings": {}, **data}
    if unknown_keys := sorted(data.keys() - _KEYS):
        raise BadInput(f"the recipe {path} has no entry {unknown_keys[0]!r} (it has: {', '.join(_KEYS)})")
    for key, kind in _KEYS.items():
        if not isinstance(data.get(key), kind):
            raise BadInput(f"the recipe {path} needs {'a table [settings]' if kind is dict else f'a text {key!r}'}")
    if data["algorithm"] not in ALGORITHMS:
        raise unknown("algorithm", data["algorithm"], ALGORITHMS)
    opponents = data["settings"].get("rate_against", "")
    if isinstance(opponents, str) and any(map(starts_program, opponents.split())):
        raise BadInput(f"the recipe {path} rates against a program, which is started only by --set rate_against=...")
    return Recipe(path.stem, data["about"], data["game"], data["algorithm"], data["settings"], data["takes"])


def _read_recipe(name: str, text: str) -> Recipe:
    data = tomllib.loads(text)
    return Recipe(name, data["about"], data["game"], data["algorithm"], data["settings"], data.get("takes", ""))
