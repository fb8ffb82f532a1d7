"""Fits of a net to rows of examples, in random minibatches, as one compiled loop."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import optax
from jax import Array, lax

from beamzero.core.devices import everywhere, here, shared_out
from beamzero.core.packing import take_rows
from beamzero.games import State
from beamzero.nets import Net, Weights
from beamzero.search.memory import bytes_of

_OPTIMIZER = optax.scale_by_adam()
_new_optimizer = jax.jit(_OPTIMIZER.init)


class Learner(NamedTuple):
    """A net's weights and the state of its optimizer."""

    weights: Weights
    optimizer: Any


def new_learner(weights: Weights) -> Learner:
    """Make a learner that starts from `weights` with a fresh optimizer."""
    return Learner(weights, _new_optimizer(weights))


def learner_bytes(net: Net) -> int:
    """Count the bytes of a learner, three numbers a weight, as it was, as it is and as it is saved; and a gradient."""
    return (3 * 3 + 1) * bytes_of(net.shapes())


class Aside(NamedTuple):
    """Results of a loss beside its number."""

    moved: Weights  # the running statistics after these rows, see `Net.while_learning`
    parts: dict[str, Array]  # float32 [] each: the parts of the number, for the log


class Loss(Protocol):
    """The mean loss over the rows where `real` [B] holds. Losses are frozen dataclasses: equal ones compile once."""

    def __call__(self, weights: Weights, rows: Any, real: Array, key: Array) -> tuple[Array, Aside]: ...


class ValueRows(NamedTuple):
    """Rows that V learns from."""

    states: State  # [N, ...]
    outcome: Array  # float32 [N] for the side to move


@dataclasses.dataclass(frozen=True)
class ValueLoss:
    """Squared error between V and the outcome of the game."""

    net: Net
    symmetry: bool

    def __call__(self, weights: Weights, rows: ValueRows, real: Array, key: Array) -> tuple[Array, Aside]:
        no_values = jnp.zeros((real.shape[0], self.net.game.num_actions), jnp.float32)
        observations, _ = observe(self.net, self.symmetry, rows.states, no_values, key)
        value, moved = self.net.while_learning(weights, observations, real)
        return mean_square(value - rows.outcome, real), Aside(moved, {})


def mean_square(errors: Array, counts: Array) -> Array:
    """Average the squares of the `errors` that count."""
    # Left out before they are squared: errors of padding must not reach a gradient, not even times 0.
    return mean(jnp.square(jnp.where(counts, errors, 0.0)), counts)


def mean(numbers: Array, counts: Array) -> Array:
    """Average the `numbers` that count, where the others are 0 already; 0 where none counts."""
    return jnp.sum(numbers) / jnp.maximum(jnp.sum(counts, dtype=jnp.float32), 1.0)


def observe(net: Net, symmetry: bool, states: State, values: Array, key: Array) -> tuple[Array, Array]:
    """Make observations and action values of a batch; with `symmetry`, each row as a random one of its equivalents."""
    observations = jax.vmap(net.game.observe)(states)
    if not symmetry:
        return observations, values
    every, their_values = jax.vmap(net.game.symmetries)(observations, values)  # [B, S, ...]
    batch, kinds = every.shape[:2]
    pick = jax.random.randint(key, (batch,), 0, kinds)
    rows = jnp.arange(batch, dtype=jnp.int32)
    return every[rows, pick], their_values[rows, pick]


def fit_pass(
    loss: Loss, batch_size: int, learner: Learner, rows: Any, count: Array, drop: Array, rate: Array, key: Array
) -> tuple[Learner, Array]:
    """Fit one pass over the first `count` of N rows, less a random share `drop`, in random order.

    Returns also the mean loss, NaN where the weights are no longer finite. The last minibatch may be short; the
    learning rate is `rate` throughout. Each device sees a part of every minibatch.
    """
    return here(_fit(loss, batch_size, *everywhere((learner, rows, count, drop, rate, key))))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _fit(
    loss: Loss, batch_size: int, learner: Learner, rows: Any, count: Array, drop: Array, rate: Array, key: Array
) -> tuple[Learner, Array]:
    capacity = jax.tree.leaves(rows)[0].shape[0]
    drop_key, order_key, loss_key = jax.random.split(key, 3)
    kept = jnp.arange(capacity) < count
    kept &= jax.random.uniform(drop_key, (capacity,)) >= drop
    order = jnp.argsort(jax.random.uniform(order_key, (capacity,)) + jnp.where(kept, 0.0, 2.0)).astype(jnp.int32)
    order = jnp.pad(order, (0, batch_size))
    count = jnp.sum(kept, dtype=jnp.int32)

    def next_rows(number: Array) -> tuple[Array, Array]:
        first = number * batch_size
        real = first + jnp.arange(batch_size, dtype=jnp.int32) < count
        return lax.dynamic_slice(order, (first,), (batch_size,)), real

    batches = (count + batch_size - 1) // batch_size
    learner, mean, _ = _fit_batches(loss, learner, rows, next_rows, batches, rate, loss_key)
    return learner, mean


