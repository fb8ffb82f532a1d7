"""What tests of several devices do in a process of its own, which writes arrays into a file and prints the rest."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from beamzero.algorithms.probs.iterate import Probs
from beamzero.algorithms.probs.replay import all_games, remember
from beamzero.algorithms.probs.targets import cut_searches
from beamzero.core.compiler import CompilationCount
from beamzero.core.devices import everywhere
from beamzero.core.progress import no_progress
from beamzero.games import make_game
from beamzero.nets import Net, make_net
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.executor import LOCAL_EXECUTOR, Batch, cut_shards
from beamzero.training.fit import ValueLoss, ValueRows, _fit, fit_pass, new_learner
from beamzero.training.report import Report

if __name__ == "__main__":
    from toy import GAME, settings  # lies beside this file
else:
    from tests.training.toy import GAME, settings

CHANGES = {
    "probs": {"games": 16, "lanes": 4, "search_batch": 8, "q_games_per_step": 8},
    "alphazero": {"games": 16, "lanes": 4, "sims": 4, "play_on": 5, "random_plies": 4, "handicap": 0.5},
}
ITERATIONS = 2
FITS = [("none", 16), ("none", 15), ("batch", 16)]
"""Norms of nets and rows of minibatches."""


def iterate(kind: str) -> dict[str, np.ndarray]:
    """Results of work items by the first weights, and the state after some iterations, as arrays by name."""
    algorithm = ALGORITHMS[kind](make_game(GAME), settings(kind, **CHANGES[kind]))
    state = jax.jit(algorithm.init)(jax.random.key(0))
    items = do_items(algorithm, state)
    for iteration in range(ITERATIONS):
        with CompilationCount() as count:
            state, record = algorithm.iterate(state, iteration, jax.random.key(1), Report().phase)
    leaves = {f"item {i}": leaf for i, leaf in enumerate(jax.tree.leaves(items))}
    leaves |= {f"state {i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
    leaves |= {"games": record["games"], "compiled": count.number}
    return {f"{kind} {name}": np.asarray(leaf) for name, leaf in leaves.items()}


def do_items(algorithm, state) -> list:
    """Do more shards than devices and no multiple of them; and for PROBS beam searches of what was played."""
    shards = cut_shards(0, 12, 3, jax.random.key(5))
    if not isinstance(algorithm, Probs):
        batch = Batch(state.best, shards)
        return _counted(jax.device_get(list(LOCAL_EXECUTOR.map_in_steps(algorithm.play, batch, no_progress))))
    played = list(LOCAL_EXECUTOR.map(algorithm.play, Batch(state.weights, shards)))
    searches = cut_searches(remember(100, all_games(played)), 8, 3)
    return jax.device_get([played, list(LOCAL_EXECUTOR.map(algorithm.search, Batch(state.weights, searches)))])


def _counted(found: list) -> list:
    """Without what stands where no game was played: shards that are done wait for the others."""
    return [
        (jax.tree.map(lambda x, p=games.played: x[p], (games.states, games.policy, games.value)), games.now, asked)
        for games, asked in found
    ]


def check_fit(norm: str, batch: int) -> dict[str, object]:
    """Whether devices share the rows of a minibatch, and what a fit gives."""
    game = make_game(GAME)
    net = Net(game, make_net(f"dense:widths=16-8,norm={norm}"), "value")
    begin = jax.jit(jax.vmap(lambda key, move: game.step(game.init(key), move)))
    states = begin(jax.random.split(jax.random.key(0), 64), np.arange(64, dtype=np.int32) % 9)
    rows = ValueRows(states, np.sin(np.arange(64, dtype=np.float32)))
    more = (
        new_learner(jax.jit(net.init)(jax.random.key(1))), rows, jnp.int32(60), jnp.float32(0.1), jnp.float32(0.01),
        jax.random.key(2),
    )  # fmt: skip
    learner, loss = fit_pass(ValueLoss(net, True), batch, *more)
    text = _fit.lower(ValueLoss(net, True), batch, *everywhere(more)).compile().as_text()
    return {
        "loss": float(loss), "all_reduce": "all-reduce" in text,
        "placed": sorted({len(leaf.sharding.device_set) for leaf in jax.tree.leaves(learner)}),
        "weights": [float(np.sum(np.abs(leaf))) for leaf in jax.tree.leaves(learner.weights)],
    }  # fmt: skip


def everything() -> tuple[dict[str, np.ndarray], list[dict[str, object]]]:
    """What comes of iterations, as arrays, and of each of the fits."""
    arrays = {name: array for kind in CHANGES for name, array in iterate(kind).items()}
    return arrays | {"devices": np.asarray(jax.local_device_count())}, [check_fit(*how) for how in FITS]


if __name__ == "__main__":
    found, facts = everything()
    np.savez(Path(sys.argv[1]), **found)
    print(json.dumps(facts))
