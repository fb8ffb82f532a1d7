"""`beamzero rate`: Elo ratings of agents by games against each other, whose results are kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from beamzero.arena.battle_size import check_games
from beamzero.arena.intervals import score_interval
from beamzero.arena.rating import ANCHOR, Rating, elo_text, strongest_first
from beamzero.arena.sprt import SPRT, Verdict
from beamzero.arena.store import Store
from beamzero.arena.tournament import Tournament
from beamzero.cli.cluster import Cluster, WorkerGpus, Workers, playing_on
from beamzero.cli.commands.battle import RandomPlies
from beamzero.cli.common import (
    RUNS_FOLDER,
    AsJson,
    GameName,
    Seed,
    err,
    out,
    print_json,
    print_rows,
    print_troubles,
    progress_bar,
)
from beamzero.core.errors import BadInput
from beamzero.games import Game, make_game
from beamzero.players import make_player
from beamzero.players.fingerprint import fingerprint
from beamzero.players.trained import every_checkpoint
from beamzero.plots.measures import draw_curves, draw_ratings
from beamzero.plots.style import check_picture_path, write_png
from beamzero.storage.files import writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STORE = RUNS_FOLDER / "results.db"
_FEW_AGENTS = 6
"""The most agents of which, by default, each meets each other."""


def rate_command(
    game: GameName,
    agents: Annotated[
        list[str],
        typer.Argument(
            metavar="AGENT...",
            help="The agents; random is added if it is not named. probs:RUN,checkpoint=all names every checkpoint of a"
            " run, and --plot then draws how its strength grew.",
        ),
    ],
    games: Annotated[
        int,
        typer.Option(
            help="Games of two agents that meet, an even number: each opening is played with both colours. 0 plays none"
            " and shows the ratings by the results in the store."
        ),
    ] = 1000,
    pairings: Annotated[
        str,
        typer.Option(
            help="all: each agent meets each other; best: those meet whose games narrow the intervals most;"
            f" auto: all for up to {_FEW_AGENTS} agents, best for more."
        ),
    ] = "auto",
    total: Annotated[
        int | None,
        typer.Option(help="The total of games with the best pairings; by default --games times the number of agents."),
    ] = None,
    sprt: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="ELO0 ELO1",
            help="Test whether the first of two agents is stronger than the second by ELO1 rather than by ELO0, and"
            " stop when that is decided; --games at a time, --total at most.",
        ),
    ] = None,
    random_plies: RandomPlies = None,
    store: Annotated[Path, typer.Option(metavar="FILE", help="Where results are kept, and added to.")] = STORE,
    no_store: Annotated[bool, typer.Option("--no-store", help="Neither read nor keep results.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the ratings into this PNG.")] = None,
    seed: Seed = 0,
    cluster: Cluster = None,
    workers: Workers = None,
    worker_gpus: WorkerGpus = 0.0,
    json: AsJson = False,
) -> None:
    """Rate agents: Elo with 95% intervals, where random is 1000, and their scores against each other.

    Results are kept by an agent's weights and settings, not by its name: the next call adds to them.
    """
    rules = make_game(game)
    runs = {agent: _different(every_checkpoint(agent), rules) for agent in agents}
    agents = [name for agent in agents for name in (dict.fromkeys(runs[agent].values()) or [agent])]
    _check(games, pairings, total, sprt, agents)
    names = agents if ANCHOR in agents or sprt else [ANCHOR, *agents]
    if len(names) < 2:
        raise BadInput("name at least one agent besides random")
    if plot is not None:
        check_picture_path(plot)
    players = [make_player(name, rules) for name in names]
    if games:
        check_games(rules, players, games, searched_elsewhere=cluster is not None)
    results = None if no_store else Store(store, make_folder=store == STORE)
    if results is not None and games:
        results.check_writable()
    with playing_on(cluster, workers, worker_gpus, rules, names) as play:
        tournament = Tournament(rules, players, random_plies, seed, results, ANCHOR, play)
        if sprt is not None:
            return _test(tournament, SPRT(*sprt), games, total or 100 * games, json)
        with progress_bar("rating") as update:
            if games and (pairings == "all" or (pairings == "auto" and len(names) <= _FEW_AGENTS)):
                tournament.round_robin(games, update)
            elif games:
                tournament.narrow(games, total or games * len(names), update)
    ratings = strongest_first(tournament.ratings())
    if plot is not None:
        with writing(str(plot)):
            write_png(_draw(ratings, runs, f"{rules.spec}: Elo with 95% intervals"), plot)
    print_troubles(players)
    if json:
        return print_json({"game": rules.spec, "games": games, "ratings": [_as_json(r) for r in ratings]})
    _show(tournament, ratings)
    if plot is not None:
        out.print(f"\nthe picture is {plot}", soft_wrap=True)
    return None


def _different(steps: Mapping[int, str], game: Game) -> dict[int, str]:
    """Return for each iteration the first checkpoint with the same agent: a net that fails its gate changes nothing."""
    first: dict[str, str] = {}
    return {step: first.setdefault(fingerprint(make_player(name, game)), name) for step, name in steps.items()}


def _draw(ratings: list[Rating], runs: Mapping[str, Mapping[int, str]], title: str) -> Figure:
    """Draw curves where all checkpoints of a run were rated, else one row for each agent."""
    by_name = {rating.agent: rating for rating in ratings}
    curves = {
        agent: {step: by_name[name] for step, name in steps.items()} for agent, steps in runs.items() if len(steps) > 1
    }
    if not curves:
        return draw_ratings(ratings, title)
    of_a_run = {rating.agent for curve in curves.values() for rating in curve.values()}
    return draw_curves(curves, [rating for rating in ratings if rating.agent not in of_a_run], title)


def _check(games: int, pairings: str, total: int | None, sprt: tuple[float, float] | None, agents: list[str]) -> None:
    """Raise BadInput where options are wrong, before anything is loaded."""
    if games < 0 or games % 2:
        raise BadInput(f"games is {games}, but must be an even number: each opening is played with both colours")
    if pairings not in ("auto", "all", "best"):
        raise BadInput(f"pairings is {pairings!r}, but must be auto, all or best")
    if total is not None and (total < 2 or total % 2):
        raise BadInput(f"total is {total}, but must be an even number, 2 or more")
    if sprt is not None:
        SPRT(*sprt).check()
        if len(agents) != 2:
            raise BadInput(f"--sprt is about two agents, but there are {len(agents)}")
        if not games:
            raise BadInput("games is 0, but --sprt must play some at a time")


def _as_json(rating: Rating) -> dict[str, Any]:
    return {
        "agent": rating.agent, "elo": rating.elo, "low": rating.low, "high": rating.high, "score": rating.score,
        "games": rating.games,
    }  # fmt: skip


def _show(tournament: Tournament, ratings: list[Rating]) -> None:
    rows = [
        (str(place), rating.agent, elo_text(rating._asdict()), f"{rating.score:.3f}", str(rating.games))
        for place, rating in enumerate(ratings, 1)
    ]
    print_rows(("", "agent", "Elo, 95% interval", "score", "games"), rows, name=1)
    if any(rating.elo is None for rating in ratings):
        err.print("an agent that never lost or never won a point has a bound and no number", style="dim")
    out.print("\nscore of the one on the left against the one above:")
    out.print(_crosstable(tournament, [tournament.names.index(rating.agent) for rating in ratings]))


def _crosstable(tournament: Tournament, order: list[int]) -> Table:
    table = Table(box=None, header_style="bold")
    for place in range(len(order) + 1):
        table.add_column(str(place or ""), justify="right", no_wrap=True)
    games, points = tournament.crosstable()
    for place, number in enumerate(order, 1):
        met = [f"{points[number, other] / games[number, other]:.2f}" if games[number, other] else "" for other in order]
        table.add_row(Text(str(place), "bold"), *met)
    return table


def _test(tournament: Tournament, test: SPRT, games: int, most: int, json: bool) -> None:
    one, other = tournament.names
    with progress_bar("testing") as update:
        verdict = tournament.decide(test, games, most, update)
    print_troubles(tournament.players)
    scores = tournament.met[one, other].pair_scores
    if json:
        return print_json({
            "game": tournament.game.spec, "agents": [one, other], "games": scores.size, "score": float(scores.mean()),
            "interval": list(score_interval(scores)),
            "sprt": {**test._asdict(), **verdict._asdict(), "accepted": verdict.accepted},
        })  # fmt: skip
    low, high = score_interval(scores)
    out.print(_decision(test, verdict, one, other), soft_wrap=True)
    out.print(
        f"{one} scores {scores.mean():.3f} against {other}, 95% interval {low:.3f} to {high:.3f}, {scores.size} games",
        soft_wrap=True,
    )  # fmt: skip
    return None


def _decision(test: SPRT, verdict: Verdict, one: str, other: str) -> str:
    state = f"log likelihood ratio {verdict.ratio:.2f}, bounds {verdict.low:.2f} and {verdict.high:.2f}"
    if verdict.accepted is None:
        return f"not decided whether {one} is {test.elo0:g} or {test.elo1:g} Elo above {other}: {state}"
    accepted, refused = (test.elo0, test.elo1) if verdict.accepted == 0 else (test.elo1, test.elo0)
    return f"decided: {one} is {accepted:g} Elo above {other} rather than {refused:g}: {state}"
