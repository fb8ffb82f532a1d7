"""Players that play a solved game: CFR+ for games of hidden cards."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial

from beamzero.core.spec import Spec, convert
from beamzero.games import Game, State
from beamzero.players.options import take
from beamzero.players.player import Player, SearchPlayer
from beamzero.search.evaluator import Evaluator
from beamzero.search.simple import Drawn
from beamzero.solvers.cfr import solve
from beamzero.solvers.deal_tree import DealTree, grow_tree

ITERATIONS = 1000
"""The default number of iterations of CFR+."""


def make_cfr(name: str, spec: Spec, game: Game) -> Player:
    """Solve the game and make a player such as ``cfr`` or ``cfr:iterations=1000``."""
    argument, options = take(spec, name, "iterations", {"iterations": int})
    iterations = options.get("iterations", ITERATIONS)
    if argument is not None:
        iterations = convert(argument, int, f"{name}: iterations")
    return SearchPlayer(name, game, Drawn(), _solved(game, iterations), deterministic=False)


deal_tree = functools.lru_cache(maxsize=4)(grow_tree)
"""A cached function of a game to its tree of deals."""


@functools.lru_cache(maxsize=8)
def _solved(game: Game, iterations: int) -> Evaluator:
    """Solve a game once. Returns its strategy as an evaluator."""
    tree = deal_tree(game)
    return table_evaluator(tree, solve(tree, iterations))


def table_evaluator(tree: DealTree, strategy: np.ndarray) -> Evaluator:
    """Make an evaluator of a strategy, float [I, A]: its policy logits and the mover's mean result in each set."""
    with np.errstate(divide="ignore"):
        logits = np.log(strategy).astype(np.float32)
    observations = jax.device_put(tree.observations.reshape(len(strategy), -1))
    found = _Found(tree.game)
    values = tree.set_values(strategy).astype(np.float32)
    return Evaluator(
        value=Partial(found, observations, jax.device_put(values)),
        scores=Partial(found, observations, jax.device_put(logits)),
    )


@dataclasses.dataclass(frozen=True)
class _Found:
    """A function that finds the row of a table, [I, ...], of the information set of each of B states."""

    game: Game

    def __call__(self, observations: Array, rows: Array, states: State) -> Array:
        seen = jax.vmap(self.game.observe)(states).reshape(-1, 1, observations.shape[1])
        return rows[jnp.argmax(jnp.all(seen == observations[None], axis=2), axis=1)]
