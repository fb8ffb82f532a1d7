"""`beamzero exhaust`: an agent against every possible reply, which proves whether it can lose; for small games."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from beamzero.arena.every_reply import play_every_reply
from beamzero.cli.common import AgentName, AsJson, GameName, Seed, out, print_json, progress_bar
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player


def exhaust_command(
    game: GameName,
    agent: AgentName,
    most: Annotated[
        int, typer.Option(min=1, help="Give up where the agent can meet more positions than this.")
    ] = 1_000_000,
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
            play_every_reply(rules, player, side, most, seed, lambda met: update(f"{met:,} positions", 0, 1))
            for side in (0, 1)
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
            out.print(f"it loses, moving {name}: {' '.join(found.lost_line)}", soft_wrap=True)
    if not loses:
        out.print(Text.assemble("\nit ", ("never loses", "bold"), ", whatever the other side plays"))
    return int(loses)
