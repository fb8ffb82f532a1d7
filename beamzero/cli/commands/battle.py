"""`beamzero battle`: many games between two agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from beamzero.arena.battle import Battle, battle
from beamzero.arena.battle_size import MOST_GAMES
from beamzero.cli.cluster import Cluster, WorkerGpus, Workers, playing_on
from beamzero.cli.common import (
    AgentName,
    AsJson,
    GameName,
    SaveGames,
    Seed,
    err,
    out,
    print_json,
    print_troubles,
    progress_bar,
)
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.records.files import add_records, check_format
from beamzero.records.record import GameRecord, records_of

_Games = Annotated[
    int,
    typer.Option(
        help="How many games; an even number, since each opening is played with both colours. As many as memory holds,"
        f" {MOST_GAMES:,} at most."
    ),
]
RandomPlies = Annotated[
    int | None,
    typer.Option(
        help="Random moves at the start of each game; more where these give too few different openings.",
        show_default="2, but 0 where dice or cards make games differ already",
    ),
]
_Longest = Annotated[
    int | None,
    typer.Option(
        metavar="PLIES",
        help="Games that are not over after this many plies are draws; a battle lasts as long as its longest game.",
        show_default="as long as the rules allow",
    ),
]


def battle_command(
    game: GameName,
    agent: AgentName,
    opponent: Annotated[str, typer.Argument(metavar="AGENT", help="The other agent.")],
    games: _Games = 1000,
    random_plies: RandomPlies = None,
    longest: _Longest = None,
    seed: Seed = 0,
    save: SaveGames = None,
    cluster: Cluster = None,
    workers: Workers = None,
    worker_gpus: WorkerGpus = 0.0,
    json: AsJson = False,
) -> None:
    """Let two agents play many games: wins, draws, losses by who moved first, the score with its 95% interval."""
    rules = make_game(game)
    if save is not None:
        check_format(save, rules.spec)
    one, other = make_player(agent, rules), make_player(opponent, rules)
    with (
        playing_on(cluster, workers, worker_gpus, rules, (agent, opponent)) as play,
        progress_bar(f"{agent} v {opponent}") as update,
    ):
        played = battle(
            rules,
            one,
            other,
            games,
            random_plies,
            seed,
            lambda done, total: update(f"{agent} v {opponent}", done, total),
            longest=longest,
            play=play,
        )
    print_troubles((one, other))
    if json:
        print_json(played.as_dict())
    else:
        show_battle(played)
    if save is not None:
        with progress_bar("writing the games") as update:
            add_records(save, _counted(records_of(rules, played), played.games, update))
        (err if json else out).print(f"added to {save}", style="dim")
    return None


def _counted(
    records: Iterable[GameRecord], total: int, update: Callable[[str, int, int], None]
) -> Iterator[GameRecord]:
    for done, record in enumerate(records):
        update("writing the games", done, total)
        yield record


_NUMBERS = 40
"""The characters of a row of results, but for the name before them."""


def show_battle(played: Battle) -> None:
    """Print the result of a battle for people."""
    found, (agent, opponent) = played.table(), played.agents
    table = Table(box=None, header_style="bold")
    fits = len(agent) + _NUMBERS <= out.width
    for place, title in enumerate((agent if fits else "games", *found.titles[1:])):
        table.add_column(title, justify="right" if place else "left")
    for row in found.rows:
        table.add_row(*row)
    out.print(table)
    low, high = played.interval
    against = f" against {opponent}, 95% interval {low:.3f} to {high:.3f}"
    said = Text.assemble(f"\n{agent} scores ", (f"{played.score:.3f}", "bold"), against)
    out.print(said, soft_wrap=max(len(agent), len(opponent)) > out.width)
    if points := played.points():
        mean, (low, high) = points["points"], points["points_interval"]
        a_game = f" {points['unit']} a game, 95% interval {low:+.3f} to {high:+.3f}"
        out.print(Text.assemble("and wins ", (f"{mean:+.3f}", "bold"), a_game))
    out.print(played.about_openings, style="dim")
    if played.cut:
        out.print(f"{played.cut} not over by then {'was' if played.cut == 1 else 'were'} drawn", style="dim")
    for name, count in zip((agent, opponent), played.forfeits, strict=True):
        if count:
            out.print(f"{name} forfeited {count} game{'s' * (count > 1)}", style="red")
