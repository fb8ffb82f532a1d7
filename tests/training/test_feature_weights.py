"""Weights learned from outcomes: the regression finds what made them, and self-play tells who won."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest

from beamzero.core.compiler import CompilationCount
from beamzero.core.errors import BadInput
from beamzero.core.progress import no_progress
from beamzero.games import make_game
from beamzero.players import make_player
from beamzero.search.features import feature_evaluator
from beamzero.training.feature_weights import learn
from beamzero.training.feature_weights.learn import Plan, fit_weights, learn_weights, regress
from beamzero.training.feature_weights.positions import FeatureGames, Positions, QuietLines, _observe

GAME = make_game("kalah:houses=3,seeds=2")
SMALL = Plan(games=60, rounds=2, depth=1, random_plies=4, trial_games=8)


def outcomes(log_odds: np.ndarray, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).random(log_odds.shape) < 1 / (1 + np.exp(-log_odds))).astype(np.float64)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(shape)


# --- regression ------------------------------------------------------------------------------------------------------


def test_the_regression_finds_the_weights_that_made_the_outcomes():
    weights, scales, shifts = np.array([0.8, -0.5, 0.0]), np.array([1.0, 30.0, 0.01]), np.array([0.0, 100.0, 5.0])
    columns = normal(200_000, 3) * scales + shifts
    found, constant = regress(columns, outcomes((columns - shifts) / scales @ weights + 0.3))
    np.testing.assert_allclose(found * scales, weights, atol=0.02)
    assert constant + found @ shifts == pytest.approx(0.3, abs=0.02)


def test_draws_are_half_a_win_and_half_a_loss():
    columns = normal(500, 2)
    drawn = np.full(500, 0.5)
    np.testing.assert_allclose(regress(columns, drawn)[0], 0.0, atol=1e-9)
    twice = np.concatenate([columns, columns]), np.concatenate([np.zeros(500), np.ones(500)])
    np.testing.assert_allclose(regress(*twice)[0], 0.0, atol=1e-9)


def test_the_gradient_is_zero_at_the_weights_that_are_found():
    columns = normal(1000, 4)
    result = outcomes(columns[:, 0])
    found, constant = regress(columns, result, penalty=0.01)
    chance = 1 / (1 + np.exp(-columns @ found - constant))
    spread = columns.std(axis=0)
    slope = columns.T @ (chance - result) / 1000 / spread + 0.01 * found * spread
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)
    assert np.mean(chance - result) == pytest.approx(0.0, abs=1e-9)


def test_outcomes_that_a_weight_explains_wholly_give_finite_weights():
    columns = normal(400, 1)
    found, constant = regress(columns, (columns[:, 0] > 0).astype(np.float64))
    assert np.isfinite(constant) and 1.0 < found[0] < 1e3


def test_a_column_that_never_changes_counts_for_nothing():
    columns = np.concatenate([normal(400, 1), np.full((400, 1), 7.0), np.zeros((400, 1))], axis=1)
    found, _ = regress(columns, outcomes(columns[:, 0]))
    assert found[0] > 0.5 and found[1] == found[2] == 0


@pytest.mark.slow
def test_weights_are_those_of_the_middle_of_a_game():
    """Here all that happens late is larger and counts for more, which deceives a regression that knows no time."""
    time = np.random.default_rng(2).random(200_000)
    features = normal(200_000, 2) * np.stack([np.ones_like(time), 0.2 + 4 * time], axis=1)
    log_odds = features @ np.array([1.0, 0.5]) * (0.2 + 1.6 * time)
    positions = Positions(features.astype(np.float32), outcomes(log_odds), time, np.arange(200_000))
    weights, tempo = fit_weights(positions)
    np.testing.assert_allclose(weights, [1.0, 0.5], atol=0.05)
    assert tempo == pytest.approx(0.0, abs=0.03)
    deceived, _ = regress(features, positions.result)
    assert deceived[1] / deceived[0] > 0.6


# --- self-play -------------------------------------------------------------------------------------------------------


@functools.cache
def some_positions() -> Positions:
    return FeatureGames(GAME, make_player("random", GAME), 1030, 4, 0.0).play(jax.random.key(0), no_progress)


def test_positions_are_those_of_whole_games_after_their_openings():
    positions = some_positions()
    assert set(np.unique(positions.game)) <= set(range(1030)) and len(np.unique(positions.game)) > 1000
    assert set(np.unique(positions.result)) == {0.0, 0.5, 1.0}
    assert positions.features.shape == (len(positions.game), len(GAME.feature_names))
    unit = np.min(positions.time[positions.time > 0])
    first = [np.rint(np.min(positions.time[positions.game == game]) / unit) for game in np.unique(positions.game)]
    assert np.bincount(np.int64(first)).argmin() <= 4 and max(first) == 4, "openings of 0 to 4 plies"


def test_results_are_for_the_side_to_move():
    """Who leads before the last move of a game of Kalah mostly wins it, and the lead is a feature."""
    positions = some_positions()
    last = {game: row for row, game in enumerate(positions.game)}
    rows = np.array(list(last.values()))
    lead = positions.features[rows, 0] + positions.features[rows, 1]  # seeds in the store and in the houses
    assert np.mean(positions.result[rows[lead > 1]]) > 0.65 and np.mean(positions.result[rows[lead < -1]]) < 0.35


@pytest.mark.slow
def test_noise_is_the_share_of_random_moves():
    """Without it, and without openings, a player that knows no chance plays one game over and over."""
    player = make_player("alphabeta:depth=1", GAME)
    key = jax.random.key(1)
    played = {noise: FeatureGames(GAME, player, 60, 0, noise).play(key, no_progress) for noise in (0.0, 0.2, 1.0)}
    kinds = {noise: len(np.unique(positions.features, axis=0)) for noise, positions in played.items()}
    assert kinds[0.0] < 30 < kinds[0.2] < kinds[1.0]


@pytest.mark.slow
def test_a_quiet_position_is_the_end_of_the_best_line():
    """In Kalah that line goes through moves that go on and captures, up to a move that does neither."""
    weights = np.array(GAME.point_weights) * GAME.point
    quiet = QuietLines(GAME, feature_evaluator(GAME, weights))
    states = jax.vmap(GAME.init)(jax.random.split(jax.random.key(0), 40))
    states = jax.jit(jax.vmap(GAME.step))(states, np.arange(40, dtype=np.int32) % 3)
    before = _observe(GAME, states, np.zeros(40, np.int32), np.int32(1))
    before = before._replace(counts=before.counts.at[7].set(False))
    ends = quiet(states, before)
    value = make_player("alphabeta:depth=1", GAME).think(states, jax.random.key(0)).value
    seen = np.asarray(ends.counts)
    assert not seen[7] and seen.sum() == 39
    np.testing.assert_allclose(np.tanh(0.5 * ends.features @ weights)[seen], value[seen], atol=2e-6)
    assert np.any(np.abs(ends.features - before.features) > 0)


@pytest.mark.slow
def test_positions_about_to_end_are_left_out_where_lines_are_followed():
    player, key = make_player("random", GAME), jax.random.key(2)
    lines = QuietLines(GAME, feature_evaluator(GAME))
    fewer, all_ = (FeatureGames(GAME, player, 60, 20, 0.0, how).play(key, no_progress) for how in (lines, None))
    assert 0.5 * len(all_.game) < len(fewer.game) < len(all_.game)


# --- learning --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights_and_nothing_compiles_after_the_first_round():
    later, second_round = CompilationCount(), []

    def report(title: str, done: int, total: int) -> None:
        if title.startswith("round 2") and not second_round:
            second_round.append(title)
            later.__enter__()

    one = learn_weights(GAME, SMALL, 3, report)
    later.__exit__()
    assert second_round and later.number == 0
    same, other = (learn_weights(GAME, SMALL, seed, no_progress) for seed in (3, 4))
    assert np.array_equal(one.points, same.points) and (one.point, one.tempo) == (same.point, same.tempo)
    assert [r.trials for r in one.rounds] == [r.trials for r in same.rounds]
    assert not np.array_equal(one.rounds[0].regressions["whole"], other.rounds[0].regressions["whole"])
    assert [r.noise for r in one.rounds] == [0.5, 0.1]


BEST_OF_FOUR = [0.4, 0.6, 0.5, 0.59]  # to the middle's, half and all the way; to the whole's


@pytest.mark.slow
@pytest.mark.parametrize(
    "scores, regression, step",
    [
        ([*BEST_OF_FOUR, 0.6, 0.55], "middle", 1.0),
        ([0.4, 0.5, 0.7, 0.5, 0.7, 0.65], "whole", 0.5),
        ([*BEST_OF_FOUR, 0.45, 0.56], "middle", 0.0),
        ([0.5] * 6, "middle", 0.0),
    ],
)
def test_weights_go_where_the_trials_say(monkeypatch, scores, regression, step):
    """To the step that scored best, if other games show it to be better too; else nowhere."""
    played = iter(scores)
    monkeypatch.setattr(learn, "_trial", lambda *_: np.full((50, 2), next(played)))
    learned = learn_weights(GAME, Plan(games=60, rounds=1, depth=1, random_plies=4), 0, no_progress)
    by_hand, (only,) = np.array(GAME.point_weights), learned.rounds
    np.testing.assert_allclose(learned.points, by_hand + step * (only.regressions[regression] - by_hand))
    assert only.taken == learned.is_new == (step > 0)
    assert np.any(np.abs(only.regressions["middle"] - only.regressions["whole"]) > 0.01)


@pytest.mark.slow
def test_a_trial_is_won_by_the_better_weights():
    """Weights that want the other side to have the seeds lose at both depths."""
    by_hand = np.array(GAME.point_weights)
    scores = learn._trial(GAME, SMALL, by_hand, -by_hand, 0)
    assert scores.shape == (4, 2) and np.mean(scores[:2]) > 0.5 and np.mean(scores[2:]) > 0.5
    assert np.mean(learn._trial(GAME, SMALL, by_hand, by_hand, 0)) == 0.5


def test_trials_have_seeds_of_their_own():
    seeds = {learn._trial_seed(seed, number, part) for seed in (0, 1) for number in (0, 1) for part in (0, 1, 2)}
    assert len(seeds) == 12 and min(seeds) > 10**6 and learn._trial_seed(2**31 - 1, 9, 2) < 2**31


def test_weights_are_scaled_to_set_positions_apart_as_far_as_others_do():
    features = normal(500, 3)
    scaled = learn._as_spread(np.array([5.0, 0.0, -1.0]), np.array([1.0, 1.0, 0.0]), features)
    assert scaled[0] == pytest.approx(-5 * scaled[2]) and scaled[1] == 0
    assert np.std(features @ scaled) == pytest.approx(np.std(features @ [1.0, 1.0, 0.0]))


@pytest.mark.slow
def test_what_a_point_is_worth_is_told_by_whole_games_with_the_weights_that_were_learned():
    learned = learn_weights(GAME, SMALL, 3, no_progress)
    key = jax.random.fold_in(jax.random.key(3), SMALL.rounds)
    player = learn._player(GAME, SMALL.depth, learned.points)
    same = FeatureGames(GAME, player, SMALL.games, SMALL.random_plies, 0.0).play(key, no_progress)
    np.testing.assert_array_equal(learned.played.features, same.features)
    leading = learned.played.features @ learned.points
    assert learned.point > 0 and np.corrcoef(leading, learned.played.result)[0, 1] > 0.2


@pytest.mark.parametrize("wrong", [{"games": 0}, {"games": 19}, {"rounds": 0}, {"depth": 0}, {"depth": 99}])
def test_a_plan_that_makes_no_sense_is_refused(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(BadInput, match=rf"^{name} is {value}, but must be \d+ to \d+$"):
        Plan(**wrong)


def test_a_game_without_features_is_refused():
    with pytest.raises(BadInput, match="has no features, so there are no weights to be learned"):
        learn_weights(make_game("pgx:hex"), SMALL, 0, no_progress)
