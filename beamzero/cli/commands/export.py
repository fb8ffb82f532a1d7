"""`beamzero export`: the agent of a run as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from beamzero.cli.common import AsJson, out, print_json
from beamzero.core.errors import BadInput
from beamzero.games import make_game, make_stored_game
from beamzero.players.trained import load_trained
from beamzero.storage.run import Run
from beamzero.training.algorithm import ALGORITHMS


def export_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The .safetensors file to write.")],
    checkpoint: Annotated[str, typer.Option(help="Which one: last, best or the number of an iteration.")] = "last",
    game: Annotated[str | None, typer.Option(help="The game, where it is a Python file of yours.")] = None,
    algo: Annotated[str | None, typer.Option(help="The algorithm, where it is a Python file of yours.")] = None,
    half: Annotated[bool, typer.Option("--half", help="Round the weights to 16 bits: half the size.")] = False,
    json: AsJson = False,
) -> None:
    """Write a run's agent as one .safetensors file with its settings inside.

    The file is written whole, at the end: of two commands that write the same one, the last to end is kept.
    """
    about = Run.open(run).about
    if not isinstance(about.get("game_text"), str):
        raise BadInput(f"{run / 'run.json'} does not say which game it is about")
    named = None if game is None else make_game(game)
    try:
        rules = make_stored_game(about["game_text"], named)
    except BadInput as error:
        raise BadInput(f"{run}: {error}") from None
    trained = load_trained(str(run), rules, checkpoint, None if algo is None else ALGORITHMS.read(algo))
    trained.save(file, half)
    if json:
        return print_json({"file": str(file), "game": about["game"], "iterations": trained.info["iterations"]})
    size = file.stat().st_size / 1e6
    said = f"{file}: {about['game']}, {trained.info['iterations']} iterations, {size:.1f} MB"
    out.print(said, soft_wrap=True)
    return None
