"""`beamzero games`: what can be played. It imports the games and nothing that plays them, so that it answers fast."""

from __future__ import annotations

import importlib.util
from typing import Any

from rich.table import Table

from beamzero.cli.common import AsJson, out, print_json
from beamzero.core.spec import field_types
from beamzero.games import GAMES, LIBRARIES


def list_games() -> list[dict[str, Any]]:
    """Describe the games of this package: name, line about it, parameters with defaults, number of actions."""
    rows: list[dict[str, Any]] = []
    for name in GAMES.built_in:
        kind = GAMES[name]
        game = kind()
        defaults = {field: getattr(game, field) for field in field_types(kind)}
        about = (kind.__doc__ or "").strip().splitlines()[0]
        rows.append({"name": name, "about": about, "parameters": defaults, "actions": game.num_actions})
    return rows


def games(json: AsJson = False) -> None:
    """List the games that can be played, with their parameters."""
    rows = list_games()
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
