"""`beamzero runs`: the training runs of a folder. It needs no JAX, so that it answers fast."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from beamzero.arena.rating import elo_text
from beamzero.cli.common import RUNS_FOLDER, AsJson, out, print_json
from beamzero.storage.run import list_runs


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
