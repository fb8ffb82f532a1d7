"""Exhaustive minimax, ply by ply, for small games and for many positions at once."""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import CHANCE, Game, State


class _Ply(NamedTuple):
    """N different states at one ply, and their children."""

    over: np.ndarray  # bool [N]
    score: np.ndarray  # float32 [N]
    player: np.ndarray  # int32 [N]
    moves: np.ndarray  # int32 [N, W] actions, or outcomes of chance
    weight: np.ndarray  # float32 [N, W] 1 for an action, the probability of an outcome, 0 for nothing
    child: np.ndarray  # int32 [N, W] the place of the child in the next ply


@dataclasses.dataclass(frozen=True)
class Exhaustive:
    """A solver that plays every line to its end. Equal positions are expanded once; chance counts by probability."""

    most: int = 1_000_000
    """The most positions; a larger game is refused."""

    def __call__(self, game: Game, states: State) -> np.ndarray:
        """Value each legal action for the side to move, float32 [N, A]; see `clairvoyance.Solver`."""
        states, place = different(jax.tree.map(np.asarray, states))
        plies: list[_Ply] = []
        seen = 0
        while _rows(states):
            seen += _rows(states)
            if seen > self.most:
                raise BadInput(f"{game.spec} is too large to be played to its end: more than {self.most:,} positions")
            states, ply = _expand(game, states)
            plies.append(ply)
        value = np.zeros(0, np.float32)
        for ply in reversed(plies[1:]):
            value = _back_up(ply, value)
        root = plies[0]
        sign = np.where(root.player == 0, 1, -1)[:, None]
        follow = sign * (value[root.child] if value.size else np.zeros(root.child.shape, np.float32))
        found = np.full((len(sign), game.num_actions + 1), -np.inf, np.float32)
        np.put_along_axis(found, np.where(root.weight > 0, root.moves, game.num_actions), follow, axis=1)
        return found[place, : game.num_actions]


def _rows(states: State) -> int:
    """Give N, the number of states."""
    return jax.tree.leaves(states)[0].shape[0]


def different(states: State) -> tuple[State, np.ndarray]:
    """Find the different ones of N states on the host. Returns them, and the place of each of the N, int32 [N]."""
    leaves = [np.ascontiguousarray(x) for x in jax.tree.leaves(states)]
    if not len(leaves[0]):
        return states, np.zeros(0, np.int32)
    row = np.concatenate([leaf.reshape(len(leaf), -1).view(np.uint8) for leaf in leaves], axis=1)
    keys = np.ascontiguousarray(row).view(np.dtype((np.void, row.shape[1])))[:, 0]
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return jax.tree.map(lambda x: x[first], states), place.reshape(-1).astype(np.int32)


def _expand(game: Game, states: State) -> tuple[State, _Ply]:
    """Expand N different states. Returns the different states a ply later, and the ply that leads to them."""
    count = _rows(states)
    size = 1 << (count - 1).bit_length()  # few different shapes, so that little is compiled
    padded = jax.tree.map(lambda x: np.resize(x, (size, *x.shape[1:])), states)
    over, score, player, moves, weight, children = jax.tree.map(
        lambda x: x[:count], jax.device_get(_children(game, padded))
    )
    follows = (weight > 0) & ~over[:, None]
    after, place = different(jax.tree.map(lambda x: x[follows], children))
    child = np.zeros(follows.shape, np.int32)
    child[follows] = place
    return after, _Ply(over, score, player, moves, weight, child)


@functools.partial(jax.jit, static_argnums=0)
def _children(game: Game, states: State) -> tuple[Array, Array, Array, Array, Array, State]:
    """Make all children of N states. Returns over, score and player [N]; moves and weight [N, W]; children [N, W]."""

    def one(state: State) -> tuple[Array, Array, Array, Array, Array, State]:
        player, (moves, count) = game.player(state), game.moves(state)
        weight = (jnp.arange(game.max_moves) < count).astype(jnp.float32)
        children = jax.vmap(functools.partial(game.step, state))(moves)
        if game.num_chance:
            outcomes = jnp.arange(game.num_chance, dtype=jnp.int32)
            rolled = jax.vmap(functools.partial(game.resolve, state))(outcomes)
            is_chance = player == CHANCE
            weight = jnp.concatenate([jnp.where(is_chance, 0.0, weight), jnp.where(is_chance, game.chance(state), 0.0)])
            moves = jnp.concatenate([moves, outcomes])
            children = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), children, rolled)
        return game.over(state), game.score(state), player, moves, weight, children

    return jax.vmap(one)(states)


def _back_up(ply: _Ply, value: np.ndarray) -> np.ndarray:
    """Back up the values of the next ply, for side 0. Returns float32 [N]."""
    if not value.size:
        return ply.score
    follow, there = value[ply.child], ply.weight > 0
    best = np.where(there, follow, -np.inf).max(axis=1)
    worst = np.where(there, follow, np.inf).min(axis=1)
    mean = (ply.weight * follow).sum(axis=1)
    chosen = np.where(ply.player == CHANCE, mean, np.where(ply.player == 0, best, worst))
    return np.where(ply.over, ply.score, chosen).astype(np.float32)
