"""Alpha-beta in lanes against alpha-beta one node after the other: the same depth, the same value, the time it takes.

    python benchmarks/lanes.py [GAME ...] [--lanes 1 16 64 256] [--positions 4]

Searches positions from the middle of random games to a fixed depth, and prints for each game and number of lanes the
seconds of all positions together, without compilation; the ratio to one lane; and the positions looked at, which are
more in lanes, since lanes search what a cutoff would have left out. Ends with status 1 where a value differs. Run from
the root of the checkout; nothing of it needs to be installed.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax
import jax.numpy as jnp
import numpy as np

from beamzero.games import Game, State, make_game
from beamzero.search.alphabeta.alphabeta import AlphaBeta
from beamzero.search.evaluator import Evaluator, SearchResult
from beamzero.search.features import feature_evaluator

DEPTHS = {
    "othello": 9,
    "checkers": 11,
    "chess6x6": 6,
    "chess": 5,
    "connect_four": 12,
    "kalah": 12,
    "togyzkumalak": 9,
}
"""The plies of the search of each game."""

PLIES = 16
"""The random moves that lead to a position."""

ENTRIES = 2**20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(DEPTHS), help=f"of {', '.join(DEPTHS)}; by default all")
    parser.add_argument("--lanes", type=int, nargs="+", default=[1, 16, 64, 256])
    parser.add_argument("--positions", type=int, default=4)
    arguments = parser.parse_args()
    print("| game, depth | lanes | seconds | times as fast | positions | positions/s |\n|---|---|---|---|---|---|")
    differs = False
    for name in arguments.games:
        game = make_game(name)
        roots = [middle_of_game(game, seed) for seed in range(arguments.positions)]
        first: tuple[float, list[float]] | None = None
        for lanes in arguments.lanes:
            seconds, values, nodes = measure(game, roots, lanes, DEPTHS[name])
            first = first or (seconds, values)
            differs |= values != first[1]
            print(
                f"| {name}, {DEPTHS[name]} | {lanes} | {seconds:.2f} | {first[0] / seconds:.2f} | {nodes:,} |"
                f" {nodes / seconds / 1000:,.0f}k |",
                flush=True,
            )
    if differs:
        print("values differ", file=sys.stderr)
    return int(differs)


def middle_of_game(game: Game, seed: int) -> State:
    """Play random moves from the first position; another game is begun where one ends."""
    draw, state = np.random.default_rng(seed), game.init(jax.random.key(0))
    for _ in range(PLIES):
        state = game.step(state, jnp.int32(draw.choice(game.legal_actions(state))))
        if game.over(state):
            return middle_of_game(game, seed + 1000)
    return state


def measure(game: Game, roots: list[State], lanes: int, depth: int) -> tuple[float, list[float], int]:
    """Search all roots. Returns the seconds, the values, and the positions looked at."""
    quiet = 12 if "chess" in game.name else 0
    search, evaluator = AlphaBeta(depth, quiet=quiet, entries=ENTRIES, lanes=lanes), feature_evaluator(game)
    batches = [jax.tree.map(lambda x: jnp.asarray(x)[None], root) for root in roots]
    compiled = search_one.lower(game, search, evaluator, batches[0]).compile()
    began = time.perf_counter()
    found = [jax.device_get(compiled(evaluator, batch)) for batch in batches]
    seconds = time.perf_counter() - began
    return seconds, [float(one.value[0]) for one in found], sum(int(one.nodes[0]) for one in found)


@functools.partial(jax.jit, static_argnums=(0, 1))
def search_one(game: Game, search: AlphaBeta, evaluator: Evaluator, state: State) -> SearchResult:
    return search(game, evaluator, state, jax.random.key(0))


if __name__ == "__main__":
    sys.exit(main())
