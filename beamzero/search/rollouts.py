"""What a position is worth by playing it out at random, once: an evaluator for tree search without a net."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.tree_util import Partial

from beamzero.games import CHANCE, Game, State
from beamzero.games.chance import settle
from beamzero.games.game import keep_if
from beamzero.games.hashing import hash_words
from beamzero.search.evaluator import Evaluator, SearchResult, side_sign, zero_evaluator
from beamzero.search.mcts import MCTS


@dataclasses.dataclass(frozen=True)
class RandomGames:
    """A tree search that plays one random game from each new position; the evaluator it is given is not asked."""

    search: MCTS

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes of the trees of so many roots."""
        return self.search.bytes_needed(game, roots)

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        game_key, key = jax.random.split(key)
        return self.search(game, rollout_evaluator(game, game_key), states, key)


def rollout_evaluator(game: Game, key: Array) -> Evaluator:
    """Values are results of random games. The same position gets the same game, another key another one."""
    seed = jax.random.bits(key, (), jnp.uint32)
    return zero_evaluator(game)._replace(value=Partial(_RandomGame(game), seed))


@dataclasses.dataclass(frozen=True)
class _RandomGame:
    game: Game

    def __call__(self, seed: Array, states: State) -> Array:
        """float32 [B]: for the side to move in each of the states."""
        game = self.game
        marks = jax.vmap(game.hash)(states)

        def move(carry: tuple[Array, State]) -> tuple[Array, State]:
            ply, now = carry
            draws = jax.vmap(lambda mark: _uniform(mark, seed, ply))(marks)
            return ply + np.uint32(1), jax.vmap(lambda state, draw: _random_step(game, state, draw))(now, draws)

        def running(carry: tuple[Array, State]) -> Array:
            return ~jnp.all(jax.vmap(game.over)(carry[1]))

        _, final = lax.while_loop(running, move, (jnp.uint32(0), states))
        return side_sign(game, states) * jax.vmap(game.score)(final)


def _random_step(game: Game, state: State, draw: Array) -> State:
    moved = game.step(state, game.pick(state, draw))
    if not game.num_chance:
        return moved
    return keep_if(game.player(state) == CHANCE, settle(game, state, draw), moved)


def _uniform(mark: Array, seed: Array, ply: Array) -> Array:
    """float32 [] of [0, 1): random numbers by a hash, which takes a fraction of a generator's time."""
    word = hash_words(mark[0], mark[1], seed, ply)[0]
    return (word >> np.uint32(8)).astype(jnp.float32) * np.float32(2**-24)
