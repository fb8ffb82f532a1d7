"""Which nets are strongest per second: PROBS on Connect Four, the same seconds for each pair of V and Q.

    python benchmarks/nets.py [--seconds 60] [--seed 0]

Every pair is trained for the same time, compilation not counted, and then plays 1000 games, one look at Q, against two
opponents. The learning rate falls over the iterations that fit into the time. All other settings are those of the
recipe connect_four_quick.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax

from beamzero.algorithms.probs.iterate import Probs
from beamzero.arena.battle import battle
from beamzero.core.compiler import keep_compiled_code
from beamzero.games import make_game
from beamzero.nets import count_parameters
from beamzero.players import SearchPlayer, make_player
from beamzero.search.simple import OneLook
from beamzero.training.recipes import find_recipe, make_settings

LARGE = "conv:channels=32-64,dense=160-112"
PAIRS = [
    ("mlp:width=256,depth=3", "mlp:width=256,depth=3"),
    ("mlp:width=64,depth=3", "mlp:width=256,depth=3"),
    ("conv:channels=16-16,dense=72", "conv:channels=16-16,dense=72"),
    ("mlp:width=64,depth=3", LARGE),
    ("conv:channels=8-16,dense=32", LARGE),
    (LARGE, LARGE),
    ("conv:channels=8-16,dense=32", "resnet:channels=24,blocks=2,dense=64"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    keep_compiled_code()
    print(f"{arguments.seconds:.0f} s each on {jax.devices()[0].device_kind}; score with 95% interval over 1000 games")
    for value_net, q_net in PAIRS:
        measure(value_net, q_net, arguments.seconds, arguments.seed)


def measure(value_net: str, q_net: str, seconds: float, seed: int) -> None:
    """Print one row."""
    recipe = find_recipe("connect_four_quick")
    game = make_game(recipe.game)
    changes = {"value_net": value_net, "q_net": q_net}
    pace = Probs(game, make_settings(recipe, changes).resolved(game))
    state = pace.init(jax.random.key(seed))
    times = []
    for iteration in range(5):
        start = time.perf_counter()
        state, _ = pace.iterate(state, iteration, jax.random.key(seed), lambda *_: None)
        times.append(time.perf_counter() - start)
    # Games grow longer as the agent learns, by about a third.
    iterations = max(2, round(seconds / (1.3 * sum(times[2:]) / 3)))
    algorithm = Probs(game, make_settings(recipe, {**changes, "iterations": iterations}).resolved(game))
    state = algorithm.init(jax.random.key(seed))
    start = time.perf_counter()
    done = 0
    while done < iterations and time.perf_counter() - start < seconds:
        state, _ = algorithm.iterate(state, done, jax.random.key(seed), lambda *_: None)
        done += 1
    taken = time.perf_counter() - start
    player = SearchPlayer("probs", game, OneLook(), algorithm.evaluator(state))
    scores = []
    for opponent in ("lookahead:2", "lookahead:3"):
        played = battle(game, player, make_player(opponent, game), 1000)
        scores.append(f"{opponent} {played.score:.3f} [{played.interval.low:.3f}, {played.interval.high:.3f}]")
    sizes = "/".join(f"{count_parameters(part.weights) / 1000:.0f}K" for part in (state.value, state.q))
    print(f"V {value_net}  Q {q_net}  {sizes}  {done} iterations in {taken:.0f} s  {'  '.join(scores)}", flush=True)


if __name__ == "__main__":
    main()
