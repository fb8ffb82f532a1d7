"""Gumbel AlphaZero's search, by mctx: with few simulations, what it teaches is still better than what the net knew.

It holds all actions of the game in every node, not only the legal ones, and mctx is no part of a clock: for training.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.errors import BadInput
from beamzero.games import Game, State
from beamzero.search.children import listed_moves
from beamzero.search.evaluator import Evaluator, first_highest, side_sign
from beamzero.search.memory import state_bytes
from beamzero.search.teaching import Lesson, Pick


@dataclasses.dataclass(frozen=True)
class Gumbel:
    """Settings of the search."""

    sims: int = 16
    """Simulations."""
    considered: int = 16
    """Moves of the root that are tried at all, at most."""

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes of mctx's trees: six numbers of every action in each node, and six of the node."""
        return roots * (1 + self.sims) * (state_bytes(game) + 4 * (6 * game.num_actions + 6))

    def teach(self, game: Game, evaluator: Evaluator, states: State, key: Array, pick: Pick) -> Lesson:
        """A move is drawn by Gumbel noise; the lesson is the net's own policy, improved by the values found."""
        import mctx

        if game.num_chance:
            raise BadInput(f"search=gumbel knows no dice, which {game.name} has: use search=puct")
        value, scores = evaluator.value_and_scores(states)
        illegal = ~jax.vmap(game.legal)(states)
        with as_mctx_is_written():
            found = mctx.gumbel_muzero_policy(
                evaluator,
                key,
                mctx.RootFnOutput(prior_logits=scores, value=value, embedding=states),
                lambda evaluator, key, action, states: mctx_step(game, evaluator, action, states),
                self.sims,
                invalid_actions=illegal,
                max_num_considered_actions=self.considered,
            )
        moves, _, listed = listed_moves(game, states)
        policy = jnp.where(listed, jnp.take_along_axis(found.action_weights, moves, axis=1), 0.0)
        chosen = listed & (moves == found.action.astype(jnp.int32)[:, None])
        draw, best = chosen.astype(jnp.float32), first_highest(policy)
        slot = pick(draw, best)
        running = (~jax.vmap(game.over)(states)).astype(jnp.int32)
        return Lesson(
            policy=policy,
            draw=draw,
            best=best,
            after=jax.vmap(game.step)(states, jnp.take_along_axis(moves, slot[:, None], axis=1)[:, 0]),
            value=found.search_tree.node_values[:, 0],
            evaluations=running * (self.sims + 1),
        )


def mctx_step(game: Game, evaluator: Evaluator, action: Array, states: State) -> tuple[Any, State]:
    """A move in every game, as mctx wants it told: what it earned the mover, and how the rest counts for the mover."""
    import mctx

    after = jax.vmap(game.step)(states, action.astype(jnp.int32))
    before_over, over = jax.vmap(game.over)(states), jax.vmap(game.over)(after)
    sign, sign_after = side_sign(game, states), side_sign(game, after)
    value, scores = evaluator.value_and_scores(after)
    legal = jax.vmap(game.legal)(after) | over[:, None]
    output = mctx.RecurrentFnOutput(
        reward=jnp.where(over & ~before_over, sign * jax.vmap(game.score)(after), 0.0),
        discount=jnp.where(over, 0.0, sign * sign_after),
        prior_logits=jnp.where(legal, scores, jnp.finfo(jnp.float32).min),
        value=jnp.where(over, 0.0, value),
    )
    return output, after


@contextlib.contextmanager
def as_mctx_is_written() -> Iterator[None]:
    """It mixes dtypes and ranks."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield
