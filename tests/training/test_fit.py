"""Fitting: every kept row once a pass, or minibatches drawn evenly; padding and illegal moves leave no trace."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.algorithms.alphazero.loss import AlphaZeroLoss, AlphaZeroRows
from beamzero.algorithms.probs.replay import remember
from beamzero.algorithms.probs.self_play import SelfPlay, self_play
from beamzero.algorithms.probs.targets import QLoss, QRows
from beamzero.core.compiler import CompilationCount
from beamzero.games import make_game
from beamzero.nets import Net, make_net
from beamzero.search.evaluator import zero_evaluator
from beamzero.training.fit import (
    Aside,
    ValueLoss,
    ValueRows,
    fit_pass,
    fit_samples,
    new_learner,
)
from beamzero.training.fit import observe as observe_rows
from tests.training.toy import same_bits

GAME = make_game("tic_tac_toe")
VALUE, SCORES, JOINT = (Net(GAME, make_net("mlp:width=32,depth=2"), head) for head in ("value", "scores", "joint"))
NORMED = Net(GAME, make_net("dense:widths=16-8,norm=batch"), "joint")


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
        return total - jax.lax.stop_gradient(total) + jnp.sum(real, dtype=jnp.float32), Aside({}, {})


def seen(count, batch=8, drop=0.0, seed=0, capacity=50):
    """Which rows had a gradient, the number of minibatches, and the rows in all."""
    learner = new_learner({"w": jnp.zeros(capacity, jnp.float32)})
    rows = jnp.arange(capacity, dtype=jnp.int32)
    learner, mean = fit_pass(
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


moves_of, legal_in, observe = (jax.jit(jax.vmap(rule)) for rule in (GAME.moves, GAME.legal, GAME.observe))


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
        learner, error = fit_pass(loss, 32, learner, rows, jnp.int32(count), number(0), number(rate), jax.random.key(i))
        errors.append(float(error))
    return learner, errors


@pytest.mark.parametrize("symmetry", [pytest.param(False, marks=pytest.mark.slow), True])
def test_v_learns_a_plain_rule(states, symmetry):
    rows = ValueRows(states, 0.8 * centre(states))
    learner, errors = train(ValueLoss(VALUE, symmetry), new_learner(weights_of(VALUE)), rows, 96)
    assert errors[0] > 0.1 and errors[-1] < 0.01
    np.testing.assert_allclose(jax.jit(VALUE)(learner.weights, states), rows.outcome, atol=0.3)


@pytest.mark.parametrize("symmetry", [False, pytest.param(True, marks=pytest.mark.slow)])
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
    rows = ValueRows(states, jnp.array(outcome))
    loss, _ = jax.jit(ValueLoss(VALUE, False))(weights[0], rows, real, jax.random.key(0))
    assert float(loss) == pytest.approx(plain, rel=1e-5)
    legal = np.asarray(legal_in(states))
    values = outcome[:, None] * np.linspace(0.1, 1, 9, dtype=np.float32)[None]
    errors = (np.asarray(jax.jit(SCORES)(weights[1], states)) - values) ** 2
    plain = errors[:50][legal[:50]].mean()
    rows = q_rows(states, jnp.array(values))
    loss, _ = jax.jit(QLoss(SCORES, False))(weights[1], rows, real, jax.random.key(0))
    assert float(loss) == pytest.approx(plain, rel=1e-5)
    nothing, _ = jax.jit(QLoss(SCORES, False))(weights[1], rows, real & False, jax.random.key(0))
    assert float(nothing) == 0


@pytest.mark.parametrize("symmetry", [pytest.param(False, marks=pytest.mark.slow), True])
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
        (
            AlphaZeroLoss(NORMED, symmetry, l2=0.01),
            NORMED,
            [AlphaZeroRows(s, np.repeat(x[:, None], 9, axis=1), x) for s, x in ((states, clean), (other, spoiled))],
        ),
    ]:
        learners = [train(loss, new_learner(weights_of(net)), row, 70, passes=2) for row in rows]
        assert same_bits(learners[0], learners[1])


def test_illegal_moves_have_no_influence(states):
    """The column of a move that is valued nowhere stays as it was; what stands past the last move does not matter."""
    moves, _ = moves_of(states)
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
    show = jax.jit(observe_rows, static_argnums=(0, 1))
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


# --- AlphaZero -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows(states):
    """Rows with policies and outcomes drawn by lot; what stands past the last move would be noticed."""
    draw = np.random.default_rng(0)
    policy = np.where(listed(states), draw.uniform(0.1, 1, (96, 9)), 0)
    policy = np.where(listed(states), policy / policy.sum(axis=1, keepdims=True), np.nan)
    outcome = draw.choice(np.float32([-1, 0, 1]), 96)
    return AlphaZeroRows(states, policy.astype(np.float32), outcome)


def plain_losses(net, weights, rows):
    """Squared error of the value and cross entropy of the policy of each row, one move at a time."""
    value, logits = jax.device_get(jax.jit(net)(weights, rows.states))
    moves, counts = jax.device_get(moves_of(rows.states))
    entropies = []
    for row, (listed_here, count) in enumerate(zip(moves, counts, strict=True)):
        legal = logits[row, listed_here[:count]].astype(np.float64)
        chances = np.exp(legal) / np.exp(legal).sum()
        entropies.append(-(rows.policy[row, :count] * np.log(chances)).sum())
    return (value - rows.outcome) ** 2, np.array(entropies)


@pytest.mark.parametrize("half", [False, True])
def test_the_loss_of_alphazero_is_what_its_formula_says(rows, half):
    real, weights = jnp.arange(96) < 50, weights_of(JOINT)
    value, policy = (losses[:50].mean() for losses in plain_losses(JOINT, weights, rows))
    square = sum((np.asarray(x) ** 2).sum() for x in jax.tree.leaves(weights))
    given = rows._replace(policy=rows.policy.astype(np.float16)) if half else rows
    loss, aside = jax.jit(AlphaZeroLoss(JOINT, False, 0.01, 0.7))(weights, given, real, jax.random.key(0))
    near = functools.partial(pytest.approx, rel=1e-3 if half else 1e-5)
    assert float(loss) == near(0.7 * value + policy + 0.01 * square)
    assert {name: float(part) for name, part in aside.parts.items()} == {
        "value_loss": near(value),
        "policy_loss": near(policy),
    }


def test_illegal_moves_get_no_gradient(rows):
    """Where the centre is taken, nothing is learned about it; a row that is not real teaches nothing at all."""
    taken = ~np.asarray(legal_in(rows.states))[:, 4]
    see = jax.jit(jax.grad(AlphaZeroLoss(JOINT, False), has_aux=True))
    head = jax.device_get(see(weights_of(JOINT), rows, taken, jax.random.key(0))[0]["head"])
    assert 0 < taken.sum() < 96
    assert (head["kernel"][:, 4] == 0).all() and head["bias"][4] == 0
    assert (head["bias"][[0, 1, 2, 3, 5, 6, 7, 8]] != 0).all()
    nothing, _ = see(weights_of(JOINT), rows, taken & False, jax.random.key(0))
    assert all((leaf == 0).all() for leaf in jax.tree.leaves(jax.device_get(nothing)))


def test_l2_pulls_all_weights_to_0_but_leaves_running_statistics_alone(rows):
    weights = weights_of(NORMED)

    def slope(l2):
        loss = AlphaZeroLoss(NORMED, False, l2)
        return jax.jit(jax.grad(loss, has_aux=True))(weights, rows, jnp.arange(96) < 96, jax.random.key(0))[0]

    pull = jax.device_get(jax.tree.map(lambda a, b: a - b, slope(0.5), slope(0.0)))
    for name, layer in pull.items():
        for part, change in layer.items():
            wanted = np.zeros_like(change) if part in ("mean", "var") else weights[name][part]
            np.testing.assert_allclose(change, wanted, atol=1e-5)


def test_symmetry_turns_board_and_policy_together(rows):
    one = jax.tree.map(lambda x: x[40:41], rows)
    moves, count = jax.device_get(moves_of(one.states))
    policy = np.full((1, 9), -np.inf, np.float32)
    policy[0, moves[0, : count[0]]] = one.policy[0, : count[0]]
    boards, policies = jax.device_get(jax.jit(jax.vmap(GAME.symmetries))(observe(one.states), policy))
    _, logits = jax.device_get(jax.jit(JOINT.on_observations)(weights_of(JOINT), boards[0]))
    legal = np.isfinite(policies[0])
    chances = np.where(legal, np.exp(logits), 0)
    chances /= chances.sum(axis=1, keepdims=True)
    entropies = [-(p[m] * np.log(c[m])).sum() for p, c, m in zip(policies[0], chances, legal, strict=True)]
    look = jax.jit(jax.vmap(AlphaZeroLoss(JOINT, True), (None, None, None, 0)))
    _, aside = look(weights_of(JOINT), one, jnp.ones(1, bool), jax.random.split(jax.random.key(0), 64))
    apart = np.abs(np.asarray(aside.parts["policy_loss"])[:, None] - np.array(entropies)[None])
    assert (apart.min(axis=1) < 1e-5).all(), "each is the loss of one of the eight"
    assert set(apart.argmin(axis=1).tolist()) == set(range(8)) and len({round(x, 4) for x in entropies}) == 8


# --- batch norms -----------------------------------------------------------------------------------------------------


def test_running_statistics_become_those_of_the_data_and_only_they_move_at_rate_0(rows):
    first = new_learner(weights_of(NORMED))
    learner = first
    for i in range(150):
        learner, _ = fit_pass(
            AlphaZeroLoss(NORMED, False), 96, learner, rows, jnp.int32(96), number(0), number(0), jax.random.key(i)
        )
    layer, norm = jax.device_get((first.weights["dense_0"], learner.weights["norm_0"]))
    seen = np.asarray(observe(rows.states)).reshape(96, -1) @ layer["kernel"] + layer["bias"]
    np.testing.assert_allclose(norm["mean"], seen.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(norm["var"], seen.var(axis=0), atol=1e-5)
    for name, layer in first.weights.items():
        for part, before in layer.items():
            assert same_bits(before, learner.weights[name][part]) == (part not in ("mean", "var"))


def test_adam_does_not_move_running_statistics(rows):
    """They are where the rows alone have put them, and the optimizer has nothing about them."""
    loss = AlphaZeroLoss(NORMED, False, l2=0.1)
    first = new_learner(weights_of(NORMED))
    learner, _ = fit_pass(loss, 96, first, rows, jnp.int32(96), number(0), number(0.1), jax.random.key(0))
    _, aside = jax.jit(loss)(first.weights, rows, jnp.ones(96, bool), jax.random.key(0))
    for name in ("norm_0", "norm_1"):
        for part in ("mean", "var"):
            np.testing.assert_allclose(learner.weights[name][part], aside.moved[name][part], atol=1e-6)
            assert (learner.optimizer.mu[name][part] == 0).all() and (learner.optimizer.nu[name][part] == 0).all()
        assert (learner.optimizer.nu[name]["scale"] > 0).all()


# --- minibatches drawn evenly ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Hits:
    """A loss whose parts say how many of a minibatch's rows were the first, and were past `count`."""

    count: int

    def __call__(self, weights, rows, real, key):
        share = [jnp.mean(jnp.where(real, hit, False), dtype=jnp.float32) for hit in (rows == 0, rows >= self.count)]
        return jnp.sum(weights["w"]), Aside({}, {"first": share[0], "past": share[1]})


