"""`beamzero games`, `agents`, `recipes` and `runs`: lists of what can be used."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from beamzero.arena.rating import elo_text
from beamzero.cli.common import RUNS_FOLDER, AsJson, out, print_json
from beamzero.core.errors import BadInput
from beamzero.core.spec import field_types
from beamzero.games import GAMES, LIBRARIES
from beamzero.players.agent_kind import agent_kind
from beamzero.players.built_in import AGENTS
from beamzero.players.trained import load_info, shipped_agents
from beamzero.storage.run import list_runs
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.recipes import find_recipe, list_recipes, make_settings
from beamzero.training.settings import describe_settings


def register(app: typer.Typer) -> None:
    for command in (games, agents, recipes, runs):
        app.command()(command)


def games(json: AsJson = False) -> None:
    """List the games that can be played, with their parameters."""
    rows: list[dict[str, Any]] = []
    for name in GAMES.built_in:
        kind = GAMES[name]
        game = kind()
        defaults = {field: getattr(game, field) for field in field_types(kind)}
        about = (kind.__doc__ or "").strip().splitlines()[0]
        rows.append({"name": name, "about": about, "parameters": defaults, "actions": game.num_actions})
    others = {library: [f"{library}:{name}" for name in known] for library, (_, known) in LIBRARIES.items()}
    if json:
        return print_json({"games": rows, **others})
    table = Table(box=None, header_style="bold")
    for title in ("game", "parameters", "what it is"):
        table.add_column(title)
    for row in rows:
        parameters = ", ".join(f"{key}={value}" for key, value in row["parameters"].items())
        table.add_row(row["name"], parameters or "-", row["about"])
    out.print(table)
    for library, module in (("pgx", "pgx"), ("open_spiel", "pyspiel")):
        missing = "" if importlib.util.find_spec(module) else f", once it is there: pip install 'beamzero[{library}]'"
        out.print(f"\nand through {library}{missing}: {' '.join(others[library])}", soft_wrap=True)
    return None


def agents(json: AsJson = False) -> None:
    """List the agents that can be named, and the trained ones that ship."""
    first, *more = ALGORITHMS
    others = " and ".join(more)
    kinds = {
        **{f"{name}{agent.options}": agent.about for name, agent in AGENTS.items()},
        **{f"{name}:{text}": about for name in ALGORITHMS for text, about in _texts(name).items()},
        f"{first}:PATH,level=L": f"a trained agent at a level: beginner, easy, medium, hard or full; so {others}",
        f"{first}:RUN,checkpoint=C": f"another checkpoint of a run: best, last or an iteration's number; so {others}",
        "file.py:Class,PATH": "an agent that an algorithm in a file of yours has trained",
        "file.py:Class,OPTION=VALUE": "a search in a file of yours; also seconds=S, nodes=N, evaluations=N",
    }
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


def runs(
    folder: Annotated[Path, typer.Argument(help="Where to look for runs.")] = RUNS_FOLDER, json: AsJson = False
) -> None:
    """List the training runs below a folder."""
    found = list_runs(folder)
    if json:
        rows: list[dict[str, Any]] = [
            {
                "run": str(run.folder), "game": run.game, "algorithm": run.algorithm, "iterations": run.iterations,
                "rating": run.rating, "modified": run.modified.isoformat(), "damaged": run.damaged,
            }
            for run in found
        ]  # fmt: skip
        return print_json({"runs": rows})
    if not found:
        out.print(f"no runs in {folder}; beamzero train makes one")
        return None
    table = Table(box=None, header_style="bold")
    for title in ("run", "game", "algorithm", "iterations", "Elo", "last change"):
        table.add_column(title)
    for run in found:
        if run.damaged:
            table.add_row(str(run.folder), "-", "-", "-", "-", run.damaged)
        else:
            changed = run.modified.astimezone().strftime("%Y-%m-%d %H:%M")
            cells = (run.folder, run.game, run.algorithm, run.iterations, elo_text(run.rating), changed)
            table.add_row(*map(str, cells))
    out.print(table)
    return None
