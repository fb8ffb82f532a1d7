"""The rows that the net learns from, and the loss."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from beamzero.games import State
from beamzero.nets import Net, Weights, learned
from beamzero.search.children import listed_moves
from beamzero.search.evaluator import spread
from beamzero.training.fit import Aside, mean, mean_square, observe


class AlphaZeroRows(NamedTuple):
    """Rows that the net of AlphaZero learns from."""

    states: State  # [N, ...] none of them over
    policy: Array  # float [N, K] the search's probability of each legal move, in the slots of `Game.moves`
    outcome: Array  # float32 [N] for the side to move


@dataclasses.dataclass(frozen=True)
class AlphaZeroLoss:
    """Squared error of the value, cross entropy of the policy over the legal moves, and the squared length of theta.

        value_weight * (value - outcome)^2 - sum of policy * log softmax(logits) + l2 * |theta|^2

    where theta is all that is learned: running statistics are not. The parts are `value_loss` and `policy_loss`,
    without their weights.
    """

    net: Net
    symmetry: bool
    l2: float = 0.0
    value_weight: float = 1.0

    def __call__(self, weights: Weights, rows: AlphaZeroRows, real: Array, key: Array) -> tuple[Array, Aside]:
        moves, _, listed = listed_moves(self.net.game, rows.states)
        policy = spread(moves, listed, rows.policy.astype(jnp.float32), self.net.game.num_actions, -jnp.inf)
        observations, policy = observe(self.net, self.symmetry, rows.states, policy, key)
        (value, logits), moved = self.net.while_learning(weights, observations, real)
        value_loss = mean_square(value - rows.outcome, real)
        policy_loss = mean(_cross_entropy(policy, logits, (policy != -jnp.inf) & real[:, None]), real)
        loss = self.value_weight * value_loss + policy_loss
        if self.l2:
            loss += self.l2 * sum(jnp.sum(jnp.square(x)) for x in learned(weights))
        return loss, Aside(moved, {"value_loss": value_loss, "policy_loss": policy_loss})


def _cross_entropy(policy: Array, logits: Array, legal: Array) -> Array:
    """Compute the cross entropy of `policy` [B, A] and the softmax of `logits` [B, A] over the `legal` [B, A] moves.

    Returns float32 [B]: 0 where no move is legal. What the others have as policy and logits has no influence.
    """
    # A finite number stands for minus infinity, so that the gradient of a row without legal moves is 0 and not NaN.
    chances = jax.nn.log_softmax(jnp.where(legal, logits, jnp.finfo(jnp.float32).min), axis=1)
    return -jnp.sum(jnp.where(legal, policy, 0.0) * chances, axis=1)
