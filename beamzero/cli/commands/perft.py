"""`beamzero perft`: the number of lines of play, by depth."""

from __future__ import annotations

from typing import Annotated

import typer

from beamzero.cli.common import AsJson, GameName, Moves, StartPosition, out, print_json, progress_bar
from beamzero.cli.moves import play_moves
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.search.perft import perft


def perft_command(
    game: GameName,
    depth: Annotated[int, typer.Argument(help="How many moves deep to count.")],
    position: StartPosition = None,
    moves: Moves = "",
    json: AsJson = False,
) -> None:
    """Count the lines of play, move by move: the classic check of the rules."""
    rules = make_game(game)
    if rules.num_chance:
        raise BadInput(f"{rules.name} has chance events, whose lines cannot be counted")
    if not 1 <= depth <= 100:
        raise BadInput(f"depth is {depth}, but must be 1 to 100")
    state = play_moves(rules, moves, position)
    with progress_bar("counting") as update:
        nodes = perft(rules, depth, state, lambda seen: update(f"{seen:,} lines", 0, 1))
    if json:
        return print_json({"game": rules.spec, "depth": depth, "nodes": nodes})
    for ply, number in enumerate(nodes, 1):
        out.print(f"{ply:>3}  {number:>16,}")
    return None
