"""Positions that expectiminimax makes in backgammon, turn by turn, beside the (b n)^d of the books.

    python benchmarks/expectiminimax.py [--positions 8] [--depth 2]

n is 21, the rolls; b is the mean number of ways to play a roll, counted without repetitions. A turn of two checkers is
two moves here, so that there are positions within turns as well.
"""

from __future__ import annotations

import argparse
import functools
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.arena.openings import draw_openings
from beamzero.games import Game, State, make_game
from beamzero.search.evaluator import Evaluator, SearchResult
from beamzero.search.expectiminimax import Expectiminimax
from beamzero.search.features import feature_evaluator

WAYS = {
    "every line": Expectiminimax(prune=False, entries=0),
    "with pruning": Expectiminimax(entries=0),
    "and a table": Expectiminimax(),
    "five rolls of 21": Expectiminimax(rolls=5),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=8)
    parser.add_argument("--depth", type=int, default=2)
    options = parser.parse_args()
    game = make_game("backgammon")
    evaluator = feature_evaluator(game)
    states = draw_openings(game, options.positions, 30, jax.random.key(5), distinct=True)[0]
    plays = mean_plays(game, states)
    print(f"{options.positions} positions of random games, 30 moves in; {plays:.1f} ways to play a roll on average")
    for depth in range(1, options.depth + 1):
        books = plays * (game.num_chance * plays) ** (depth - 1)
        print(f"\n{depth} turn{'s' * (depth > 1)}; ends of turns by the books, b (n b)^{depth - 1}: {books:,.0f}")
        for name, way in WAYS.items():
            search = Expectiminimax(depth, prune=way.prune, rolls=way.rolls, entries=way.entries)
            jax.block_until_ready(think(game, search, evaluator, states, jax.random.key(0)))
            began = time.perf_counter()
            found = jax.block_until_ready(think(game, search, evaluator, states, jax.random.key(0)))
            seconds = (time.perf_counter() - began) / options.positions
            nodes = float(jnp.mean(found.nodes))
            print(
                f"  {name:17} {nodes:>12,.0f} positions, {1000 * seconds:>8.1f} ms, {nodes / seconds:>10,.0f} a second"
            )


@functools.partial(jax.jit, static_argnums=(0, 1))
def think(game: Game, search: Expectiminimax, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
    return search(game, evaluator, states, key)


def mean_plays(game: Game, states: State) -> float:
    """Count the different positions in which a turn can end, on average over all rolls and states."""
    counts = []
    step, legal = jax.jit(game.step), jax.jit(game.legal)
    for row in range(len(states.side)):
        state = jax.tree.map(lambda x, row=row: x[row], states)
        waiting = state._replace(high=jnp.uint8(0), low=jnp.uint8(0), times=jnp.uint8(0))
        for outcome, prob in enumerate(np.asarray(game.chance(waiting)).tolist()):
            todo, ends, seen = [game.resolve(waiting, jnp.int32(outcome))], set(), set()
            while todo:
                now = todo.pop()
                for action in np.flatnonzero(np.asarray(legal(now))).tolist():
                    after = jax.device_get(step(now, jnp.int32(action)))
                    mark = tuple(x.tobytes() for x in (after.own, after.other, after.high, after.times))
                    if int(after.high) == 0:
                        ends.add(mark)
                    elif mark not in seen:
                        seen.add(mark)
                        todo.append(after)
            counts.append(prob * len(ends))
    return sum(counts) / len(states.side)


if __name__ == "__main__":
    main()
