"""The sequential test errs as rarely as it says, and stops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from beamzero.arena.rating import expected_score
from beamzero.arena.sprt import SPRT, WRONG, _with_mean
from beamzero.core.errors import BadInput

GAME_SCORES = st.sampled_from([0.0, 0.5, 1.0])
PAIRS = st.lists(st.tuples(GAME_SCORES, GAME_SCORES), min_size=1, max_size=60)
DIFFERENCES = st.tuples(st.floats(-200, 200), st.floats(1, 200)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def simulate(elo: float, draws: float, pairs: int, rng: np.random.Generator) -> np.ndarray:
    """[P, 2] games of an agent `elo` above its opponent, where this share at most is drawn."""
    score = expected_score(elo)
    drawn = min(draws, 2 * score, 2 - 2 * score)
    chances = [1 - score - drawn / 2, drawn, score - drawn / 2]
    return rng.choice([0.0, 0.5, 1.0], (pairs, 2), p=chances)


@pytest.mark.parametrize("truth", [0, 1])
@pytest.mark.parametrize("draws", [pytest.param(0.0, marks=pytest.mark.slow), 0.6])
def test_it_errs_as_rarely_as_it_says(truth, draws):
    test, rng, tests = SPRT(0, 60), np.random.default_rng(truth), 400
    wrong, lengths = 0, []
    for _ in range(tests):
        games = simulate((test.elo0, test.elo1)[truth], draws, 3000, rng)
        for pairs in range(10, len(games) + 1, 10):
            accepted = test.verdict(games[:pairs]).accepted
            if accepted is not None:
                break
        assert accepted is not None, "it comes to an end"
        wrong += accepted != truth
        lengths.append(pairs)
    # Overshooting a bound makes errors rarer than stated; 1.7 standard deviations above is allowed.
    assert wrong / tests <= WRONG + 1.7 * np.sqrt(WRONG * (1 - WRONG) / tests)
    assert np.mean(lengths) < 500


@given(pairs=PAIRS, differences=DIFFERENCES)
def test_it_is_the_same_from_the_other_side_and_in_any_order(pairs, differences):
    scores = np.array(pairs)
    ratio = SPRT(*differences).verdict(scores).ratio
    assert SPRT(-differences[1], -differences[0]).verdict(1 - scores).ratio == pytest.approx(-ratio, abs=1e-6)
    assert SPRT(*differences).verdict(scores[::-1, ::-1]).ratio == pytest.approx(ratio, abs=1e-9)


def test_more_wins_speak_for_the_larger_difference():
    test = SPRT(0, 20)
    games = np.array([[1.0, 0.5], [0.5, 0.5], [1.0, 0.0], [0.0, 0.5]] * 10)
    better = np.vstack([games, [[1.0, 1.0]] * 5])
    assert test.verdict(better).ratio > test.verdict(games).ratio
    assert test.verdict(np.ones((200, 2))).accepted == 1 and test.verdict(np.zeros((200, 2))).accepted == 0
    nothing = test.verdict(np.zeros((0, 2)))
    assert nothing.ratio == 0 and nothing.accepted is None


@pytest.mark.parametrize("mean", [0.3, 0.5, 0.64])
def test_the_distribution_with_a_mean_is_the_likeliest_one(mean):
    """Against a general optimizer."""
    seen, outcomes = np.array([0.1, 0.2, 0.3, 0.25, 0.15]), np.arange(5) / 4
    found = _with_mean(seen, mean)
    assert found.sum() == pytest.approx(1) and found @ outcomes == pytest.approx(mean)
    best = minimize(
        lambda p: -(seen @ np.log(p)),
        seen,
        bounds=[(1e-6, 1)] * 5,
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "eq", "fun": lambda p: p @ outcomes - mean},
        ],
    )
    np.testing.assert_allclose(found, best.x, atol=2e-3)
    assert seen @ np.log(found) >= seen @ np.log(best.x) - 1e-6


@pytest.mark.parametrize("differences", [(20, 20), (20, 0), (0, 2000), (float("nan"), 10)])
def test_differences_that_decide_nothing_are_refused(differences):
    with pytest.raises(BadInput, match="the smaller one first"):
        SPRT(*differences).check()
