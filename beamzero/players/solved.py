"""Players that a solved game makes: CFR+ for games of hidden cards."""

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


def make_cfr(name: str, spec: Spec, game: Game) -> Player:
    """``cfr``, ``cfr:iterations=1000``: the game is solved when the player is made."""
    argument, options = take(spec, name, "iterations", {"iterations": int})
    iterations = options.get("iterations", ITERATIONS)
    if argument is not None:
        iterations = convert(argument, int, f"{name}: iterations")
    return SearchPlayer(name, game, Drawn(), _solved(game, iterations), deterministic=False)


deal_tree = functools.lru_cache(maxsize=4)(grow_tree)
"""The tree of a game, grown once."""


@functools.lru_cache(maxsize=8)
def _solved(game: Game, iterations: int) -> Evaluator:
    tree = deal_tree(game)
    return table_evaluator(tree, solve(tree, iterations))


def table_evaluator(tree: DealTree, strategy: np.ndarray) -> Evaluator:
    """A strategy, float [I, A], as policy logits, and what it may expect in each information set."""
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
    """The row of a table that belongs to what the seat to move sees."""

    game: Game

    def __call__(self, observations: Array, rows: Array, states: State) -> Array:
        seen = jax.vmap(self.game.observe)(states).reshape(-1, 1, observations.shape[1])
        return rows[jnp.argmax(jnp.all(seen == observations[None], axis=2), axis=1)]