def test_samples_are_drawn_evenly_from_the_first_rows():
    learner = new_learner({"w": jnp.zeros(1, jnp.float32)})
    for count in (1, 4, 50):
        after, _, parts = fit_samples(
            Hits(count), 64, jnp.int32(50), learner, jnp.arange(50), jnp.int32(count), number(1), jax.random.key(0)
        )
        assert int(after.optimizer.count) == 50
        assert float(parts["past"]) == 0
        assert float(parts["first"]) == pytest.approx(1 / count, rel=0.25)


def sample(loss, learner, rows, count, batches, rate=0.01, seed=0):
    return fit_samples(
        loss, 32, jnp.int32(batches), learner, rows, jnp.int32(count), number(rate), jax.random.key(seed)
    )


@pytest.mark.parametrize(
    ("net", "symmetry"),
    [
        (JOINT, True), (NORMED, False), pytest.param(JOINT, False, marks=pytest.mark.slow),
        pytest.param(NORMED, True, marks=pytest.mark.slow),
    ],
    ids=["mlp-True", "dense_batch-False", "mlp-False", "dense_batch-True"],
)  # fmt: skip
def test_samples_teach_a_plain_rule(states, net, symmetry):
    """The value is who holds the centre; the policy takes the centre if it can, else any move."""
    moves, counts = jax.device_get(moves_of(states))
    slots = np.asarray(listed(states))
    policy = slots & (moves == 4)
    policy = np.where(policy.any(axis=1, keepdims=True), policy, slots / counts[:, None])
    rows = AlphaZeroRows(states, policy.astype(np.float16), 0.8 * centre(states))
    entropy = np.where(policy.max(axis=1) == 1, 0, np.log(counts)).mean()
    loss = AlphaZeroLoss(net, symmetry)
    learner, _, before = sample(loss, new_learner(weights_of(net)), rows, 96, 1)
    learner, error, _ = sample(loss, learner, rows, 96, 500)
    learner, error, after = sample(loss, learner, rows, 96, 20, rate=0.001, seed=1)
    assert before["value_loss"] > 0.1 and after["value_loss"] < 0.02
    assert before["policy_loss"] > entropy + 0.3 and after["policy_loss"] < entropy + 0.1
    assert float(error) == pytest.approx(float(after["value_loss"] + after["policy_loss"]), rel=1e-5)
    np.testing.assert_allclose(jax.jit(net)(learner.weights, states)[0], rows.outcome, atol=0.5)


