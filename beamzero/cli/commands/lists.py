"""`beamzero agents` and `recipes`: lists of what can be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from beamzero.cli.common import AsJson, out, print_json
from beamzero.core.errors import BadInput
from beamzero.players.agent_kind import agent_kind
from beamzero.players.built_in import AGENTS
from beamzero.players.trained import load_info, shipped_agents
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.recipes import Recipe, find_recipe, list_recipes, make_settings
from beamzero.training.settings import describe_settings


def agents(json: AsJson = False) -> None:
    """List the agents that can be named, and the trained ones that ship."""
    kinds = agent_texts()
    shipped = {name: load_info(path) for name, path in shipped_agents().items()}
    if json:
        return print_json({"agents": kinds, "shipped": shipped})
    out.print(_two_columns("agent", "what it is", kinds))
    out.print()
    plays = {f"{info['algorithm']}:{name}": info["game"] for name, info in shipped.items()}
    out.print(_two_columns("shipped", "what it plays", plays))
    out.print("\nin beamzero play you can also name human, for a second person", style="dim")


def _two_columns(first: str, second: str, rows: Mapping[str, str]) -> Table:
    table = Table(box=None, header_style="bold")
    table.add_column(first, no_wrap=True)
    table.add_column(second)
    for name, about in rows.items():
        table.add_row(name, about)
    return table


def agent_texts() -> dict[str, str]:
    """List the texts that name agents, each with what it names."""
    first, *more = ALGORITHMS
    others = " and ".join(more)
    return {
        **{f"{name}{agent.options}": agent.about for name, agent in AGENTS.items()},
        **{f"{name}:{text}": about for name in ALGORITHMS for text, about in _texts(name).items()},
        f"{first}:PATH,level=L": f"a trained agent at a level: beginner, easy, medium, hard or full; so {others}",
        f"{first}:RUN,checkpoint=C": f"another checkpoint of a run: best, last or an iteration's number; so {others}",
        "file.py:Class,PATH": "an agent that an algorithm in a file of yours has trained",
        "file.py:Class,OPTION=VALUE": "a search in a file of yours; also seconds=S, nodes=N, evaluations=N",
    }


def _texts(algorithm: str) -> Mapping[str, str]:
    """Return the texts that name agents of an algorithm; of a plug-in that cannot be used, why."""
    try:
        return agent_kind(algorithm).texts
    except BadInput as error:
        return {"PATH": str(error)}


def recipes(
    name: Annotated[
        str | None, typer.Argument(help="Show one recipe: every setting, its value and what it means.")
    ] = None,
    json: AsJson = False,
) -> None:
    """List the recipes for training, or show one with all its settings."""
    if name is not None:
        return _show_recipe(name, json)
    found = list_recipes()
    if json:
        return print_json({"recipes": {name: _about_recipe(recipe) for name, recipe in found.items()}})
    width = max(map(len, found))
    for game in dict.fromkeys(recipe.game for recipe in found.values()):
        out.print(Text(game, "bold"))
        for recipe in (one for one in found.values() if one.game == game):
            out.print(f"  {recipe.name:<{width}}  {recipe.algorithm:<9}  {recipe.takes or '-'}")
            out.print(Padding(Text(recipe.about, "dim"), (0, 0, 0, 4), expand=False))
    out.print("\na recipe, its algorithm and how long it takes; beamzero recipes NAME shows its settings", style="dim")
    return None


def _about_recipe(recipe: Recipe) -> dict[str, str | None]:
    about = {"game": recipe.game, "algorithm": recipe.algorithm, "about": recipe.about}
    return {**about, "takes": recipe.takes or None}


def _show_recipe(name: str, json: bool) -> None:
    recipe = find_recipe(name)
    settings = make_settings(recipe, {})
    rows = [(key, getattr(settings, key), default, doc) for key, default, doc in describe_settings(type(settings))]
    if json:
        values = {key: value for key, value, _, _ in rows}
        return print_json({
            "recipe": name, "game": recipe.game, "algorithm": recipe.algorithm, "takes": recipe.takes or None,
            "settings": values,
        })  # fmt: skip
    title = ALGORITHMS[recipe.algorithm].title
    out.print(Text.assemble((recipe.name, "bold"), f": {recipe.about} (game {recipe.game}, by {title})"))
    out.print(Text(f"it takes {recipe.takes}" if recipe.takes else "how long it takes was not measured", "dim"), "\n")
    table = Table(box=None, header_style="bold")
    for title in ("setting", "value", "meaning"):
        table.add_column(title)
    for key, value, default, doc in rows:
        table.add_row(key, Text(str(value), "bold" if value != default else ""), doc)
    out.print(table)
    return None
