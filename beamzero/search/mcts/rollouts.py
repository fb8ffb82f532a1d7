"""Rollouts: the value of a position is the result of one random game, for tree search without a net."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.tree_util import Partial

from beamzero.games import CHANCE, Game, State
from beamzero.games.chance import resolve_chance
from beamzero.games.game import keep_if
from beamzero.games.hashing import hash_words
from beamzero.search.evaluator import Evaluator, SearchResult, side_sign, zero_evaluator
from beamzero.search.mcts.mcts import MCTS
from beamzero.search.mcts.tree import Tree
from beamzero.search.protocol import Option, Outlook, Search, Spent


class Simulated(NamedTuple):
    """Trees that grow by random games, with their seed."""

    tree: Tree
    seed: Array  # uint32 [] the seed of the random games


@dataclasses.dataclass(frozen=True)
class RandomGames(Search):
    """A tree search that plays one random game from each new position; it uses no other evaluator."""

    search: MCTS

    keeps_line = True
    by_chance = True
    tries_all = False

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> Simulated:
        game_key, key = jax.random.split(key)
        seed = jax.random.bits(game_key, (), jnp.uint32)
        return Simulated(self.search.start(game, evaluator, states, key), seed)

    def advance(self, game: Game, evaluator: Evaluator, carry: Simulated, budget: Array | int) -> Simulated:
        evaluator = rollout_evaluator(game, carry.seed)
        return carry._replace(tree=self.search.advance(game, evaluator, carry.tree, budget))

    def done(self, game: Game, carry: Simulated) -> Array:
        return self.search.done(game, carry.tree)

    def result(self, game: Game, carry: Simulated, key: Array) -> SearchResult:
        _, key = jax.random.split(key)
        return self.search.result(game, carry.tree, key)

    def spent(self, game: Game, carry: Simulated) -> Spent:
        return self.search.spent(game, carry.tree)

    def outlook(self, game: Game, carry: Simulated, result: SearchResult, row: int = 0) -> Outlook:
        return self.search.outlook(game, carry.tree, result, row)

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes of the trees of `roots` roots."""
        return self.search.bytes_needed(game, roots)

    def nodes_of_unit(self, game: Game) -> int:
        return self.search.nodes_of_unit(game)

    @property
    def units(self) -> int:
        return self.search.units

    @property
    def options(self) -> Mapping[str, Option]:
        return self.search.options

    def with_option(self, name: str, value: int) -> RandomGames:
        return RandomGames(self.search.with_option(name, value))


def rollout_evaluator(game: Game, seed: Array) -> Evaluator:
    """Make an evaluator whose values are results of random games, by a `seed`, uint32 []: one game a position."""
    return zero_evaluator(game)._replace(value=Partial(_RandomGame(game), seed))


@dataclasses.dataclass(frozen=True)
class _RandomGame:
    """A function of a seed, uint32 [], and states [B] to results of random games, float32 [B], for the side to move."""

    game: Game

    def __call__(self, seed: Array, states: State) -> Array:
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
    """Play a random move, or resolve a chance event, by `draw`, float32 [] in [0, 1)."""
    moved = game.step(state, game.pick(state, draw))
    if not game.num_chance:
        return moved
    return keep_if(game.player(state) == CHANCE, resolve_chance(game, state, draw), moved)


def _uniform(mark: Array, seed: Array, ply: Array) -> Array:
    """Hash a key, uint32 [2], a seed and a ply to a random number, float32 [] in [0, 1): faster than a generator."""
    word = hash_words(mark[0], mark[1], seed, ply)[0]
    return (word >> np.uint32(8)).astype(jnp.float32) * np.float32(2**-24)
