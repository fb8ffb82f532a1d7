"""Random moves a second through the adapters, beside the rules themselves: the tables of docs/adapters.md.

    python benchmarks/adapters.py [pettingzoo | pgx | open_spiel] [--seconds 2]

Each row is measured after it was compiled. Let the machine do nothing else.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.adapters import pettingzoo as aec
from beamzero.adapters import pgx as shaped
from beamzero.bench.games import MOVES_A_CALL, RandomRules, make_batches, our_rules, pyspiel_play
from beamzero.games import Game, State, make_game
from beamzero.games.chance import draw_chance
from beamzero.players import make_player


def rate(run: Callable[[], int], seconds: float) -> float:
    """Measure how much of what `run` counts is done in a second, after one call for the compiler."""
    run()
    begun, done = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        done += run()
    return done / (time.perf_counter() - begun)


def by_rules(rules: RandomRules, batch: int) -> Callable[[], int]:
    """Make what plays MOVES_A_CALL random moves in each of `batch` games."""
    (games,) = make_batches(rules, batch, 1)

    def run() -> int:
        jax.block_until_ready(games())
        return MOVES_A_CALL * batch

    return run


def shaped_rules(game: Game) -> RandomRules:
    """Make the rules of a game in pgx's shape."""
    world = shaped.env(game)

    def move(state: State, draw: Array) -> tuple[State, Array]:
        dice = jax.random.fold_in(jax.random.key(0), (draw * 2**24).astype(jnp.int32)) if game.num_chance else None
        state = world.step(state, game.pick(state._state, draw), dice)
        return state, state.terminated

    return RandomRules(world.init, move)


def by_pettingzoo(game: Game) -> int:
    """Play a random game in PettingZoo's shape. Returns the number of moves."""
    world, draw, moves = aec.env(game), np.random.default_rng(0), 0
    world.reset(seed=0)
    for _ in world.agent_iter():
        seen, _, over, _, _ = world.last()
        world.step(None if over else int(draw.choice(np.flatnonzero(seen["action_mask"]))))
        moves += not over
    return moves


def by_search(game: Game, batch: int, sims: int = 64) -> Callable[[], int]:
    """Make what searches the first position by Monte Carlo with random games; it counts simulations."""
    player = make_player(f"mcts:sims={sims}", game)
    keys = jax.random.split(jax.random.key(0), batch)
    states = draw_chance(game, jax.vmap(game.init)(keys), jax.random.key(1))

    def run() -> int:
        jax.block_until_ready(player.choose(states, jnp.ones(batch, jnp.bool_), jax.random.key(2)))
        return sims * batch

    return run


def peer(name: str) -> Callable[[], int]:
    """Make what plays random moves in OpenSpiel itself."""
    play = pyspiel_play(name)

    def run() -> int:
        play.run()
        return play.moves

    return run


# --- tables ----------------------------------------------------------------------------------------------------------


def pettingzoo_rows(seconds: float) -> Iterator[list[float | str]]:
    for name in ("tic_tac_toe", "connect_four", "kalah", "chess"):
        yield [name, rate(functools.partial(by_pettingzoo, make_game(name)), seconds)]


def pgx_rows(seconds: float) -> Iterator[list[float | str]]:
    for name in ("connect_four", "othello", "kalah", "backgammon"):
        game = make_game(name)
        yield [name, *(rate(by_rules(rules(game), 1024), seconds) for rules in (our_rules, shaped_rules))]


def open_spiel_rows(seconds: float) -> Iterator[list[float | str]]:
    for name in ("tic_tac_toe", "connect_four", "breakthrough", "hex", "backgammon"):
        game = make_game(f"open_spiel:{name}")
        plays = [peer(name), *(by_rules(our_rules(game), batch) for batch in (1, 256))]
        searches = [] if game.num_chance else [by_search(game, batch) for batch in (1, 64)]
        yield [name, *(rate(run, seconds) for run in plays + searches)]


ROWS = {"pettingzoo": pettingzoo_rows, "pgx": pgx_rows, "open_spiel": open_spiel_rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapters", nargs="*", metavar="ADAPTER", help=" ".join(ROWS))
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    for adapter in given.adapters or ROWS:
        print(adapter)
        for name, *figures in ROWS[adapter](given.seconds):
            print(f"| {name} | " + " | ".join(f"{figure:,.0f}" for figure in figures) + " |", flush=True)


if __name__ == "__main__":
    main()
