"""`beamzero table`: solves every position of Kalah with few seeds left."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from beamzero.cli.common import AsJson, GameName, out, print_json, progress_bar
from beamzero.games import make_game
from beamzero.games.kalah import Kalah
from beamzero.solvers.endgame import check_seeds
from beamzero.solvers.retrograde import make_endgame_table
from beamzero.storage.tablefile import TABLE_SUFFIX, check_table_path, save_table

Seeds = Annotated[int, typer.Option(help="The most seeds in the houses of a position in the table.")]
Out = Annotated[
    Path | None, typer.Option("--out", help=f"The file to write; by default such as kalah-16{TABLE_SUFFIX}.")
]


def table_command(game: GameName, seeds: Seeds = 16, file: Out = None, json: AsJson = False) -> None:
    """Solve all endgames of Kalah with few seeds in the houses, for searches to look up.

    The file is written whole, at the end: of two commands that write the same one, the last to end is kept.
    """
    rules = check_seeds(make_game(game), seeds)
    path = check_table_path(file or _default_name(rules, seeds))
    start = time.perf_counter()
    with progress_bar("solving positions") as update:
        table = make_endgame_table(rules, seeds, lambda done, total: update("solving positions", done, total))
    seconds = time.perf_counter() - start
    save_table(path, table)
    positions, size = len(table.values), path.stat().st_size
    if json:
        found = {"game": rules.spec, "seeds": seeds, "positions": positions, "file": str(path), "bytes": size}
        return print_json({**found, "seconds": round(seconds, 1)})
    out.print(
        f"{positions:,} positions of up to {seeds} seeds, solved in {seconds:.1f} s: {path} ({size / 1e6:.1f} MB)",
        soft_wrap=True,
    )
    return None


def _default_name(game: Kalah, seeds: int) -> str:
    """Name the file after the rules that change the table; the number of seeds at the start does not."""
    houses = "" if game.houses == 6 else f"-{game.houses}-houses"
    return f"kalah{houses}{'-empty-capture' if game.empty_capture else ''}-{seeds}{TABLE_SUFFIX}"