def test_rows_past_the_count_are_never_drawn(rows):
    spoiled = jax.tree.map(lambda x: np.where((np.arange(96) < 40).reshape(-1, *(1,) * (x.ndim - 1)), x, 0), rows)
    spoiled = spoiled._replace(outcome=np.where(np.arange(96) < 40, rows.outcome, np.nan))
    first = new_learner(weights_of(NORMED))
    learners = [sample(AlphaZeroLoss(NORMED, True), first, some, 40, 20) for some in (rows, spoiled)]
    assert same_bits(*learners) and np.isfinite(learners[0][1])
    assert not np.isfinite(sample(AlphaZeroLoss(NORMED, True), first, spoiled, 41, 20)[1]), "and one more would show"


def test_other_counts_batches_and_rates_do_not_compile_again(rows):
    loss, first = AlphaZeroLoss(NORMED, True), new_learner(weights_of(NORMED))
    sample(loss, first, rows, 96, 2)
    arguments = jnp.int32(3), jnp.int32(17), number(0.5), jax.random.key(5)
    with CompilationCount() as count:
        batches, some, rate, key = arguments
        equal = AlphaZeroLoss(Net(GAME, make_net("dense:widths=16-8,norm=batch"), "joint"), True)
        learner, _, _ = fit_samples(equal, 32, batches, first, rows, some, rate, key)
    assert count.number == 0 and int(learner.optimizer.count) == 3


def test_no_rows_teach_nothing(rows):
    first = new_learner(weights_of(NORMED))
    learner, error, parts = sample(AlphaZeroLoss(NORMED, True), first, rows, 0, 5)
    assert same_bits(learner, first) and float(error) == float(parts["value_loss"]) == 0


def test_a_last_step_that_breaks_the_weights_shows(rows):
    first = new_learner(weights_of(NORMED))
    _, error, parts = sample(AlphaZeroLoss(NORMED, True), first, rows, 96, 1, rate=np.inf)
    assert np.isnan(error) and np.isfinite(parts["value_loss"])
