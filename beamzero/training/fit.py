"""Fitting a net to rows of examples, in shuffled minibatches, as one compiled loop."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import optax
from jax import Array, lax

from beamzero.games import State
from beamzero.nets import Net, Weights
from beamzero.search.evaluator import spread
from beamzero.search.packing import take_rows

_OPTIMIZER = optax.scale_by_adam()


class Learner(NamedTuple):
    """A net's weights and the state of its optimizer."""

    weights: Weights
    optimizer: Any


def new_learner(weights: Weights) -> Learner:
    """A learner that starts from `weights` with a fresh optimizer."""
    return Learner(weights, _OPTIMIZER.init(weights))


class Loss(Protocol):
    """The mean loss over the rows where `real` [B] holds. Losses are frozen dataclasses: equal ones compile once."""

    def __call__(self, weights: Weights, rows: Any, real: Array, key: Array) -> Array: ...


class ValueRows(NamedTuple):
    """What V learns from."""

    states: State  # [N, ...]
    outcome: Array  # float32 [N] for the side to move


class QRows(NamedTuple):
    """What Q learns from."""

    states: State  # [N, ...]
    moves: Array  # int32 [N, K] the legal moves
    values: Array  # float32 [N, K] the search's value of each; -inf in empty slots


@dataclasses.dataclass(frozen=True)
class ValueLoss:
    """Squared error between V and the outcome of the game."""

    net: Net
    symmetry: bool

    def __call__(self, weights: Weights, rows: ValueRows, real: Array, key: Array) -> Array:
        no_values = jnp.zeros((real.shape[0], self.net.game.num_actions), jnp.float32)
        observations, _ = _observe(self.net, self.symmetry, rows.states, no_values, key)
        # Left out before it is squared: what stands in padding must not reach a gradient, not even times 0.
        errors = jnp.where(real, self.net.on_observations(weights, observations) - rows.outcome, 0.0)
        return jnp.sum(jnp.square(errors)) / jnp.maximum(jnp.sum(real, dtype=jnp.float32), 1.0)


@dataclasses.dataclass(frozen=True)
class QLoss:
    """Squared error between Q and the search's values, over the legal moves only."""

    net: Net
    symmetry: bool

    def __call__(self, weights: Weights, rows: QRows, real: Array, key: Array) -> Array:
        values = spread(rows.moves, jnp.isfinite(rows.values), rows.values, self.net.game.num_actions, -jnp.inf)
        observations, values = _observe(self.net, self.symmetry, rows.states, values, key)
        legal = jnp.isfinite(values) & real[:, None]
        errors = jnp.square(self.net.on_observations(weights, observations) - jnp.where(legal, values, 0.0))
        return jnp.sum(jnp.where(legal, errors, 0.0)) / jnp.maximum(jnp.sum(legal, dtype=jnp.float32), 1.0)


def _observe(net: Net, symmetry: bool, states: State, values: Array, key: Array) -> tuple[Array, Array]:
    """Observations and action values of a batch; with `symmetry`, each row as one of its equivalents."""
    observations = jax.vmap(net.game.observe)(states)
    if not symmetry:
        return observations, values
    every, their_values = jax.vmap(net.game.symmetries)(observations, values)  # [B, S, ...]
    batch, kinds = every.shape[:2]
    pick = jax.random.randint(key, (batch,), 0, kinds)
    rows = jnp.arange(batch, dtype=jnp.int32)
    return every[rows, pick], their_values[rows, pick]


@functools.partial(jax.jit, static_argnums=(0, 1))
def fit(
    loss: Loss, batch_size: int, learner: Learner, rows: Any, count: Array, drop: Array, rate: Array, key: Array
) -> tuple[Learner, Array]:
    """One pass over the first `count` of N rows, less a random share `drop`, in random order; and the mean loss.

    The loss is NaN where the weights are no longer finite. The last minibatch may be short; the learning rate is `rate`
    throughout.
    """
    capacity = jax.tree.leaves(rows)[0].shape[0]
    drop_key, order_key, loss_key = jax.random.split(key, 3)
    kept = jnp.arange(capacity) < count
    kept &= jax.random.uniform(drop_key, (capacity,)) >= drop
    order = jnp.argsort(jax.random.uniform(order_key, (capacity,)) + jnp.where(kept, 0.0, 2.0)).astype(jnp.int32)
    order = jnp.pad(order, (0, batch_size))
    count = jnp.sum(kept, dtype=jnp.int32)

    def body(carry: tuple[Array, Learner, Array]) -> tuple[Array, Learner, Array]:
        number, learner, total = carry
        first = number * batch_size
        real = first + jnp.arange(batch_size, dtype=jnp.int32) < count
        batch = take_rows(rows, lax.dynamic_slice(order, (first,), (batch_size,)))
        error, gradients = jax.value_and_grad(loss)(learner.weights, batch, real, jax.random.fold_in(loss_key, number))
        return number + 1, _descend(learner, gradients, rate), total + error

    number, learner, total = lax.while_loop(
        lambda carry: carry[0] * batch_size < count, body, (jnp.int32(0), learner, jnp.float32(0))
    )
    mean = total / jnp.maximum(number, 1).astype(jnp.float32)
    # The last step may have broken the weights without a loss that shows it.
    whole = jnp.all(jnp.array([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(learner.weights)]))
    return learner, jnp.where(whole, mean, jnp.nan)


def _descend(learner: Learner, gradients: Weights, rate: Array) -> Learner:
    with jax.numpy_dtype_promotion("standard"):  # optax raises floats to whole powers
        updates, optimizer = _OPTIMIZER.update(gradients, learner.optimizer)
    return Learner(jax.tree.map(lambda w, u: w - rate * u, learner.weights, updates), optimizer)
