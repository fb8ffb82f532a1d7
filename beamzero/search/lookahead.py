"""Exhaustive search of a few plies, for any game, on hundreds of positions at once."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.core.packing import apply_in_chunks, chunk_rows, pack, take_rows
from beamzero.games import Game, State
from beamzero.search.children import best_child, listed_moves
from beamzero.search.evaluator import Evaluator, RootMoves, SearchResult, choose_move, side_sign
from beamzero.search.protocol import OneStep, Spent


@dataclasses.dataclass(frozen=True)
class Lookahead(OneStep):
    """A search of all lines of `depth` plies, which takes a win, avoids a loss, and draws among other moves."""

    depth: int

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= 4:
            raise BadInput(f"lookahead depth is {self.depth}, but must be 1 to 4")

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> LookaheadCarry:
        moves, _, listed = listed_moves(game, states)
        found = _solve_children(game, states, moves, listed, self.depth - 1)
        values = jnp.where(listed, side_sign(game, states)[:, None] * found.value, -jnp.inf)
        nodes = 1 + jnp.sum(found.nodes, axis=1, dtype=jnp.int32)
        return LookaheadCarry(RootMoves(moves, listed, values, found.proven), nodes)

    def done(self, game: Game, carry: LookaheadCarry) -> Array:
        return jnp.ones(carry.nodes.shape, jnp.bool_)

    def result(self, game: Game, carry: LookaheadCarry, key: Array) -> SearchResult:
        return choose_move(game, carry.roots, carry.nodes, key)

    def spent(self, game: Game, carry: LookaheadCarry) -> Spent:
        return Spent(jnp.int32(1), carry.nodes, jnp.zeros_like(carry.nodes), jnp.zeros_like(carry.nodes))


class LookaheadCarry(NamedTuple):
    """The moves of B positions with their values."""

    roots: RootMoves
    nodes: Array  # int32 [B]


class Solved(NamedTuple):
    """The values of positions, [B] or [B, K], by a search of some plies."""

    value: Array  # float32, for side 0; positions beyond the depth count 0
    proven: Array  # bool
    nodes: Array  # int32, positions made


def _solve(game: Game, states: State, real: Array, depth: int) -> Solved:
    """Search B positions `depth` plies deep; those where `real` [B] is false cost nothing and may be anything."""
    over, score = jax.vmap(game.over)(states), jax.vmap(game.score)(states)
    if depth == 0:
        return Solved(score, over, jnp.ones(over.shape, jnp.int32))
    moves, count, listed = listed_moves(game, states, wanted=real & ~over)
    found = _solve_children(game, states, moves, listed, depth - 1)
    best, certain = best_child(found.value, found.proven, count, side_sign(game, states))
    return Solved(
        value=jnp.where(over, score, best),
        proven=over | certain,
        nodes=1 + jnp.sum(found.nodes, axis=1, dtype=jnp.int32),
    )


def _solve_children(game: Game, states: State, moves: Array, listed: Array, depth: int) -> Solved:
    """Search the children [B, K] by `moves` of B states, where `listed` [B, K]; zeros elsewhere.

    The real moves of the batch are packed together and done in chunks, each down to its leaves before the next begins,
    so that memory holds no more than one chunk for each ply.
    """
    size, width = listed.size, game.max_moves
    places, total = pack(listed.reshape(-1))
    chunk = chunk_rows(size)

    def solve_some(rows: tuple[Array, Array], number: Array) -> Solved:
        parent, move = rows
        real = number * chunk + jnp.arange(parent.shape[0], dtype=jnp.int32) < total
        return _solve(game, jax.vmap(game.step)(take_rows(states, parent), move), real, depth)

    rows = jnp.arange(size, dtype=jnp.int32) // width, moves.reshape(-1)
    found, _ = apply_in_chunks(solve_some, rows, places, total, chunk)
    return jax.tree.map(lambda x: x.reshape(listed.shape), found)


def affordable_depth(game: Game) -> int:
    """Choose a depth at which an exhaustive search takes little time, by the most moves of a position."""
    return 3 if game.max_moves <= 16 else 2 if game.max_moves <= 64 else 1
