"""The children of a batch of nodes, and their values: the score where the game is over, else V.

Two ways, for two kinds of games. Where most of a node's slots hold a move (Connect Four: 7 slots, 6.5 moves), all
children are made at once, and V is asked for those that are real and not over. Where most slots are empty (Othello: 9
moves in some 30 slots; chess: 35 in 218), a child is made only for a real move: the real moves of the whole batch are
packed together, and chunk by chunk their children are made, valued and forgotten, so that memory does not grow with K.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.core.packing import apply_in_chunks, apply_packed, chunk_rows, pack, take_rows
from beamzero.games import Game, State
from beamzero.search.evaluator import Evaluator, side_sign

_NARROW = 16
"""The most slots of a node at which still most hold a move."""

StepFunction = Callable[[State, Array], State]
"""A function of one state and a move to the state after it."""


class Children(NamedTuple):
    """The values of the children of B nodes, in K slots each; zeros in empty slots."""

    value: Array  # float32 [B, K] for side 0
    over: Array  # bool [B, K]
    ran: Array  # int32 [] positions that V was run on, padding included


def slots_of(game: Game) -> int:
    """Give K, the most children of a node, be they moves or outcomes of a chance event."""
    return max(game.max_moves, game.num_chance)


def is_narrow(game: Game) -> bool:
    """Tell whether most slots of a node hold a move."""
    return game.max_moves <= _NARROW


def listed_moves(game: Game, states: State, wanted: Array | None = None) -> tuple[Array, Array, Array]:
    """List the moves of B states, none where `wanted` [B] is false.

    Returns the moves, int32 [B, K]; how many there are, int32 [B]; and which slots hold one, bool [B, K].
    """
    moves, count = jax.vmap(game.moves)(states)
    count = count if wanted is None else jnp.where(wanted, count, 0)
    return moves, count, jnp.arange(game.max_moves, dtype=jnp.int32)[None] < count[:, None]


def listed_outcomes(game: Game, states: State) -> tuple[Array, Array, Array]:
    """List the outcomes of the chance events of B states, the possible ones first.

    Returns the outcomes, int32 [B, C]; how many are possible, int32 [B]; and their probabilities, float32 [B, C].
    """
    probs = jax.vmap(game.chance)(states)
    outcomes = jnp.argsort(probs <= 0, axis=1, stable=True).astype(jnp.int32)
    return outcomes, jnp.sum(probs > 0, axis=1, dtype=jnp.int32), jnp.take_along_axis(probs, outcomes, axis=1)


def value_children(
    game: Game, evaluator: Evaluator, node: State, moves: Array, listed: Array, step: StepFunction | None = None
) -> Children:
    """Value the children by `moves` [B, K] of B nodes, where `listed` [B, K] holds; `step` is the game's by default."""
    way = _all_at_once if listed.shape[1] <= _NARROW else _packed
    return way(game, evaluator, node, moves, listed, step or game.step)


def _all_at_once(
    game: Game, evaluator: Evaluator, node: State, moves: Array, listed: Array, step: StepFunction
) -> Children:
    """Value children as `value_children` does, for games with few empty slots: make all, then pack those for V."""
    batch, width = listed.shape
    children = jax.vmap(jax.vmap(step, (None, 0)))(node, moves)  # [B, K, ...]
    flat = jax.tree.map(lambda x: x.reshape(batch * width, *x.shape[2:]), children)
    over = jax.vmap(game.over)(flat)
    ask = listed.reshape(-1) & ~over
    value, ran = apply_packed(lambda rows, _: evaluator.value(rows), flat, ask)
    value = jnp.where(over, jax.vmap(game.score)(flat), side_sign(game, flat) * value)
    return Children(value.reshape(batch, width), over.reshape(batch, width) & listed, ran)


def _packed(game: Game, evaluator: Evaluator, node: State, moves: Array, listed: Array, step: StepFunction) -> Children:
    """Value children as `value_children` does, for games with many empty slots: make only children of real moves."""
    rows = jnp.arange(listed.size, dtype=jnp.int32) // listed.shape[1], moves.reshape(-1)

    def make(rows: tuple[Array, Array], _: Array) -> tuple[Array, Array]:
        parent, move = rows
        child = jax.vmap(step)(take_rows(node, parent), move)
        over = jax.vmap(game.over)(child)
        # V is asked for finished children too: they are few, and to sort them out would take another round of packing.
        value = side_sign(game, child) * evaluator.value(child)
        return jnp.where(over, jax.vmap(game.score)(child), value), over

    # In chunks on a GPU too: what share of the slots holds moves changes from game to game, so no few sizes would fit.
    (value, over), ran = apply_in_chunks(make, rows, *pack(listed.reshape(-1)), children_at_once(game, listed.shape[0]))
    return Children(value.reshape(listed.shape), over.reshape(listed.shape), ran)


def children_at_once(game: Game, batch: int) -> int:
    """Give the number of children that are made and valued at a time, of `batch` nodes with more slots than moves.

    Where an eighth of the slots holds moves, a chunk has at most a quarter of those, and 7 of 8 rows do useful work.
    """
    return chunk_rows(batch * slots_of(game), parts=32, row_bytes=4 * math.prod(game.observation_shape))


def best_child(value: Array, proven: Array, count: Array, sign: Array) -> tuple[Array, Array]:
    """Find the best of K children for the side to move in B nodes; `value` and `proven` are [B, K], `sign` [B].

    Returns its value for side 0, float32 [B], and whether the node is proven, bool [B]: when every child is, or when a
    proven child wins. Where chance decides, `sign` is 0: the value means nothing, and only the first rule holds.
    """
    listed = jnp.arange(value.shape[1], dtype=jnp.int32)[None] < count[:, None]
    own = jnp.where(listed, sign[:, None] * value, -jnp.inf)
    best = jnp.max(own, axis=1)
    won = jnp.any(proven & (own == 1.0), axis=1)
    return sign * best, won | jnp.all(proven | ~listed, axis=1)
