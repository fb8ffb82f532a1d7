"""`beamzero runs`: the training runs of a folder. It needs no JAX, so that it answers fast."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from beamzero.arena.rating import elo_text
from beamzero.cli.common import RUNS_FOLDER, AsJson, out, print_json, print_rows
from beamzero.storage.run import list_runs


def runs(
    folder: Annotated[Path, typer.Argument(help="Where to look for runs.")] = RUNS_FOLDER, json: AsJson = False
) -> None:
    """List the training runs below a folder."""
    found = list_runs(folder)
    if json:
        about: list[dict[str, Any]] = [
            {
                "run": str(run.folder), "game": run.game, "algorithm": run.algorithm, "iterations": run.iterations,
                "rating": run.rating, "modified": run.modified.isoformat(), "damaged": run.damaged,
            }
            for run in found
        ]  # fmt: skip
        return print_json({"runs": about})
    if not found:
        out.print(f"no runs in {folder}; beamzero train makes one")
        return None
    rows = [
        (
            str(run.folder),
            str(run.game),
            str(run.algorithm),
            str(run.iterations),
            elo_text(run.rating),
            run.modified.astimezone().strftime("%Y-%m-%d %H:%M"),
        )
        for run in found
        if not run.damaged
    ]
    if rows:
        titles = ("run", "game", "algorithm", "iterations", "Elo", "last change")
        print_rows(titles, rows, left=("game", "algorithm", "Elo"))
    for run in found:
        if run.damaged:
            out.print(f"damaged: {run.folder}: {run.damaged}", style="red", soft_wrap=True)
    return None
