"""`beamzero games`: what can be played. It imports the games and nothing that plays them, so that it answers fast."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Iterable
from typing import Any

from rich.table import Table
from rich.text import Text

from beamzero.cli.common import AsJson, out, print_json
from beamzero.core.errors import BadInput
from beamzero.core.spec import field_types
from beamzero.core.user_code import describe_error
from beamzero.games import GAMES, LIBRARIES, make_game


def list_games(names: Iterable[str] = GAMES.built_in) -> list[dict[str, Any]]:
    """Describe games, by default those of this package: name, line about it, parameters with defaults, actions.

    BadInput where one cannot be played, which only those of installed packages can fail by.
    """
    return [_describe(name) for name in names]


def _describe(name: str) -> dict[str, Any]:
    game = make_game(name)
    defaults = {field: getattr(game, field) for field in field_types(type(game))}
    about = (inspect.getdoc(type(game)) or "").strip().split("\n")[0]
    return {"name": name, "about": about, "parameters": defaults, "actions": game.num_actions}


def games(json: AsJson = False) -> None:
    """List the games that can be played, with their parameters."""
    rows, unusable = list_games(), dict[str, str]()
    for name in (name for name in GAMES if name not in GAMES.built_in):
        try:
            rows += list_games([name])
        except Exception as error:  # a package of others, which must not hide all the rest
            unusable[name] = str(error) if isinstance(error, BadInput) else describe_error(error)
    others = {library: [f"{library}:{name}" for name in known] for library, (_, known) in LIBRARIES.items()}
    if json:
        return print_json({"games": rows, **others, "unusable": unusable})
    out.print(_table(rows))
    for name, why in unusable.items():
        out.print(f"\nan installed package offers {name}: {why}", style="red")
    for library, module in (("pgx", "pgx"), ("open_spiel", "pyspiel")):
        missing = "" if importlib.util.find_spec(module) else f" (first: pip install 'beamzero[{library}]')"
        known = " ".join(LIBRARIES[library][1])
        out.print(f"\n{library}:NAME{missing}, where NAME is one of\n{known}")
    return None


def _table(rows: list[dict[str, Any]]) -> Table:
    """Make a table with a line or two about each game, and its parameters below."""
    table = Table(box=None, header_style="bold")
    table.add_column("game", no_wrap=True)
    table.add_column("what it is; parameters with their defaults")
    for row in rows:
        parameters = ", ".join(f"{key}={value}" for key, value in row["parameters"].items())
        parts = [row["about"], Text(f"\n{parameters}", "dim") if parameters else ""]
        table.add_row(row["name"], Text.assemble(*parts))
    return table
