"""Laws of the score interval, and its honesty by simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from beamzero.arena.intervals import Interval, pair_means, score_interval
from beamzero.core.errors import BadInput

battles = st.integers(1, 30).flatmap(lambda pairs: arrays(float, (pairs, 2), elements=st.sampled_from([0.0, 0.5, 1.0])))


def interval(pair_scores: np.ndarray, seed: int = 0) -> Interval:
    return score_interval(pair_scores, seed, resamples=500)


@given(battles, st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_interval_lies_in_0_to_1_and_holds_the_mean(pair_scores, seed):
    low, high = interval(pair_scores, seed)
    assert 0.0 <= low <= pair_scores.mean() <= high <= 1.0
    assert low < high


@given(battles)
@settings(max_examples=30, deadline=None)
def test_the_other_agent_sees_the_mirrored_interval(pair_scores):
    low, high = interval(pair_scores)
    assert interval(1.0 - pair_scores[:, ::-1]) == pytest.approx((1.0 - high, 1.0 - low), abs=1e-12)


@given(battles, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_order_of_pairs_does_not_matter(pair_scores, random):
    order = random.sample(range(len(pair_scores)), len(pair_scores))
    assert interval(pair_scores[order]) == pytest.approx(interval(pair_scores), abs=1e-12)


def test_same_seed_same_interval():
    pair_scores = np.random.default_rng(0).integers(0, 3, (40, 2)) / 2
    assert score_interval(pair_scores, seed=3) == score_interval(pair_scores, seed=3)
    assert score_interval(pair_scores, seed=3) != score_interval(pair_scores, seed=4)


@pytest.mark.parametrize("pairs", [1, 2, 5, 20, 100, 1000])
def test_all_won_gives_the_exact_bound_for_that_many_games(pairs):
    low, high = score_interval(np.ones((pairs, 2)))
    assert low == pytest.approx(0.025 ** (1 / (2 * pairs)), abs=0.01)
    assert high == 1.0


def test_200_wins_of_200_say_at_least_98_percent():
    low, high = score_interval(np.ones((100, 2)))
    assert low == pytest.approx(0.982, abs=0.001)
    assert high == 1.0


def test_pairs_all_alike_leave_room_on_both_sides():
    first_mover_always_wins = np.tile([1.0, 0.0], (100, 1))
    assert score_interval(first_mover_always_wins) == pytest.approx((0.482, 0.518), abs=0.001)


def test_one_defeat_widens_the_bound_rather_than_closing_it():
    pair_scores = np.ones((100, 2))
    unbeaten = score_interval(pair_scores)
    pair_scores[0, 0] = 0.0
    low, high = score_interval(pair_scores)
    assert low == pytest.approx(0.9722, abs=0.002)  # Clopper and Pearson for 199 of 200
    assert low < unbeaten.low and 0.995 < high < 1.0


def test_balanced_pairs_give_a_narrower_interval_than_the_same_games_unpaired():
    scores = np.random.default_rng(0).permutation(np.repeat([0.0, 1.0], 50))
    paired = interval(np.stack([scores, 1.0 - scores], axis=1))
    unpaired = interval(np.stack([scores, scores], axis=1))
    assert paired.high - paired.low < 0.5 * (unpaired.high - unpaired.low)


@pytest.mark.parametrize(
    "strength, pairs, draws, opening_bias",
    [
        (0.5, 50, 0.0, 0.0),
        (0.7, 100, 0.4, 0.0),
        (0.7, 100, 0.0, 0.25),
        (0.9, 100, 0.0, 0.0),
        (0.97, 200, 0.0, 0.0),
        (0.97, 200, 0.4, 0.0),
        (0.99, 200, 0.0, 0.0),
    ],
)
def test_interval_covers_the_true_strength(strength, pairs, draws, opening_bias):
    """`draws` is their share among the games of equals; an opening favours one side by `opening_bias`."""
    rng = np.random.default_rng(0)
    battles = 500
    bias = opening_bias * rng.choice([-1.0, 1.0], (battles, pairs))
    chance = strength + np.stack([bias, -bias], axis=-1)  # [battles, P, 2]
    drawn = draws * np.minimum(chance, 1.0 - chance)  # half the chance of a draw
    luck = rng.random(chance.shape)
    scores = np.where(luck < chance - drawn, 1.0, np.where(luck < chance + drawn, 0.5, 0.0))
    intervals = [interval(pair_scores, seed) for seed, pair_scores in enumerate(scores)]
    covered = np.mean([low <= strength <= high for low, high in intervals])
    assert 0.92 <= covered <= 0.985


@pytest.mark.parametrize("bad", [np.ones((0, 2)), np.ones(4), np.ones((3, 3)), [[0.0, 2.0]], [[np.nan, 1.0]]])
def test_other_shapes_and_scores_are_refused_in_one_line(bad):
    with pytest.raises(BadInput) as refused:
        pair_means(bad)
    assert "\n" not in str(refused.value)
