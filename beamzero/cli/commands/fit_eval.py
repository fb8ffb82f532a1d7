"""`beamzero fit-eval`: learns the weights of a game's evaluation from self-play, and measures them."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from beamzero import __version__
from beamzero.arena.battle import Battle, battle
from beamzero.arena.battle_size import check_games
from beamzero.arena.calibration import Bin, bin_of, calibrate, grows
from beamzero.cli.commands.battle import show_battle
from beamzero.cli.common import AsJson, GameName, Seed, out, print_json, progress_bar
from beamzero.core.errors import BadInput
from beamzero.core.progress import OnPhase
from beamzero.core.spec import quote
from beamzero.games import Game, make_game
from beamzero.players import make_player
from beamzero.plots.measures import draw_calibration
from beamzero.plots.style import check_picture_path, write_png
from beamzero.storage.files import writing
from beamzero.storage.weightsfile import FeatureWeights, check_weights_path, replace_weights, save_weights
from beamzero.training.feature_weights.learn import Learned, Plan, Round, learn_weights

_Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Where to write the weights; GAME.weights.json by default.")
]
_Games = Annotated[int, typer.Option(help="Games of self-play in each round.")]
_Rounds = Annotated[int, typer.Option(help="Rounds; each plays with the weights of the one before.")]
_Depth = Annotated[
    int, typer.Option(help="Plies that self-play searches; trial battles are played at this depth and one ply deeper.")
]
_Noise = Annotated[
    float, typer.Option(min=0.0, max=0.9, help="Share of random moves in self-play; each next round has a fifth of it.")
]
_TrialGames = Annotated[int, typer.Option(help="Games of each trial battle, which decides whether weights are taken.")]
_BattleGames = Annotated[
    int, typer.Option(help="Games of the fitted weights against those made by hand; 0 for no battle.")
]
_BattleDepth = Annotated[int, typer.Option(help="Plies that both search in the battle.")]
_Plot = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the chance of winning by evaluation into this PNG.")
]


_PLACES = {"middle": "the middle of games", "whole": "whole games"}


def fit_eval_command(
    game: GameName,
    games: _Games = Plan.games,
    rounds: _Rounds = Plan.rounds,
    depth: _Depth = Plan.depth,
    noise: _Noise = Plan.noise,
    trial_games: _TrialGames = Plan.trial_games,
    battle_games: _BattleGames = 1000,
    battle_depth: _BattleDepth = 3,
    seed: Seed = 0,
    path: _Out = None,
    plot: _Plot = None,
    json: AsJson = False,
) -> None:
    """Learn the weights of a game's evaluation from self-play, and play a battle against those made by hand.

    The file is written whole: of two commands that write the same one, the last to learn its weights is kept, and the
    other says so and stops.
    """
    rules = make_game(game)
    plan = Plan(games=games, rounds=rounds, depth=depth, noise=noise, trial_games=trial_games)
    path = path or Path(re.sub(r"[^\w.=+-]", "-", game) + ".weights.json")
    check_weights_path(path)
    if plot is not None:
        if os.path.realpath(plot) == os.path.realpath(path):
            raise BadInput(f"weights and plot cannot both be {path}")
        check_picture_path(plot)
    by_hand = f"alphabeta:depth={battle_depth}"
    if battle_games:
        player = make_player(by_hand, rules)
        if battle_games < 0 or battle_games % 2:
            raise BadInput(f"battle games is {battle_games}, but must be an even number, or 0 for no battle")
        check_games(rules, [player], battle_games, "battle games")
    began = time.monotonic()
    with progress_bar("self-play") as update:
        learned = learn_weights(rules, plan, seed, update)
        weights = _weights(rules, plan, seed, learned)
        save_weights(path, weights)
        played = None
        if battle_games and learned.is_new:
            played = _battle(rules, f"{by_hand},weights={quote(str(path))}", by_hand, battle_games, seed, update)
            replace_weights(path, weights, _with_battle(weights, played))
    points = learned.played.features @ (np.array(weights.values) / weights.point)
    bins = calibrate(points, learned.played.result, learned.played.game)
    if plot is not None:
        title = f"{rules.spec}: chance of winning by evaluation"
        figure = draw_calibration(bins, weights.point, weights.tempo, title)
        with writing(str(plot), otherwise=BadInput):
            write_png(figure, plot)
    result = _Result(rules, path, plan, learned, weights, bins, played, time.monotonic() - began)
    if json:
        return print_json(_as_json(result))
    _show(result)
    return None


@dataclasses.dataclass(frozen=True)
class _Result:
    game: Game
    path: Path
    plan: Plan
    learned: Learned
    weights: FeatureWeights
    bins: list[Bin]
    battle: Battle | None
    seconds: float


def _weights(game: Game, plan: Plan, seed: int, learned: Learned) -> FeatureWeights:
    """Return the learned weights as the file keeps them: six digits are enough, and can be read."""
    log_odds = learned.points * learned.point
    point, tempo, *values = (float(f"{x:.6g}") for x in (learned.point, learned.tempo, *log_odds))
    made = {"command": shlex.join(["beamzero", *sys.argv[1:]]), "version": __version__}
    return FeatureWeights(
        game=game.identity,
        features=dict(zip(game.feature_names, values, strict=True)),
        point=point,
        tempo=tempo,
        made={**made, **dataclasses.asdict(plan), "seed": seed, "is_new": learned.is_new},
    )


def _with_battle(weights: FeatureWeights, played: Battle) -> FeatureWeights:
    result = {"against": played.agents[1], "games": played.games, "score": played.score}
    return dataclasses.replace(
        weights, made={**weights.made, "battle": {**result, "interval": list(played.interval), "says": verdict(played)}}
    )


def _battle(game: Game, fitted: str, by_hand: str, games: int, seed: int, update: OnPhase) -> Battle:
    players = make_player(fitted, game), make_player(by_hand, game)
    return battle(game, *players, games, seed=seed, progress=lambda done, all_: update("battle", done, all_))


def verdict(played: Battle | None, is_new: bool = True) -> str | None:
    """Say in one line whether the fitted weights are better; None where no battle was played."""
    if not is_new:
        return "no weights that were learned did better than those made by hand, which stay as they are"
    if played is None:
        return None
    low, high = played.interval
    if low > 0.5:
        return "the fitted weights beat those made by hand"
    if high < 0.5:
        return "the fitted weights are worse than those made by hand"
    return "the fitted weights are not shown to be better than those made by hand: the interval holds 0.5"


# --- what is printed -------------------------------------------------------------------------------------------------


def _as_json(result: _Result) -> dict[str, Any]:
    game, weights, played = result.game, result.weights, result.battle
    one, three = bin_of(result.bins, 1.0), bin_of(result.bins, 3.0)
    return {
        "game": game.spec, "weights": str(result.path), **dataclasses.asdict(result.plan),
        "seconds": round(result.seconds, 1),
        "features": [
            {"name": name, "by_hand": by_hand, "points": value / weights.point, "log_odds": value}
            for (name, value), by_hand in zip(weights.features.items(), game.point_weights, strict=True)
        ],
        "learning": [_round_json(one) for one in result.learned.rounds],
        "point": weights.point, "tempo": weights.tempo, "calibration": [_bin_json(b) for b in result.bins],
        "grows": grows(result.bins),
        "one_point_less_than_three": one.chance < three.chance if one.games and three.games else None,
        "battle": None if played is None else played.as_dict(),
        "better": played is not None and played.interval.low > 0.5,
        "says": verdict(played, result.learned.is_new),
    }  # fmt: skip


def _round_json(one: Round) -> dict[str, Any]:
    regressions = {name: weights.tolist() for name, weights in one.regressions.items()}
    trials = [trial._asdict() for trial in one.trials]
    return {**one._asdict(), "regressions": regressions, "trials": trials, "points": one.points.tolist()}


def _bin_json(b: Bin) -> dict[str, Any]:
    numbers = {name: value for name, value in b._asdict().items() if name != "interval"}
    finite = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
    return {**finite, "interval": list(b.interval)}


def _show(result: _Result) -> None:
    _show_weights(result)
    _show_calibration(result.bins)
    if result.battle is not None:
        out.print()
        show_battle(result.battle)
    if text := verdict(result.battle, result.learned.is_new):
        out.print(f"\n{text}", style="bold")
    agent = f"alphabeta:depth=6,weights={quote(str(result.path))}"
    out.print(f"\nsaved in {result.path} after {result.seconds:.0f} s", soft_wrap=True)
    out.print(f"play with them: {agent}", style="dim", soft_wrap=True)


def _show_weights(result: _Result) -> None:
    game, weights = result.game, result.weights
    table = Table(box=None, header_style="bold")
    for title in ("points for one of", "by hand", "fitted"):
        table.add_column(title, justify="left" if title.startswith("points") else "right")
    for (name, value), by_hand in zip(weights.features.items(), game.point_weights, strict=True):
        table.add_row(name, f"{by_hand:.2f}", f"{value / weights.point:.2f}")
    out.print(table)
    out.print()
    for number, one in enumerate(result.learned.rounds, 1):
        _show_round(number, one)
    out.print(
        f"a point adds {weights.point:.3f} to the logarithm of the odds of winning (by hand {game.point:.3f});"
        f" the right to move is worth {weights.tempo / weights.point:.1f} points, no part of the evaluation\n",
        style="dim",
    )


def _show_round(number: int, one: Round) -> None:
    best = max(one.trials, key=lambda trial: trial.score)
    judgement = "is enough" if one.taken else "shows nothing"
    out.print(
        f"round {number}: {one.positions:,} positions of games with {one.noise:.0%} random moves; of"
        f" {len(one.trials)} ways on, {best.step:.0%} of the way to the regression over {_PLACES[best.regression]}"
        f" scores best, {best.score:.3f}; in other games {one.again:.3f}, which {judgement}",
        style="dim",
    )


def _show_calibration(bins: list[Bin]) -> None:
    table = Table(box=None, header_style="bold")
    for title in ("evaluation, points", "positions", "games", "chance of winning", "95% interval"):
        table.add_column(title, justify="left" if title.startswith("evaluation") else "right")
    for b in bins:
        chance, interval = f"{b.chance:.3f}", f"{b.interval.low:.3f} to {b.interval.high:.3f}"
        table.add_row(_range(b), f"{b.positions:,}", f"{b.games:,}", *((chance, interval) if b.games else ("-", "-")))
    out.print(table)
    growth = "grows with the evaluation" if grows(bins) else "does NOT grow from each range to the next"
    out.print(f"\nin games that the weights were not fitted to, the chance of winning {growth};\n{_compared(bins)}")


def _compared(bins: list[Bin]) -> str:
    """Compare the chance to win one point ahead with that three points ahead."""
    one, three = bin_of(bins, 1.0), bin_of(bins, 3.0)
    if not one.games or not three.games:
        return "there were no positions one point and three points ahead to be compared"
    less = "less than" if one.chance < three.chance else "NOT less than"
    return f"one point ahead it is {one.chance:.3f}, {less} three points ahead, {three.chance:.3f}"


def _range(b: Bin) -> str:
    if math.isinf(b.low):
        return f"below {b.high:g}"
    return f"{b.low:g} and more" if math.isinf(b.high) else f"{b.low:g} to {b.high:g}"
