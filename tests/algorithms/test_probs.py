"""One iteration is Algorithm 2 of the paper; a run of them learns, and compiles nothing after the first."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from beamzero.algorithms.probs.iterate import Probs
from beamzero.algorithms.probs.self_play import self_play
from beamzero.arena.battle import battle
from beamzero.core.compiler import CompilationCount
from beamzero.core.errors import RunStopped
from beamzero.games import make_game
from beamzero.players import SearchPlayer, make_player
from beamzero.players.trained import load_trained
from beamzero.search.beam import BeamSearch
from beamzero.search.simple import OneLook
from beamzero.training.fit import fit_pass
from beamzero.training.loop import train
from beamzero.training.report import Report
from beamzero.training.request import RunRequest
from tests.conftest import relaxed_promotion
from tests.training.toy import SETTINGS, numbers, run_toy, same_bits, settings

GAME = make_game("tic_tac_toe")


def iterate(algorithm, state, iteration=0, seed=0):
    return algorithm.iterate(state, iteration, jax.random.key(seed), Report().phase)


def plain_iteration(algorithm, state, rate, key):
    """Algorithm 2, one state at a time, where all states fit into one minibatch."""
    play_key, _, _ = jax.random.split(key, 3)
    shards = [
        self_play(GAME, algorithm._self_play, algorithm.evaluator(state), jax.random.fold_in(play_key, shard))
        for shard in range(algorithm.settings.lanes)
    ]
    games = jax.tree.map(lambda *x: np.concatenate(x), *shards)
    memory = []  # D_ER
    for game in range(games.length.size):
        for ply in range(int(games.length[game])):
            one = jax.tree.map(lambda x, game=game, ply=ply: x[game, ply], games.states)
            memory.append((one, float(games.outcome[game, ply])))
    states = jax.tree.map(lambda *rows: np.stack(rows), *[one for one, _ in memory])
    outcomes = jnp.array([outcome for _, outcome in memory], jnp.float32)

    def value_loss(weights):
        return jnp.mean((algorithm.value_net(weights, states) - outcomes) ** 2)

    value, value_error = descend(value_loss, state.value, rate)
    state = state._replace(value=value)

    search = BeamSearch(algorithm.settings.expand, algorithm.settings.depth)
    find = jax.jit(lambda evaluator, root: search(GAME, evaluator, root, jax.random.key(1)).values[0])
    evaluator = algorithm.evaluator(state)  # V as it is now, Q as it was
    targets = np.stack([find(evaluator, jax.tree.map(lambda x: x[None], one)) for one, _ in memory])
    legal = np.asarray(jax.jit(jax.vmap(GAME.legal))(states))
    assert (np.isfinite(targets) == legal).all()

    def q_loss(weights):
        errors = (algorithm.q_net(weights, states) - np.where(legal, targets, np.float32(0))) ** 2
        return jnp.sum(jnp.where(legal, errors, 0.0)) / np.float32(legal.sum())

    q, q_error = descend(q_loss, state.q, rate)
    return state._replace(q=q), float(value_error), float(q_error), len(memory)


def descend(loss, learner, rate):
    @jax.jit
    def one_step(learner):
        error, gradients = jax.value_and_grad(loss)(learner.weights)
        with relaxed_promotion():
            updates, optimizer = optax.adam(rate).update(gradients, (learner.optimizer, optax.EmptyState()))
            weights = optax.apply_updates(learner.weights, updates)
        return type(learner)(weights, optimizer[0]), error

    return one_step(learner)


def test_an_iteration_is_the_papers_algorithm():
    algorithm = Probs(GAME, settings(
        games=6, lanes=2, expand=12, iterations=3, symmetry=False, value_batch_size=64, q_batch_size=64,
        value_learning_rate=0.01, q_learning_rate=0.01, final_learning_rate=0.2,
    ))  # fmt: skip
    state = plain = algorithm.init(jax.random.key(3))
    for iteration, share in enumerate([1.0, 0.6, 0.2]):  # along a cosine, in three iterations
        state, record = iterate(algorithm, plain, iteration, seed=7)
        key = jax.random.fold_in(jax.random.key(7), iteration)
        plain, value_loss, q_loss, states = plain_iteration(algorithm, plain, 0.01 * share, key)
        assert record["value_loss"] == pytest.approx(value_loss, rel=1e-5)
        assert record["q_loss"] == pytest.approx(q_loss, rel=1e-5)
        assert record["states"] == record["searched"] == states
        assert record["mean_turns"] == pytest.approx(states / 6)
        assert record["learning_rate_share"] == pytest.approx(share)
        # Adam divides gradients by their own size, so where one is nearly 0 its rounding shows.
        for ours, theirs in zip(jax.tree.leaves(state), jax.tree.leaves(plain), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)


def test_the_same_key_gives_the_same_iteration_and_another_number_another():
    algorithm = Probs(GAME, settings(final_learning_rate=1))
    state = algorithm.init(jax.random.key(0))
    (one, record), (same, again), (other, _) = (iterate(algorithm, state, i) for i in (0, 0, 1))
    assert same_bits(one, same) and not same_bits(one, other)
    del record["seconds"], again["seconds"]
    assert record == again


def test_nothing_is_remembered_from_the_iteration_before():
    """Its memory is cleared: what an iteration gives depends on the nets alone."""
    algorithm, fresh = (Probs(GAME, settings()) for _ in range(2))
    state = iterate(algorithm, algorithm.init(jax.random.key(0)), 0)[0]
    assert same_bits(iterate(algorithm, state, 1)[0], iterate(fresh, state, 1)[0])


@pytest.mark.slow
def test_q_learns_from_some_of_the_games_in_steps():
    plan = {"q_games": 6, "q_games_per_step": 2}
    algorithm = Probs(GAME, settings(**plan))
    first = algorithm.init(jax.random.key(0))
    seen: list[tuple[str, int, int]] = []
    state, record = algorithm.iterate(first, 0, jax.random.key(0), lambda *told: seen.append(told))
    play_key = jax.random.fold_in(jax.random.split(jax.random.fold_in(jax.random.key(0), 0), 3)[0], 0)
    lengths = np.asarray(self_play(GAME, algorithm._self_play, algorithm.evaluator(first), play_key).length)
    assert record["states"] == lengths.sum()
    assert record["searched"] == lengths[:6].sum()
    steps = [total for name, done, total in seen if name == "searching" and done == total]
    assert steps == list(lengths[:6].reshape(3, 2).sum(axis=1))
    # Each step searches with the Q of the step before, so it is not the same as all at once.
    whole = iterate(Probs(GAME, settings(q_games=6)), first)[0]
    assert same_bits(whole.value, state.value) and not same_bits(whole.q, state.q)
    assert int(state.q.optimizer.count) >= 3


def test_every_pass_and_every_step_has_a_random_order_of_its_own(monkeypatch):
    keys = []

    def spy(*arguments):
        keys.append(tuple(jax.random.key_data(arguments[-1]).tolist()))
        return fit_pass(*arguments)

    monkeypatch.setattr("beamzero.algorithms.probs.iterate.fit_pass", spy)
    algorithm = Probs(GAME, settings(value_passes=3, q_passes=2, q_games_per_step=4))
    state = algorithm.init(jax.random.key(0))
    for iteration in range(2):
        iterate(algorithm, state, iteration)
    assert len(keys) == len(set(keys)) == 2 * (3 + 2 * 2)


@pytest.mark.slow
def test_passes_drops_capacity_depth_and_greedy_play_have_their_effect():
    base = Probs(GAME, settings())
    first = base.init(jax.random.key(0))
    state, record = iterate(base, first)
    batches = -(-record["states"] // 32)
    assert int(state.value.optimizer.count) == batches == int(state.q.optimizer.count)

    def changed(**changes):
        return iterate(Probs(GAME, settings(**changes)), first)

    after, _ = changed(value_passes=3, q_passes=2)
    assert (int(after.value.optimizer.count), int(after.q.optimizer.count)) == (3 * batches, 2 * batches)
    after, thinned = changed(drop_ratio=0.6)
    assert int(after.value.optimizer.count) < batches
    assert int(after.q.optimizer.count) == -(-thinned["searched"] // 32) < batches, "what is left out is not searched"
    _, twice = changed(drop_ratio=0.6, q_passes=2)
    assert twice["searched"] == twice["states"], "the second pass leaves out others"
    _, capped = changed(replay_capacity=20)
    assert capped["states"] == capped["searched"] == 20
    _, shallow = changed(depth=1, strict_depth=True)
    assert shallow["evaluations"] < record["evaluations"]
    _, cut = changed(max_turns=4)
    assert cut["mean_turns"] == 4 and cut["states"] == 32 and 0 < cut["value_loss"] < record["value_loss"]
    assert not same_bits(changed(sampled_moves=2)[0], state)
    assert not same_bits(changed(symmetry=False)[0], state)


@pytest.mark.slow
def test_searches_grow_over_a_run():
    algorithm = Probs(GAME, settings(expand=9, expand_first=1, iterations=3, games=4))
    state = algorithm.init(jax.random.key(0))
    asked = []
    for iteration in range(3):
        _, record = iterate(algorithm, state, iteration)
        asked.append(record["evaluations"] / record["searched"])
    assert asked[0] < 10 < asked[1] < asked[2], "the root alone, then five nodes, then nine"


@pytest.mark.parametrize("net", ["value", "q"])
def test_a_loss_that_is_no_number_stops_the_run(net):
    algorithm = Probs(GAME, settings())
    state = algorithm.init(jax.random.key(0))
    spoiled = jax.tree.map(lambda x: jnp.full_like(x, jnp.nan), getattr(state, net).weights)
    state = state._replace(**{net: getattr(state, net)._replace(weights=spoiled)})
    with pytest.raises(RunStopped, match=r"^the loss of [VQ] is nan: try a smaller learning rate \(it was 0\.003\)$"):
        iterate(algorithm, state)


class CountAfter(Report):
    """Counts compilations during the first iteration, and after it."""

    def __init__(self) -> None:
        self.first, self.later = CompilationCount(), CompilationCount()

    def begin(self, title: str, done: int, total: int) -> None:
        self.first.__enter__()

    def iteration(self, record) -> None:
        self.first.__exit__()
        if record["iteration"] == 1:
            self.later.__enter__()


@pytest.mark.slow
def test_nothing_compiles_after_the_first_iteration(tmp_path):
    report = CountAfter()
    # Sizes that no other test has, so that the first iteration has something to compile.
    changes = {
        "rate_every": 1,
        "games": 11,
        "rate_games": 14,
        "q_games_per_step": 11,
        "expand_first": 1,
        "q_value": 0.2,
    }
    run_toy(tmp_path / "run", report, iterations=5, **changes)
    report.later.__exit__()
    assert report.first.number > 5
    assert report.later.number == 0


@pytest.mark.slow
def test_a_game_with_dice_is_learned_and_a_run_goes_on_the_same(tmp_path):
    """V learns from positions before a roll too; no search starts there; and nothing compiles after the first time."""
    report = CountAfter()
    plan = {**SETTINGS, "max_turns": 60, "iterations": 2, "rate_every": 0, "rate_against": "random"}
    whole, part = (RunRequest("backgammon", tmp_path / name, changes=plan, seed=2) for name in ("whole", "part"))
    train(whole, report)
    report.later.__exit__()
    assert report.later.number == 0
    train(dataclasses.replace(part, iterations=1))
    train(RunRequest("backgammon", tmp_path / "part", resume=True))
    assert numbers(tmp_path / "part") == numbers(tmp_path / "whole")
    for record in numbers(tmp_path / "whole"):
        assert record["searched"] == record["looks"] == 8 * record["mean_turns"] <= 8 * 60
        assert 1.2 * record["searched"] < record["states"] < 1.8 * record["searched"]
    game = make_game("backgammon")
    one, other = (load_trained(str(tmp_path / name), game) for name in ("whole", "part"))
    assert same_bits(one.weights, other.weights)


@pytest.mark.slow
def test_it_learns():
    algorithm = Probs(GAME, settings(
        iterations=12, games=100, expand=10, search_batch=256, value_net="mlp:width=64,depth=2",
        q_net="mlp:width=64,depth=2", value_passes=2, q_passes=2,
    ))  # fmt: skip
    state = algorithm.init(jax.random.key(0))

    def against_random(state):
        player = SearchPlayer("probs", GAME, OneLook(), algorithm.evaluator(state))
        return battle(GAME, player, make_player("random", GAME), games=400)

    losses = []
    for iteration in range(12):
        state, record = iterate(algorithm, state, iteration)
        losses.append(record["q_loss"])
    assert losses[-1] < losses[0]
    assert against_random(algorithm.init(jax.random.key(0))).interval.high < 0.75
    assert against_random(state).interval.low > 0.8
