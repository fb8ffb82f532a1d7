"""`beamzero ladder`: an agent against minimax of depth 1, 2, 3 and so on, a coarse measure of its strength."""

from __future__ import annotations

import functools
import itertools
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from beamzero.arena.ladder import DEFAULT_DEPTH, make_ladder, play_ladder
from beamzero.cli.common import AgentName, AsJson, GameName, Seed, out, print_json, progress_bar
from beamzero.games import make_game
from beamzero.players import make_player


def ladder_command(
    game: GameName,
    agent: AgentName,
    depth: Annotated[int, typer.Option(min=1, max=64, help="The deepest minimax of the ladder.")] = DEFAULT_DEPTH,
    by: Annotated[
        str | None,
        typer.Option(help="The feature of the game by which minimax evaluates, or nothing; all features by default."),
    ] = None,
    seed: Seed = 0,
    json: AsJson = False,
) -> None:
    """Play a ladder of minimax opponents of depth 1, 2, 3 ..., two games each, until the agent loses both games."""
    rules = make_game(game)
    player, opponents = make_player(agent, rules), make_ladder(rules, depth, by)
    with progress_bar("playing") as update:
        found = play_ladder(rules, player, opponents, seed, functools.partial(update, "playing"))
    if json:
        rows = dict(zip(found.opponents, found.scores))
        return print_json({"game": rules.spec, "agent": agent, "scores": rows, "total": found.total, "of": 2 * depth})
    table = Table(box=None, header_style="bold")
    table.add_column("opponent")
    table.add_column("score of 2", justify="right")
    for opponent, score in itertools.zip_longest(found.opponents, found.scores):
        table.add_row(opponent, "-" if score is None else f"{score:g}")
    out.print(table)
    out.print(Text.assemble(f"\n{agent} has ", (f"{found.total:g}", "bold"), f" of {2 * depth} points"), soft_wrap=True)
    return None
