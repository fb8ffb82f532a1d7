"""Exhaustive search to a few plies, for any game, on hundreds of positions at once."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
from jax import Array, lax

from beamzero.errors import BadInput
from beamzero.games import Game, State
from beamzero.search.evaluator import Evaluator, SearchResult, choose_best, spread

_LEAVES_AT_ONCE = 2**12
"""Larger trees are walked one move of the root at a time, to bound the memory."""


@dataclasses.dataclass(frozen=True)
class Lookahead:
    """Sees wins and losses within `depth` plies, prefers a win, avoids a loss, and chooses at random among the rest."""

    depth: int

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= 4:
            raise BadInput(f"lookahead depth is {self.depth}, but must be 1 to 4")

    def __call__(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> SearchResult:
        values, proven, nodes = jax.vmap(lambda state: self._root(game, state))(states)
        action, policy = choose_best(values, key)
        return SearchResult(action, values, policy, jnp.max(values, axis=1), nodes, proven)

    def _root(self, game: Game, state: State) -> tuple[Array, Array, Array]:
        """float32 [A], bool [A], int32 []: each move's value for the mover, which are proven, and positions seen."""
        moves, count = game.moves(state)

        def child(move: Array) -> tuple[Array, Array, Array]:
            return _solve(game, game.step(state, move), self.depth - 1)

        if game.max_moves**self.depth <= _LEAVES_AT_ONCE:
            values, proven, nodes = jax.vmap(child)(moves)
        else:
            values, proven, nodes = lax.map(child, moves)
        listed = jnp.arange(game.max_moves, dtype=jnp.int32) < count
        values = (1 - 2 * game.player(state)).astype(jnp.float32) * values
        by_action = [
            spread(moves[None], count[None], part[None], game.num_actions, fill)[0]
            for part, fill in ((values, -jnp.inf), (proven, False))
        ]
        return by_action[0], by_action[1], 1 + jnp.sum(jnp.where(listed, nodes, 0))


def _solve(game: Game, state: State, depth: int) -> tuple[Array, Array, Array]:
    """float32 [], bool [], int32 []: the value for side 0 with `depth` more plies, if it is proven, positions seen.

    What lies beyond the depth counts 0.
    """
    over, score = game.over(state), game.score(state)
    if depth == 0:
        return score, over, jnp.int32(1)
    moves, count = game.moves(state)
    sign = (1 - 2 * game.player(state)).astype(jnp.float32)
    values, proven, nodes = jax.vmap(lambda move: _solve(game, game.step(state, move), depth - 1))(moves)
    listed = jnp.arange(game.max_moves, dtype=jnp.int32) < count
    own = jnp.where(listed, sign * values, -jnp.inf)
    certain = jnp.any(proven & (own == 1.0)) | jnp.all(proven | ~listed)
    seen = 1 + jnp.sum(jnp.where(listed, nodes, 0))
    return (
        jnp.where(over, score, sign * jnp.max(own)),
        over | certain,
        jnp.where(over, 1, seen).astype(jnp.int32),
    )
