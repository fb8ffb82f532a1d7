"""`beamzero score`: how often agents err in positions whose best moves are known, and the time for a move."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Any

import typer

from beamzero.arena.score import Scored, Share, rows_at_once, score
from beamzero.arena.truth import Truth, load_truth
from beamzero.cli.common import (
    AsJson,
    GameName,
    Seed,
    out,
    print_json,
    print_rows,
    print_troubles,
    progress_bar,
    same_decimals,
)
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.players.player import check_player
from beamzero.plots.measures import draw_scores
from beamzero.plots.style import check_picture_path, write_png
from beamzero.storage.files import writing


def score_command(
    game: GameName,
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", help="The agents, with any search and budget.")],
    positions: Annotated[
        int | None, typer.Option(min=1, help="The most positions of each class; all of them by default.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw errors against the time for a move into this PNG.")
    ] = None,
    seed: Seed = 0,
    json: AsJson = False,
) -> None:
    """Score agents on solved positions: how often their move throws away a win or a draw, by difficulty.

    Errors have 95% intervals; the time for a move is that of many positions at once on all cores. In chess the
    positions are mates in 2 and 3, and an error is any move after which the mate takes longer.
    """
    rules = make_game(game)
    if plot is not None:
        check_picture_path(plot)
    players = [make_player(name, rules) for name in agents]
    for player in players:
        check_player(player, rows_at_once(player, positions))
    truth = load_truth(rules, positions)
    with progress_bar("scoring") as update:
        scores = [score(truth, player, seed, functools.partial(update, player.name)) for player in players]
    print_troubles(players)
    if plot is not None:
        with writing(str(plot)):
            title = f"{rules.spec}: errors in solved positions, with 95% intervals"
            write_png(draw_scores(scores, title), plot)
    if json:
        return print_json(_as_json(rules.spec, scores))
    _show(truth, scores)
    if plot is not None:
        out.print(f"\nthe picture is {plot}", soft_wrap=True)
    return None


def _as_json(game: str, scores: list[Scored]) -> dict[str, Any]:
    """Return the scores as JSON: all agents under `scores`, and the figures of a single agent at the top as well."""
    rows = [
        {
            "agent": found.agent,
            "classes": {name: _share_json(share) for name, share in found.classes.items()},
            **_share_json(found.all),
            "losses": found.losses,
            "milliseconds": found.milliseconds,
        }
        for found in scores
    ]
    return {"game": game, **(rows[0] if len(rows) == 1 else {}), "scores": rows}


def _share_json(share: Share) -> dict[str, Any]:
    return {
        "positions": share.positions, "blunders": share.errors, "rate": share.rate, "interval": list(share.interval),
    }  # fmt: skip


def _show(truth: Truth, scores: list[Scored]) -> None:
    classes = [name.replace("-", " ") for name in truth.classes]
    times = same_decimals([found.milliseconds for found in scores])
    rows = []
    for found, time in zip(scores, times, strict=True):
        shares = [_percent(share.rate) for share in (*found.classes.values(), found.all)]
        low, high = found.all.interval
        rows.append((found.agent, *shares, f"{_percent(low)} to {_percent(high)}", time))
    print_rows(("errors, %", *classes, "all", "95% interval", "ms/move"), rows)
    what = "mates" if truth.puzzles else "solved positions"
    sizes = {share.positions for share in scores[0].classes.values()}
    each = f", {sizes.pop():,} of each class" if len(sizes) == 1 else ""
    out.print(f"\n{len(truth):,} {what}{each}", style="dim")


def _percent(share: float) -> str:
    """Write a share in percent."""
    return f"{100 * share:.2f}"
