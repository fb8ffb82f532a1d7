"""Pairings are those that make ratings certain soonest."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamzero.arena.pairing import covariance, first_pairings, gains, next_pairings
from beamzero.arena.rating import fit


@st.composite
def ladders(draw):
    """Ratings, games between each two, and which are anchored: the first at least."""
    count = draw(st.integers(2, 6))
    ratings = np.array(draw(st.lists(st.floats(-3, 3), min_size=count, max_size=count)))
    games = np.zeros((count, count))
    for pair in itertools.combinations(range(count), 2):
        games[pair] = games[pair[::-1]] = 2 * draw(st.integers(0, 50))
    anchored = np.array([True, *draw(st.lists(st.booleans(), min_size=count - 1, max_size=count - 1))])
    return ratings, games, anchored


@given(ladder=ladders(), more=st.integers(1, 100))
def test_the_gain_is_what_the_variances_lose(ladder, more):
    """The quick formula, one update of rank one, against inverting the whole matrix again."""
    ratings, games, anchored = ladder
    gained = gains(ratings, games, anchored, more)
    before = np.trace(covariance(ratings, games, anchored))
    for first, second in itertools.combinations(range(len(ratings)), 2):
        played = games.copy()
        played[first, second] += more
        played[second, first] += more
        after = np.trace(covariance(ratings, played, anchored))
        # What is known beforehand stays the same, so that only the games between the two are new.
        assert gained[first, second] == pytest.approx(before - after, rel=1e-6, abs=1e-9)
        assert gained[first, second] == gained[second, first]


def test_the_covariance_is_that_of_ratings_fitted_to_many_tournaments():
    ratings, anchored = np.array([0.0, 0.8, -0.5]), np.array([True, False, False])
    games = np.array([[0, 400, 200], [400, 0, 300], [200, 300, 0]], float)
    rng = np.random.default_rng(0)
    wins = np.zeros((2000, 3, 3))
    for first, second in itertools.combinations(range(3), 2):
        chance = 1 / (1 + np.exp(ratings[second] - ratings[first]))
        wins[:, first, second] = rng.binomial(int(games[first, second]), chance, 2000)
        wins[:, second, first] = games[first, second] - wins[:, first, second]
    fitted = fit(wins, ~anchored, ratings)
    measured = np.cov(fitted[:, 1:].T)
    np.testing.assert_allclose(covariance(ratings, games, anchored)[1:, 1:], measured, rtol=0.12)


def test_equals_are_paired_and_foregone_conclusions_are_not():
    ratings, games = np.array([0.0, 0.1, 6.0, 6.1]), np.full((4, 4), 20.0) * (1 - np.eye(4))
    order = next_pairings(ratings, games, np.array([True, False, True, False]), 20)
    assert set(order[:2]) == {(0, 1), (2, 3)} and len(order) == 6
    # With one anchor it is least known how far the strong ones are above it: now they play the weak ones.
    assert next_pairings(ratings, games, np.array([True, False, False, False]), 20)[0] in {(0, 2), (1, 2)}


@pytest.mark.parametrize("count", [2, 3, 7])
def test_at_first_everyone_is_connected(count):
    pairs = first_pairings(count)
    assert len(set(pairs)) == len(pairs) and all(first < second < count for first, second in pairs)
    assert {second for first, second in pairs if first == 0} == set(range(1, count))
