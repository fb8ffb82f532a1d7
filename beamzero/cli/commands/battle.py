"""`beamzero battle`: many games between two agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

import jax
import typer
from rich.table import Table
from rich.text import Text

from beamzero.arena.battle import Battle, battle
from beamzero.arena.battle_size import MOST_GAMES
from beamzero.arena.intervals import points_interval
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


def register(app: typer.Typer) -> None:
    app.command("battle")(battle_command)


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
        print_json(battle_json(played))
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


def battle_json(played: Battle) -> dict[str, Any]:
    """Return the result of a battle as JSON."""
    by_side = {name: vars(played.tally(place)) for place, name in enumerate(("first", "second"))}
    return {
        "game": played.game, "agents": list(played.agents), "games": played.games, **vars(played.tally()),
        "score": played.score, "interval": list(played.interval), "by_side": by_side,
        "forfeits": list(played.forfeits), "cut": played.cut, "openings": played.openings,
        "random_plies": played.random_plies, "mean_plies": played.mean_plies, **_points(played),
    }  # fmt: skip


def _points(played: Battle) -> dict[str, Any]:
    """Return the points won a game, for games in which a win can count more or less; empty for others."""
    if played.pair_points is None:
        return {}
    game = make_game(played.game)
    interval = points_interval(played.pair_points, game.stake)
    return {"unit": game.unit, "points": float(played.pair_points.mean()), "points_interval": list(interval)}


def show_battle(played: Battle) -> None:
    """Print the result of a battle for people."""
    table = Table(box=None, header_style="bold")
    agent, opponent = played.agents
    table.add_column(agent)
    for title in ("wins", "draws", "losses", "score"):
        table.add_column(title, justify="right")
    for name, place in (*zip(_place_names(played), (0, 1)), ("all games", None)):
        tally = played.tally(place)
        score = (tally.wins + tally.draws / 2) / (tally.wins + tally.draws + tally.losses)
        table.add_row(name, str(tally.wins), str(tally.draws), str(tally.losses), f"{score:.3f}")
    out.print(table)
    low, high = played.interval
    against = f" against {opponent}, 95% interval {low:.3f} to {high:.3f}"
    out.print(Text.assemble(f"\n{agent} scores ", (f"{played.score:.3f}", "bold"), against))
    if points := _points(played):
        mean, (low, high) = points["points"], points["points_interval"]
        a_game = f" {points['unit']} a game, 95% interval {low:+.3f} to {high:+.3f}"
        out.print(Text.assemble("and wins ", (f"{mean:+.3f}", "bold"), a_game))
    plies = f"openings of {played.random_plies} random plies" if played.random_plies else "first positions"
    out.print(
        f"{played.games} games of {played.game} from {played.openings} different {plies},"
        f" {played.mean_plies:.1f} plies long on average",
        style="dim",
    )
    if played.cut:
        out.print(f"{played.cut} not over by then {'was' if played.cut == 1 else 'were'} drawn", style="dim")
    for name, count in zip((agent, opponent), played.forfeits, strict=True):
        if count:
            out.print(f"{name} forfeited {count} game{'s' * (count > 1)}", style="red")


def _place_names(played: Battle) -> tuple[str, str]:
    """Name the rows of games that the agent began and did not, with its side where one side always begins."""
    game = make_game(played.game)
    names = game.view(game.init(jax.random.key(0))).get("sides")
    if names is None or played.starter is None:
        return "moving first", "moving second"
    return f"moving first, {names[played.starter]}", f"moving second, {names[1 - played.starter]}"
