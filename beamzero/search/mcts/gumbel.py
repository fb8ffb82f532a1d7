"""The search of Gumbel AlphaZero, by mctx: even with few simulations its training targets improve on the net.

It is for training: every node holds all actions of the game, not only the legal ones, and the whole search is one unit
that cannot be cut.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import Game, State
from beamzero.search.children import listed_moves
from beamzero.search.evaluator import Evaluator, SearchResult, first_highest, side_sign
from beamzero.search.memory import state_bytes
from beamzero.search.protocol import OneStep, Spent
from beamzero.search.targets import Pick, TrainingTargets


class Sampled(NamedTuple):
    """The output of mctx."""

    found: Any  # mctx.PolicyOutput
    legal: Array  # bool [B, A]


@dataclasses.dataclass(frozen=True)
class Gumbel(OneStep):
    """Gumbel AlphaZero's search."""

    sims: int = 16
    """Simulations."""
    considered: int = 16
    """The most moves of the root that are tried."""

    by_chance = True

    def bytes_needed(self, game: Game, roots: int) -> int:
        """Count the bytes of mctx's trees: in each node six numbers for every action, and six for the node."""
        return roots * (1 + self.sims) * (state_bytes(game) + 4 * (6 * game.num_actions + 6))

    def start(self, game: Game, evaluator: Evaluator, states: State, key: Array) -> Sampled:
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
        return Sampled(found, ~illegal)

    def done(self, game: Game, carry: Sampled) -> Array:
        return jnp.ones(carry.legal.shape[0], jnp.bool_)

    def result(self, game: Game, carry: Sampled, key: Array) -> SearchResult:
        """Read the result: the move is drawn by noise among the best; a move not tried has the position's value."""
        tree, legal = carry.found.search_tree, carry.legal
        value, tried = tree.node_values[:, 0], tree.children_visits[:, 0] > 0
        earned = tree.children_rewards[:, 0] + tree.children_discounts[:, 0] * tree.children_values[:, 0]
        return SearchResult(
            action=carry.found.action.astype(jnp.int32),
            values=jnp.where(legal, jnp.where(tried, earned, value[:, None]), -jnp.inf),
            policy=carry.found.action_weights,
            value=value,
            nodes=jnp.full(value.shape, self.sims + 1, jnp.int32),
            proven=jnp.zeros(legal.shape, jnp.bool_),
        )

    def spent(self, game: Game, carry: Sampled) -> Spent:
        count = jnp.full(carry.legal.shape[0], self.sims + 1, jnp.int32)
        return Spent(jnp.int32(self.sims), count, count, jnp.zeros_like(count))

    def search_targets(
        self, game: Game, evaluator: Evaluator, states: State, key: Array, pick: Pick
    ) -> TrainingTargets:
        """Search B states, draw a move of each by Gumbel noise, and give the net's policy, improved by values found."""
        found = self.start(game, evaluator, states, key).found
        moves, _, listed = listed_moves(game, states)
        policy = jnp.where(listed, jnp.take_along_axis(found.action_weights, moves, axis=1), 0.0)
        chosen = listed & (moves == found.action.astype(jnp.int32)[:, None])
        draw, best = chosen.astype(jnp.float32), first_highest(policy)
        slot = pick(draw, best)
        running = (~jax.vmap(game.over)(states)).astype(jnp.int32)
        return TrainingTargets(
            policy=policy,
            draw=draw,
            best=best,
            after=jax.vmap(game.step)(states, jnp.take_along_axis(moves, slot[:, None], axis=1)[:, 0]),
            value=found.search_tree.node_values[:, 0],
            evaluations=running * (self.sims + 1),
        )


def mctx_step(game: Game, evaluator: Evaluator, action: Array, states: State) -> tuple[Any, State]:
    """Play a move in each of B states. Returns mctx's output, with rewards for the mover, and the states after."""
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
    """Let JAX promote dtypes and ranks, which the code of mctx relies on."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield
