"""Fitting: every kept row once a pass, in random order; padding and illegal moves leave no trace."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.games import make_game
from beamzero.nets import Net, make_net
from beamzero.search.evaluator import zero_evaluator
from beamzero.training.fit import QLoss, QRows, ValueLoss, ValueRows, _observe, fit, new_learner
from beamzero.training.replay import remember
from beamzero.training.selfplay import SelfPlay, self_play
from tests.training.toy import same_bits

GAME = make_game("tic_tac_toe")
VALUE, SCORES = (Net(GAME, make_net("mlp:width=32,depth=2"), head) for head in ("value", "scores"))


@functools.cache
def weights_of(net):
    """The same first weights for every test."""
    return jax.jit(net.init)(jax.random.key(0))


def number(x):
    return jnp.float32(x)


@dataclasses.dataclass(frozen=True)
class Seen:
    """A loss whose gradient is 1 for every row of the minibatch, and whose value is how many rows that has."""

    rows: int

    def __call__(self, weights, rows, real, key):
        hits = jnp.zeros(self.rows, jnp.float32).at[rows].add(jnp.where(real, 1.0, 0.0))
        total = jnp.sum(weights["w"] * hits)
        return total - jax.lax.stop_gradient(total) + jnp.sum(real, dtype=jnp.float32)


def seen(count, batch=8, drop=0.0, seed=0, capacity=50):
    """Which rows had a gradient, the number of minibatches, and the rows in all."""
    learner = new_learner({"w": jnp.zeros(capacity, jnp.float32)})
    rows = jnp.arange(capacity, dtype=jnp.int32)
    learner, mean = fit(
        Seen(capacity), batch, learner, rows, jnp.int32(count), number(drop), number(1), jax.random.key(seed)
    )
    steps = int(learner.optimizer.count)
    return np.asarray(learner.weights["w"]), steps, round(float(mean) * steps)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 41, 50])
@pytest.mark.parametrize("batch", [1, 8, 64])
def test_a_pass_sees_every_real_row_once(count, batch):
    weights, steps, rows = seen(count, batch)
    assert steps == -(-count // batch) and rows == count
    assert (weights[:count] < 0).all() and (weights[count:] == 0).all()


def test_a_share_of_the_rows_is_dropped_and_another_key_drops_others():
    weights, steps, rows = seen(50, drop=0.6)
    kept = weights != 0
    assert kept.sum() == rows and 8 <= rows <= 32 and steps == -(-rows // 8)
    assert (kept != (seen(50, drop=0.6, seed=1)[0] != 0)).any()


def test_the_order_is_random_by_the_key():
    """Adam moves a row's weight by when it was seen, so the weights tell the order."""
    one, same, other = (seen(40, seed=seed)[0] for seed in (0, 0, 1))
    assert (one == same).all() and (one != other).any()
    early = one[:40] < np.median(one[:40])
    assert 5 < early[:20].sum() < 15, "not as they lie"


# --- what nets learn -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def states():
    """96 states of random games."""
    games = self_play(GAME, SelfPlay(16, 9, 1.0, 1.0, 0), zero_evaluator(GAME), jax.random.key(0))
    return remember(96, games).states


@jax.jit
def listed(states):
    """bool [N, K]: the slots of `GAME.moves` that hold a move."""
    return jnp.arange(9)[None] < jax.vmap(GAME.moves)(states)[1][:, None]


@jax.jit
def q_rows(states, values):
    """Rows for Q from values by action [N, A]."""
    moves, _ = jax.vmap(GAME.moves)(states)
    return QRows(states, moves, jnp.where(listed(states), jnp.take_along_axis(values, moves, axis=1), -jnp.inf))


@jax.jit
def centre(states):
    """Who holds the centre, from the mover's side: the same for every mirror image."""
    seen = jax.vmap(GAME.observe)(states)
    return seen[:, 1, 1, 0] - seen[:, 1, 1, 1]


def train(loss, learner, rows, count, passes=60, rate=0.01):
    errors = []
    for i in range(passes):
        learner, error = fit(loss, 32, learner, rows, jnp.int32(count), number(0), number(rate), jax.random.key(i))
        errors.append(float(error))
    return learner, errors


@pytest.mark.parametrize("symmetry", [False, True])
def test_v_learns_a_plain_rule(states, symmetry):
    rows = ValueRows(states, 0.8 * centre(states))
    learner, errors = train(ValueLoss(VALUE, symmetry), new_learner(weights_of(VALUE)), rows, 96)
    assert errors[0] > 0.1 and errors[-1] < 0.01
    np.testing.assert_allclose(jax.jit(VALUE)(learner.weights, states), rows.outcome, atol=0.3)


@pytest.mark.parametrize("symmetry", [False, True])
def test_q_learns_a_plain_rule(states, symmetry):
    """Every move is worth who holds the centre, and taking the centre itself is worth 1."""
    rows = q_rows(states, jnp.where(jnp.arange(9)[None] == 4, 1.0, centre(states)[:, None] * 0.5))
    _, errors = train(QLoss(SCORES, symmetry), new_learner(weights_of(SCORES)), rows, 96, passes=100)
    assert errors[0] > 0.1 and errors[-1] < 0.01


def test_the_losses_are_mean_squares_over_what_counts(states):
    weights = weights_of(VALUE), weights_of(SCORES)
    real = jnp.arange(96) < 50
    outcome = np.linspace(-1, 1, 96, dtype=np.float32)
    plain = np.mean((np.asarray(jax.jit(VALUE)(weights[0], states)) - outcome)[:50] ** 2)
    loss = jax.jit(ValueLoss(VALUE, False))(weights[0], ValueRows(states, jnp.array(outcome)), real, jax.random.key(0))
    assert float(loss) == pytest.approx(plain, rel=1e-5)
    legal = np.asarray(jax.vmap(GAME.legal)(states))
    values = outcome[:, None] * np.linspace(0.1, 1, 9, dtype=np.float32)[None]
    errors = (np.asarray(jax.jit(SCORES)(weights[1], states)) - values) ** 2
    plain = errors[:50][legal[:50]].mean()
    rows = q_rows(states, jnp.array(values))
    loss = jax.jit(QLoss(SCORES, False))(weights[1], rows, real, jax.random.key(0))
    assert float(loss) == pytest.approx(plain, rel=1e-5)
    nothing = jax.jit(QLoss(SCORES, False))(weights[1], rows, real & False, jax.random.key(0))
    assert float(nothing) == 0


@pytest.mark.parametrize("symmetry", [False, True])
def test_rows_past_the_count_have_no_influence(states, symmetry):
    clean, spoiled = (np.where(np.arange(96) < 70, np.float32(0.5), np.float32(rest)) for rest in (0, np.nan))
    other = jax.tree.map(lambda x: np.concatenate([x[:70], x[:26]]), states)
    for loss, net, rows in [
        (ValueLoss(VALUE, symmetry), VALUE, [ValueRows(states, clean), ValueRows(other, spoiled)]),
        (
            QLoss(SCORES, symmetry),
            SCORES,
            [q_rows(s, np.broadcast_to(x[:, None], (96, 9))) for s, x in ((states, clean), (other, spoiled))],
        ),
    ]:
        learners = [train(loss, new_learner(weights_of(net)), row, 70, passes=2) for row in rows]
        assert same_bits(learners[0], learners[1])


def test_illegal_moves_have_no_influence(states):
    """The column of a move that is valued nowhere stays as it was; what stands past the last move does not matter."""
    moves, _ = jax.vmap(GAME.moves)(states)
    values = jnp.where(listed(states) & (moves == 4), -jnp.inf, 0.5)
    fit_on = [QRows(states, moves, jnp.where(listed(states), values, fill)) for fill in (-jnp.inf, jnp.inf, jnp.nan)]
    first = new_learner(weights_of(SCORES))
    learners = [train(QLoss(SCORES, False), first, rows, 96, passes=2) for rows in fit_on]
    assert same_bits(learners[0], learners[1]) and same_bits(learners[0], learners[2])
    before, after = first.weights["head"]["kernel"], learners[0][0].weights["head"]["kernel"]
    assert same_bits(before[:, 4], after[:, 4]) and not same_bits(before[:, 3], after[:, 3])


def test_symmetry_shows_each_state_as_one_of_its_equivalents(states):
    values = jnp.arange(96 * 9, dtype=jnp.float32).reshape(96, 9)
    look = jax.jit(lambda states: jax.vmap(GAME.symmetries)(jax.vmap(GAME.observe)(states), values))
    own, own_values = jax.device_get(look(states))
    show = jax.jit(_observe, static_argnums=(0, 1))
    picks = set()
    for seed in range(4):
        shown, shown_values = jax.device_get(show(SCORES, True, states, values, jax.random.key(seed)))
        for row in range(96):
            fits = [
                k
                for k in range(8)
                if (own[row, k] == shown[row]).all() and (own_values[row, k] == shown_values[row]).all()
            ]
            assert len(fits) == 1
            picks.update(fits)
    assert picks == set(range(8))
    plain, plain_values = show(SCORES, False, states, values, jax.random.key(0))
    assert (plain == own[:, 0]).all() and (plain_values == values).all()
