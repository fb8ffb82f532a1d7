"""What the quick recipes take and what they reach: each trains once, as `beamzero train` does by default.

    python benchmarks/quick_recipes.py [RECIPE ...] [--folder runs/quick] [--seed 0]

Prints a row of a table for each as it is done: seconds on the clock, seconds of the processor (all cores together, and
nearly the same whatever else the machine does), the last Elo with its interval, and the scores of its battles. A recipe
that was cut off goes on. Run from the root of the checkout; nothing of it needs to be installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from beamzero.arena.rating import elo_text
from beamzero.training.recipes import Recipe, find_recipe, list_recipes

ROOT = Path(__file__).resolve().parent.parent
HEAD = "| recipe | seconds | CPU seconds | Elo | scores against |\n|---|---|---|---|---|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*", help="by default all whose name ends in _quick")
    parser.add_argument("--folder", type=Path, default=Path("runs/quick"))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    names = arguments.recipes or [name for name in list_recipes() if name.endswith("_quick")]
    recipes = [find_recipe(name) for name in names]
    print(HEAD, flush=True)
    for recipe in recipes:
        print(train(recipe, arguments.folder / recipe.name, arguments.seed), flush=True)


def train(recipe: Recipe, folder: Path, seed: int) -> str:
    """Train by a recipe in a process of its own, and write its row of the table."""
    command = [sys.executable, "-m", "beamzero", "train", recipe.game, "--run", str(folder), "--json"]
    how = ["--resume"] if folder.exists() else ["--recipe", recipe.name, "--seed", str(seed)]
    began = time.monotonic()
    with subprocess.Popen([*command, *how], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        return f"| {recipe.name} | failed with status {process.returncode} | | | |"
    rating: dict[str, Any] | None = json.loads(printed)["rating"]
    scores = "" if rating is None else ", ".join(f"{agent} {score:.3f}" for agent, score in rating["scores"].items())
    elo = "-" if rating is None else elo_text(rating)
    seconds = time.monotonic() - began
    return f"| {recipe.name} | {seconds:.0f} | {used.ru_utime + used.ru_stime:.0f} | {elo} | {scores} |"


if __name__ == "__main__":
    main()
