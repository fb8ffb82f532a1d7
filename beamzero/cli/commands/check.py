"""`beamzero check`: tests that a game keeps the laws of `Game`, and how fast it is."""

from __future__ import annotations

from typing import Annotated

import typer

from beamzero.bench.games import fastest, our_rules
from beamzero.bench.timing import seconds_of
from beamzero.cli.common import AsJson, GameName, Seed, err, out, print_json
from beamzero.games import Game, make_game
from beamzero.games.laws import Findings, check_laws

_Games = Annotated[int, typer.Option(min=1, max=100_000, help="How many random games to play.")]


def check_command(game: GameName, games: _Games = 64, seed: Seed = 0, json: AsJson = False) -> int:
    """Test the rules of a game: a line for each law that is broken (exit status 1), and the speed of random play."""
    rules = make_game(game)
    with err.status("playing (the first time, compiling takes a while)"):
        found = check_laws(rules, games, seed)
        speed = None if found.broken or rules.num_chance else _steps_per_second(rules)
    if json:
        results = dict(zip(("first", "draw", "second"), found.results, strict=True))
        print_json({"game": rules.spec, **found._asdict(), "results": results, "steps_per_second": speed})
    else:
        _show(rules, found, speed)
    return 1 if found.broken else 0


def _steps_per_second(game: Game) -> float:
    """Measure random moves a second, at the batch size that suits the game best."""
    play = fastest(our_rules(game))
    return play.moves / seconds_of(play.run, seconds=0.5)[0]


def _show(game: Game, found: Findings, speed: float | None) -> None:
    for line in found.broken:
        out.print(f"broken: {line}", soft_wrap=True)
    if found.games:
        first, drawn, second = found.results
        out.print(
            f"{found.games} random games of {game.spec}, {found.positions:,} positions, {found.mean_plies:.1f} plies"
            f" a game: the first side won {first}, the second {second}, {drawn} were drawn",
            soft_wrap=True,
        )
    if speed is not None:
        out.print(f"{speed:,.0f} steps/s of random play")
    number = len(found.broken)
    out.print(f"{number} law{'s' if number > 1 else ''} broken" if number else "all laws hold", style="bold")
