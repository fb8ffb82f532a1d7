"""`beamzero agents` and `recipes`: lists of what can be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from beamzero.cli.common import AsJson, out, print_json
from beamzero.core.errors import BadInput
from beamzero.players.agent_kind import agent_kind
from beamzero.players.built_in import AGENTS
from beamzero.players.trained import load_info, shipped_agents
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.recipes import find_recipe, list_recipes, make_settings
from beamzero.training.settings import describe_settings


def agents(json: AsJson = False) -> None:
    """List the agents that can be named, and the trained ones that ship."""
    kinds = agent_texts()
    shipped = {name: load_info(path) for name, path in shipped_agents().items()}
    if json:
        return print_json({"agents": kinds, "shipped": shipped})
    table = Table(box=None, header_style="bold")
    table.add_column("agent", no_wrap=True)
    table.add_column("what it is")
    for name, about in kinds.items():
        table.add_row(name, about)
    for name, info in shipped.items():
        table.add_row(f"{info['algorithm']}:{name}", f"shipped; plays {info['game']}")
    out.print(table)
    out.print("\nin beamzero play you can also name human, for a second person", style="dim")


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
        return print_json(
            {"recipes": {r.name: {"game": r.game, "algorithm": r.algorithm, "about": r.about} for r in found.values()}}
        )
    table = Table(box=None, header_style="bold")
    for title in ("recipe", "game", "algorithm", "what it is"):
        table.add_column(title, no_wrap=title == "recipe")
    for recipe in found.values():
        table.add_row(recipe.name, recipe.game, recipe.algorithm, recipe.about)
    out.print(table)
    return None


def _show_recipe(name: str, json: bool) -> None:
    recipe = find_recipe(name)
    settings = make_settings(recipe, {})
    rows = [(key, getattr(settings, key), default, doc) for key, default, doc in describe_settings(type(settings))]
    if json:
        values = {key: value for key, value, _, _ in rows}
        return print_json({"recipe": name, "game": recipe.game, "algorithm": recipe.algorithm, "settings": values})
    title = ALGORITHMS[recipe.algorithm].title
    out.print(Text.assemble((recipe.name, "bold"), f": {recipe.about} (game {recipe.game}, by {title})\n"))
    table = Table(box=None, header_style="bold")
    for title in ("setting", "value", "meaning"):
        table.add_column(title)
    for key, value, default, doc in rows:
        table.add_row(key, Text(str(value), "bold" if value != default else ""), doc)
    out.print(table)
    return None
