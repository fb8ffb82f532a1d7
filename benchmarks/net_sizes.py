"""Which net learns a small game in the fewest games and seconds: dense layers or convolutions, small or large.

    python benchmarks/net_sizes.py tic_tac_toe [--nets mlp:width=64,depth=3 ...] [--seeds 3] [--limit 1000]
    python benchmarks/net_sizes.py kalah

The questions that the AlphaZero paper on small games leaves open. Each net is trained from scratch, with the same
settings otherwise, until its agent is good enough, or has played the games of the limit:

- tic_tac_toe: it never loses, whatever the other side plays, with 25 simulations;
- kalah: a score of 0.75 in 100 games against minimax:3,by=stores, with 50 simulations.

Good enough means at one of the looks, taken every few iterations; an agent may be worse again at the next. Seconds are
those of self-play and fitting; compiling and measuring do not count. The learning rate falls over the games
of the limit, so another limit is another training.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax

from beamzero.algorithms.alphazero.iterate import AlphaZero
from beamzero.arena.battle import battle
from beamzero.arena.every_reply import play_every_reply
from beamzero.core.compiler import keep_compiled_code
from beamzero.games import Game, make_game
from beamzero.nets import count_parameters
from beamzero.players import Player, make_player
from beamzero.training.recipes import make_settings


def never_loses(game: Game, player: Player) -> bool:
    return not any(play_every_reply(game, player, side).losses for side in (0, 1))


def beats_three_plies(game: Game, player: Player) -> bool:
    return battle(game, player, make_player("minimax:3,by=stores", game), games=100).score >= 0.75


@dataclasses.dataclass(frozen=True)
class Task:
    """A game, when an agent is good enough at it, and what it is trained with."""

    good_enough: Callable[[Game, Player], bool]
    limit: int
    """Games after which it is given up."""
    look_every: int
    """Iterations between two looks at the agent."""
    settings: dict[str, Any]
    nets: tuple[str, ...]


DENSE = ("dense:widths=16-16-16", "mlp:width=32,depth=3", "mlp:width=64,depth=3", "mlp:width=128,depth=3")
TASKS = {
    "tic_tac_toe": Task(
        never_loses,
        limit=1000,
        look_every=2,
        settings={"games": 20, "batches": 100, "sims": 50, "rate_sims": 25},
        nets=(
            *DENSE,
            "mlp:width=256,depth=3",
            "conv:channels=8-8,dense=16,padding=same",
            "conv:channels=16-32,dense=64,padding=same",
            "conv:channels=32-64,dense=128,padding=same",
            "resnet:channels=16,blocks=2,dense=32",
        ),
    ),
    "kalah": Task(
        beats_three_plies,
        limit=6000,
        look_every=5,
        settings={"games": 64, "batches": 100, "sims": 50, "rate_sims": 50, "max_turns": 200},
        nets=(
            *DENSE,
            "mlp:width=256,depth=3",
            "conv:channels=16-32,dense=64,padding=same",
            "resnet:channels=16,blocks=2,dense=32",
        ),
    ),
}


class Trial(NamedTuple):
    """The result of one training."""

    games: int
    seconds: float
    reached: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=TASKS)
    parser.add_argument("--nets", nargs="+", help="as the setting net of a run; a list of ours by default")
    parser.add_argument("--seeds", type=int, default=3, help="trainings of each net")
    parser.add_argument("--limit", type=int, help="games after which a training is given up")
    arguments = parser.parse_args()
    keep_compiled_code()
    task = TASKS[arguments.game]
    task = dataclasses.replace(task, limit=arguments.limit or task.limit)
    print(
        f"{arguments.game} on {jax.devices()[0].device_kind}; medians of {arguments.seeds} seeds, at most {task.limit}"
    )
    print(f"{'net':44} parameters   games  seconds  reached  games of each seed")
    for net in arguments.nets or task.nets:
        measure(arguments.game, task, net, arguments.seeds)


def measure(name: str, task: Task, net: str, seeds: int) -> None:
    """Print one row. A training that was given up counts with the games and seconds that it had."""
    game = make_game(name)
    iterations = -(-task.limit // task.settings["games"])
    made = make_settings(None, {**task.settings, "net": net, "iterations": iterations, "rate_every": 0}, "alphazero")
    algorithm = AlphaZero(game, made.resolved(game))
    warm = algorithm.init(jax.random.key(0))
    algorithm.iterate(warm, 0, jax.random.key(0), _quiet)  # compiles
    trials = [train(algorithm, task, seed) for seed in range(seeds)]
    games = ", ".join(f"{trial.games}" if trial.reached else f">{trial.games}" for trial in trials)
    print(
        f"{net:44} {count_parameters(warm.best):>10,} {statistics.median(trial.games for trial in trials):>7.0f}"
        f" {statistics.median(trial.seconds for trial in trials):>8.1f}"
        f" {sum(trial.reached for trial in trials):>4} of {seeds}  {games}",
        flush=True,
    )


def train(algorithm: AlphaZero, task: Task, seed: int) -> Trial:
    """Train until the agent is good enough, or the limit."""
    settings = algorithm.settings
    init_key, key = jax.random.split(jax.random.key(seed))
    state, seconds = algorithm.init(init_key), 0.0
    for done in range(1, settings.iterations + 1):
        state, record = algorithm.iterate(state, done - 1, key, _quiet)
        seconds += sum(record["seconds"].values())
        look = done % task.look_every == 0 or done == settings.iterations
        if look and task.good_enough(algorithm.game, algorithm.player(state)):
            return Trial(done * settings.games, seconds, True)
    return Trial(settings.iterations * settings.games, seconds, False)


def _quiet(name: str, done: int, total: int) -> None:
    """Ignore the progress of a phase."""


if __name__ == "__main__":
    main()
