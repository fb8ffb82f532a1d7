"""Two measures for small games: how far up a ladder of searchers an agent climbs, and whether it can lose at all."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from beamzero.arena.every_reply import exhaust
from beamzero.arena.ladder import DEPTH, climb, ladder
from beamzero.cli.common import AgentName, AsJson, GameName, Seed, out, print_json, progress_bar
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player


def register(app: typer.Typer) -> None:
    app.command("climb")(climb_command)
    app.command("exhaust")(exhaust_command)


def climb_command(
    game: GameName,
    agent: AgentName,
    depth: Annotated[int, typer.Option(min=1, max=64, help="The deepest minimax of the ladder.")] = DEPTH,
    by: Annotated[
        str | None,
        typer.Option(help="What minimax evaluates by: one of the game's features, or nothing; all of them by default."),
    ] = None,
    seed: Seed = 0,
    json: AsJson = False,
) -> None:
    """Play minimax of depth 1, 2, 3 ... twice each, once with either colour, until both games are lost."""
    rules = make_game(game)
    player, opponents = make_player(agent, rules), ladder(rules, depth, by)
    with progress_bar("climbing") as update:
        found = climb(rules, player, opponents, seed, lambda done, total: update("climbing", done, total))
    if json:
        rows = dict(zip(found.opponents, found.scores))
        return print_json({"game": rules.spec, "agent": agent, "scores": rows, "total": found.total, "of": 2 * depth})
    table = Table(box=None, header_style="bold")
    table.add_column("opponent")
    table.add_column("score of 2", justify="right")
    for rung, opponent in enumerate(found.opponents):
        table.add_row(opponent, f"{found.scores[rung]:g}" if rung < len(found.scores) else "-")
    out.print(table)
    out.print(Text.assemble(f"\n{agent} has ", (f"{found.total:g}", "bold"), f" of {2 * depth} points"), soft_wrap=True)
    return None


def exhaust_command(
    game: GameName,
    agent: AgentName,
    most: Annotated[int, typer.Option(min=1, help="Give up where more positions than this can be met.")] = 1_000_000,
    seed: Seed = 0,
    json: AsJson = False,
) -> int:
    """Play an agent against every possible reply, from both sides: proof that it never loses, or a line where it does.

    Only for small games, such as tic_tac_toe. The exit status is 1 where it can lose.
    """
    rules = make_game(game)
    if rules.num_chance:
        raise BadInput(f"{rules.name} has chance events, whose outcomes exhaust does not follow")
    if rules.hidden:
        raise BadInput(f"{rules.name} hides cards: any agent can lose; beamzero exploit says how much")
    player = make_player(agent, rules)
    with progress_bar("looking") as update:
        sides = [
            exhaust(rules, player, side, most, seed, lambda met: update(f"{met:,} positions", 0, 1)) for side in (0, 1)
        ]
    loses = any(found.losses for found in sides)
    if json:
        rows = {name: vars(found) for name, found in zip(("first", "second"), sides)}
        print_json({"game": rules.spec, "agent": agent, "loses": loses, "by_side": rows})
        return int(loses)
    table = Table(box=None, header_style="bold")
    for title in (agent, "positions met", "ends: won", "drawn", "lost"):
        table.add_column(title, justify="left" if title == agent else "right")
    for name, found in zip(("moving first", "moving second"), sides):
        table.add_row(name, f"{found.positions:,}", f"{found.wins:,}", f"{found.draws:,}", f"{found.losses:,}")
    out.print(table)
    for name, found in zip(("first", "second"), sides):
        if found.lost_line is not None:
            out.print(f"it loses, moving {name}: {' '.join(found.lost_line)}", markup=False, soft_wrap=True)
    if not loses:
        out.print(Text.assemble("\nit ", ("never loses", "bold"), ", whatever the other side plays"))
    return int(loses)