def fit_samples(
    loss: Loss, batch_size: int, batches: Array, learner: Learner, rows: Any, count: Array, rate: Array, key: Array
) -> tuple[Learner, Array, dict[str, Array]]:
    """Fit `batches` minibatches, each drawn evenly, with repeats, from the first `count` of N rows; none if that is 0.

    Returns also the mean loss, NaN where the weights are no longer finite, and the mean of each of its parts. Each
    device sees a part of every minibatch.
    """
    return here(_fit_samples(loss, batch_size, *everywhere((batches, learner, rows, count, rate, key))))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _fit_samples(
    loss: Loss, batch_size: int, batches: Array, learner: Learner, rows: Any, count: Array, rate: Array, key: Array
) -> tuple[Learner, Array, dict[str, Array]]:
    draw_key, loss_key = jax.random.split(key)
    real = jnp.ones(batch_size, bool)

    def next_rows(number: Array) -> tuple[Array, Array]:
        return jax.random.randint(jax.random.fold_in(draw_key, number), (batch_size,), 0, count, jnp.int32), real

    return _fit_batches(loss, learner, rows, next_rows, jnp.where(count > 0, batches, 0), rate, loss_key)


def _fit_batches(
    loss: Loss,
    learner: Learner,
    rows: Any,
    next_rows: Callable[[Array], tuple[Array, Array]],
    batches: Array,
    rate: Array,
    key: Array,
) -> tuple[Learner, Array, dict[str, Array]]:
    """Do one step for each minibatch. Returns also the mean loss and the means of its parts.

    `next_rows` gives the places int32 [B] of a minibatch's rows by its number, and which of them are real, bool [B].
    """

    def gradients_of(learner: Learner, number: Array) -> tuple[tuple[Array, Aside], Weights]:
        places, real = next_rows(number)
        loss_and_gradients = jax.value_and_grad(loss, has_aux=True)
        some, real = shared_out((take_rows(rows, places), real))
        return loss_and_gradients(learner.weights, some, real, jax.random.fold_in(key, number))

    def body(number: Array, carry: tuple[Learner, Any]) -> tuple[Learner, Any]:
        learner, totals = carry
        (error, aside), gradients = gradients_of(learner, number)
        learner = _descend(learner, gradients, rate)
        learner = learner._replace(weights=_with(learner.weights, aside.moved))
        return learner, jax.tree.map(jnp.add, totals, (error, aside.parts))

    (_, aside), _ = jax.eval_shape(gradients_of, learner, jnp.int32(0))
    nothing = jax.tree.map(lambda _: jnp.float32(0), (0, aside.parts))
    learner, totals = lax.fori_loop(0, batches, body, (learner, nothing))
    mean, parts = jax.tree.map(lambda total: total / jnp.maximum(batches, 1).astype(jnp.float32), totals)
    # The last step may have broken the weights without a loss that shows it.
    whole = jnp.all(jnp.array([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(learner.weights)]))
    return learner, jnp.where(whole, mean, jnp.nan), parts


def _descend(learner: Learner, gradients: Weights, rate: Array) -> Learner:
    """Do a step of the optimizer."""
    with jax.numpy_dtype_promotion("standard"):  # optax raises floats to whole powers
        updates, optimizer = _OPTIMIZER.update(gradients, learner.optimizer)
    return Learner(jax.tree.map(lambda w, u: w - rate * u, learner.weights, updates), optimizer)


def _with(weights: Weights, moved: Weights) -> Weights:
    """Replace those of `weights` that `moved` has under the same names."""
    return weights | {
        name: _with(weights[name], part) if isinstance(part, dict) else part for name, part in moved.items()
    }
