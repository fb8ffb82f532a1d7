"""An agent that moves first from the empty board against perfect play: who keeps what?

    python benchmarks/perfect_connect_four.py alphazero:connect_four,seconds=0.2 [--games 100] [--seed 0]

The solver bitbully answers with one of its best moves, drawn at random: those that keep the best result and hold out
longest. All games go side by side, so that an agent that takes a batch is asked about all of them at once. From the
empty board the first player wins if it makes no error, so every game that it does not win shows one.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import bitbully  # type: ignore[import-untyped]
import jax
import jax.numpy as jnp
import numpy as np

from beamzero.arena.score import share_interval
from beamzero.games import make_game
from beamzero.players import make_player


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    game = make_game("connect_four")
    player = make_player(arguments.agent, game)
    solver, rng, key = bitbully.BitBully(), random.Random(arguments.seed), jax.random.key(arguments.seed)
    boards = [bitbully.Board() for _ in range(arguments.games)]
    states = jax.vmap(game.init)(jax.random.split(key, arguments.games))
    step = jax.jit(jax.vmap(game.step))
    began = time.monotonic()
    for ply in range(game.max_plies):
        running = ~np.asarray(jax.vmap(game.over)(states))
        if not running.any():
            break
        if ply % 2 == 0:
            moves = np.asarray(player.choose(states, jnp.asarray(running), jax.random.fold_in(key, ply)))
        else:
            moves = np.array(
                [best_reply(solver, rng, board) if on else 0 for board, on in zip(boards, running, strict=True)]
            )
        for board, move, on in zip(boards, moves, running, strict=True):
            if on:
                board.play(int(move))
        states = step(states, jnp.asarray(moves, jnp.int32))
        print(f"\rply {ply + 1}, {int(running.sum())} games go on", end="", file=sys.stderr)
    print(file=sys.stderr)
    scores = np.asarray(jax.vmap(game.score)(states))
    wins, draws, losses = (int((scores == value).sum()) for value in (1, 0, -1))
    low, high = share_interval(losses, arguments.games)
    print(f"{arguments.agent} moving first against perfect play, {arguments.games} games:")
    print(f"{wins} wins, {draws} draws, {losses} losses; losses {losses / arguments.games:.3f} [{low:.3f}, {high:.3f}]")
    print(f"{time.monotonic() - began:.0f} s")


def best_reply(solver: bitbully.BitBully, rng: random.Random, board: bitbully.Board) -> int:
    scores = solver.score_all_moves(board)
    best = max(scores.values())
    return rng.choice([column for column, score in scores.items() if score == best])


if __name__ == "__main__":
    main()
