"""Memory and compute of AlphaZero in Connect Four and in chess, side by side, as the report on the two asks.

    python benchmarks/two_games.py [--chess-games 4] [--chess-turns 4]

With the report's nets, as the recipes connect_four_alphazero_mlp and chess_alphazero have them, with new weights. Rates
are those of this machine, compiling not counted. Chess on a CPU is slow, so there only a few turns of a few games are
played by default, and a whole game is taken to be as long as a random one.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax
import jax.numpy as jnp

from beamzero.algorithms.alphazero.iterate import AlphaZero
from beamzero.algorithms.alphazero.window import empty_window
from beamzero.bench.beam import some_positions
from beamzero.bench.timing import on_every_core, seconds_of
from beamzero.core.compiler import keep_compiled_code
from beamzero.core.cores import programs_at_once
from beamzero.games import Game, State, make_game
from beamzero.nets import count_parameters
from beamzero.search.mcts.mcts import MCTS
from beamzero.search.simple import random_moves
from beamzero.training.recipes import find_recipe, make_settings

RECIPES = ("connect_four_alphazero_mlp", "chess_alphazero")
ROOTS = {"cpu": {"connect_four": 512, "chess": 4}, "gpu": {"connect_four": 2**15, "chess": 2**11}}
"""Positions that are looked at together where the net and the search are measured."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    on_gpu = jax.default_backend() == "gpu"
    parser.add_argument("--chess-games", type=int, default=512 if on_gpu else 4, help="games of chess, side by side")
    parser.add_argument("--chess-turns", type=int, default=200 if on_gpu else 4, help="turns of each that are played")
    arguments = parser.parse_args()
    keep_compiled_code()
    short = {"games": arguments.chess_games, "max_turns": arguments.chess_turns}
    columns = [figures(name, short if name == "chess_alphazero" else {}) for name in RECIPES]
    print(f"{'on ' + jax.devices()[0].device_kind:44} {'connect_four':>16} {'chess':>16}")
    for row in columns[0]:
        print(f"{row:44} {columns[0][row]:>16} {columns[1][row]:>16}")


def figures(recipe_name: str, short: dict[str, int]) -> dict[str, str]:
    """Return one column: each figure as text, by its name."""
    recipe = find_recipe(recipe_name)
    game = make_game(recipe.game)
    algorithm = AlphaZero(game, make_settings(recipe, {}).resolved(game))
    return {**memory(algorithm), **search_rates(algorithm), **self_play_rates(algorithm, short)}


# --- memory ----------------------------------------------------------------------------------------------------------


def memory(algorithm: AlphaZero) -> dict[str, str]:
    game, settings = algorithm.game, algorithm.settings
    state = jax.eval_shape(game.init, jax.random.key(0))
    weights = algorithm.net.shapes()
    evaluator = jax.eval_shape(algorithm.evaluator, jax.eval_shape(algorithm.init, jax.random.key(0)))
    roots = jax.tree.map(lambda x: jax.ShapeDtypeStruct((1, *x.shape), x.dtype), state)
    tree = jax.eval_shape(functools.partial(MCTS(settings.sims).start, game), evaluator, roots, jax.random.key(0))
    window = jax.eval_shape(lambda: empty_window(game, settings.window))
    return {
        "parameters": f"{count_parameters(weights):,}",
        "weights": in_bytes(weights),
        "a state": in_bytes(state),
        "simulations for each move": f"{settings.sims}",
        "a tree of so many": in_bytes(tree),
        "trees of all games of an iteration": in_bytes(tree, settings.games),
        f"the window ({' and '.join(_windows())} states)": in_bytes(window),
    }


def _windows() -> list[str]:
    return [f"{make_settings(find_recipe(name), {}).window:,}" for name in RECIPES]


def in_bytes(tree: Any, times: int = 1) -> str:
    """Write the size of some arrays, in the unit that suits it."""
    size = float(times * sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(tree)))
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


# --- compute ---------------------------------------------------------------------------------------------------------


def search_rates(algorithm: AlphaZero) -> dict[str, str]:
    """Measure the bare net, and the search, on every core at once as in self-play."""
    game, search, key = algorithm.game, MCTS(algorithm.settings.sims), jax.random.key(0)
    batch = ROOTS["gpu" if jax.default_backend() == "gpu" else "cpu"][game.name]
    roots = some_positions(game, batch, 16)
    evaluator = algorithm.evaluator(algorithm.init(key))
    look = jax.jit(lambda evaluator, states: evaluator.value_and_scores(states))
    find = jax.jit(lambda evaluator, states: search(game, evaluator, states, key).policy)
    bare, searching = seconds_of(
        lambda: on_every_core(lambda: look(evaluator, roots)),
        lambda: on_every_core(lambda: find(evaluator, roots)),
    )
    at_once = batch * programs_at_once()
    return {
        "evaluations/s of the bare net": rate(at_once / bare),
        "simulations/s": rate(at_once * search.sims / searching),
    }


def self_play_rates(algorithm: AlphaZero, short: dict[str, int]) -> dict[str, str]:
    """Measure the second of two iterations that hardly learn; the first compiles."""
    game, full = algorithm.game, algorithm.settings
    less: dict[str, Any] = {**short, "lanes": 0, "batches": 1, "batch_size": 8, "window": 1000}
    settings = dataclasses.replace(full, **less).resolved(game)
    brief = AlphaZero(game, settings)
    state = brief.init(jax.random.key(0))
    record: dict[str, Any] = {}
    for iteration in range(2):
        _, record = brief.iterate(state, iteration, jax.random.key(0), lambda *_: None)
    seconds = record["seconds"]["self_play"]
    positions = record["states"] / seconds
    whole = settings.max_turns == full.max_turns
    turns = record["mean_turns"] if whole else random_turns(game, full.max_turns)
    return {
        "turns of a game": f"{turns:.0f}" if whole else f"{turns:.0f} (random)",
        "positions/s in self-play": rate(positions),
        "games/s in self-play": rate(positions / turns),
        "evaluations/s in self-play": rate(record["evaluations"] / seconds),
    }


def random_turns(game: Game, most: int, games: int = 64) -> float:
    """Count the turns of a random game on average, where those with more than `most` are cut."""

    @jax.jit
    def play(key: jax.Array) -> jax.Array:
        def move(turn: jax.Array, carry: tuple[State, jax.Array]) -> tuple[State, jax.Array]:
            states, turns = carry
            turns += (~jax.vmap(game.over)(states)).astype(jnp.int32)
            return jax.vmap(game.step)(states, random_moves(game, states, jax.random.fold_in(key, turn))), turns

        start = jax.vmap(game.init)(jax.random.split(key, games)), jnp.zeros(games, jnp.int32)
        return jax.lax.fori_loop(0, most, move, start)[1]

    return float(jnp.mean(play(jax.random.key(0))))


def rate(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


if __name__ == "__main__":
    main()
