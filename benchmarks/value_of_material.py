"""Whether a net has learned what is good in a game: its value held against the game's own evaluation.

    python benchmarks/value_of_material.py chess alphazero:runs/chess alphazero:runs/chess,checkpoint=8

Positions are those after up to 100 random moves, which no agent has seen. The correlation is near 1 where the net knows
what the evaluation knows, in chess above all material, and near 0 where it learned its own games by heart.
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import numpy as np

from beamzero.algorithms.alphazero.self_play import open_at_random
from beamzero.core.compiler import keep_compiled_code
from beamzero.games import make_game
from beamzero.players import SearchPlayer, make_player
from beamzero.search.features import feature_evaluator, hand_made_weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("agents", nargs="+")
    parser.add_argument("--positions", type=int, default=512)
    options = parser.parse_args()
    keep_compiled_code()
    game = make_game(options.game)
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), options.positions))
    states = jax.jit(lambda states, key: open_at_random(game, 100, states, key))(states, jax.random.key(1))
    truth = feature_evaluator(game, 0.4 * hand_made_weights(game)).value(states)
    for name in options.agents:
        player = make_player(name, game)
        assert isinstance(player, SearchPlayer), f"{name} has no net"
        value = player.evaluator.value(states)
        correlation = float(np.corrcoef(np.asarray(jnp.stack([value, truth])))[0, 1])
        print(f"{name}: correlation {correlation:.2f}, standard deviation of the value {float(jnp.std(value)):.2f}")


if __name__ == "__main__":
    main()
