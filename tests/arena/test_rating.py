"""Ratings: laws, equality with choix, bounds where nothing finite fits, and honest intervals by simulation."""

import itertools
import math

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamzero.arena.intervals import score_interval
from beamzero.arena.rating import elo_difference, expected_score, fit, rate, rate_against
from beamzero.core.errors import BadInput

WON, LOST, DRAWN = np.ones((100, 2)), np.zeros((100, 2)), np.full((100, 2), 0.5)
UNBEATEN_200 = elo_difference(0.05 ** (1 / 200))  # 728: the chance of winning 200 of 200 is 5%


def tournament(strengths: dict[str, float], pairs: int, seed: int) -> dict[tuple[str, str], np.ndarray]:
    """Everyone meets everyone; games are won at random by the true `strengths`."""
    rng = np.random.default_rng(seed)
    return {
        (a, b): (rng.random((pairs, 2)) < expected_score(strengths[a] - strengths[b])).astype(float)
        for a, b in itertools.combinations(strengths, 2)
    }


def flipped(pair_scores: np.ndarray) -> np.ndarray:
    """The same games as the other agent sees them."""
    return 1.0 - pair_scores[:, ::-1]


STRENGTHS = {"random": 1000.0, "a": 1150.0, "b": 1300.0, "c": 1350.0}


@given(st.floats(-2000, 2000))
def test_score_and_elo_are_inverse_and_symmetric(difference):
    assert elo_difference(expected_score(difference)) == pytest.approx(difference, abs=1e-6)
    assert expected_score(-difference) == pytest.approx(1.0 - expected_score(difference))


def test_known_elo_values():
    assert expected_score(0.0) == 0.5
    assert expected_score(400.0) == pytest.approx(10 / 11)
    assert (elo_difference(0.0), elo_difference(1.0)) == (-math.inf, math.inf)


@given(st.integers(2, 7), st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_fit_equals_choix(agents, seed):
    wins = np.random.default_rng(seed).integers(1, 60, (agents, agents)) / 2.0
    np.fill_diagonal(wins, 0.0)
    ours = fit(wins, np.arange(agents) > 0, np.zeros(agents))
    theirs = choix.ilsr_pairwise_dense(wins, max_iter=10_000, tol=1e-10)
    np.testing.assert_allclose(ours, theirs - theirs[0], atol=1e-6)


def test_fit_of_a_batch_is_the_fit_of_each():
    wins = np.random.default_rng(0).integers(1, 30, (5, 4, 4)).astype(float)
    free, start = np.array([False, True, True, True]), np.zeros(4)
    np.testing.assert_allclose(fit(wins, free, start), [fit(one, free, start) for one in wins], atol=1e-6)


@pytest.mark.parametrize("points", [1e-3, 1e-6, 1e-9])
def test_fit_converges_far_out(points):
    wins = np.array([[0.0, 100.0, points], [100.0, 0.0, 0.0], [300.0, 300.0, 0.0]])
    ratings = fit(wins, np.array([False, True, True]), np.zeros(3))
    assert ratings[2] == pytest.approx(math.log(600.0 / points), rel=1e-3)


def test_two_agents_differ_by_the_elo_of_their_score():
    pair_scores = tournament({"random": 1000.0, "a": 1200.0}, 100, seed=0)["random", "a"]
    anchor, rating = rate(["random", "a"], {("random", "a"): pair_scores})
    assert rating.elo == pytest.approx(1000.0 - elo_difference(pair_scores.mean()))
    assert rating.score == pytest.approx(1.0 - pair_scores.mean())
    assert rating.games == anchor.games == 200
    low, high = score_interval(flipped(pair_scores))
    assert (rating.low, rating.high) == pytest.approx(
        (1000.0 + elo_difference(low), 1000.0 + elo_difference(high)), abs=5.0
    )


def test_draws_are_half_a_win_and_half_a_loss():
    decisive = np.tile([[1.0, 0.0]], (100, 1))
    mixed = np.tile([[1.0, 0.5], [0.5, 0.5]], (50, 1))
    assert rate(["random", "a"], {("a", "random"): DRAWN})[1].elo == pytest.approx(1000.0)
    assert rate(["random", "a"], {("a", "random"): decisive})[1].elo == pytest.approx(1000.0)
    assert rate(["random", "a"], {("a", "random"): mixed})[1].elo == pytest.approx(1000.0 + elo_difference(0.625))


def test_anchor_is_exact_and_intervals_hold_the_rating():
    for rating in rate(list(STRENGTHS), tournament(STRENGTHS, 20, seed=1), resamples=100):
        assert rating.low <= rating.elo <= rating.high
        if rating.agent == "random":
            assert (rating.elo, rating.low, rating.high) == (1000.0, 1000.0, 1000.0)
        else:
            assert rating.low < rating.high


@given(st.permutations(list(STRENGTHS)), st.sets(st.integers(0, 5)))
@settings(max_examples=15, deadline=None)
def test_neither_the_order_of_names_nor_the_side_of_a_pairing_matters(names, told_from_the_other_side):
    results = tournament(STRENGTHS, 10, seed=2)
    expected = {rating.agent: rating for rating in rate(list(STRENGTHS), results, resamples=50)}
    retold = {}
    for number, ((a, b), scores) in reversed(list(enumerate(results.items()))):
        if number in told_from_the_other_side:
            retold[b, a] = flipped(scores)
        else:
            retold[a, b] = scores
    assert rate(names, retold, resamples=50) == [expected[name] for name in names]


def test_results_told_from_both_sides_are_added():
    results = tournament({"random": 1000.0, "a": 1100.0}, 30, seed=3)
    scores = results["random", "a"]
    split = {("random", "a"): scores[:10], ("a", "random"): flipped(scores[10:])}
    assert rate(["random", "a"], split) == rate(["random", "a"], results)


def test_another_anchor_only_shifts_the_ratings():
    results = tournament(STRENGTHS, 50, seed=4)
    by_random = [rating.elo for rating in rate(list(STRENGTHS), results, resamples=10)]
    by_c = [rating.elo for rating in rate(list(STRENGTHS), results, anchor="c", resamples=10)]
    np.testing.assert_allclose(np.diff(by_random), np.diff(by_c), atol=1e-3)
    assert by_c[-1] == 1000.0


def test_several_anchors_stay_fixed_and_place_the_others():
    anchors = {"random": 1000.0, "c": 1350.0}
    ratings = rate(list(STRENGTHS), tournament(STRENGTHS, 300, seed=5), anchors, resamples=100)
    assert [ratings[0].elo, ratings[3].elo] == [1000.0, 1350.0]
    assert [ratings[1].elo, ratings[2].elo] == pytest.approx([1150.0, 1300.0], abs=30.0)


def test_unbeaten_agent_gets_a_lower_bound_by_the_rule_of_three():
    _, rating = rate(["random", "a"], {("a", "random"): WON})
    assert (rating.elo, rating.high, rating.score) == (None, None, 1.0)
    assert rating.low == pytest.approx(1000.0 + UNBEATEN_200)
    assert rating.low == pytest.approx(1000.0 + elo_difference(200 / 203), abs=5.0)  # three more games, all lost


def test_winless_agent_gets_the_mirrored_bound():
    _, rating = rate(["random", "a"], {("a", "random"): LOST})
    assert (rating.elo, rating.low, rating.score) == (None, None, 0.0)
    assert rating.high == pytest.approx(1000.0 - UNBEATEN_200)


def test_a_single_draw_makes_the_rating_finite():
    once_drawn = WON.copy()
    once_drawn[0, 0] = 0.5
    rating = rate(["random", "a"], {("a", "random"): once_drawn})[1]
    assert rating.elo == pytest.approx(1000.0 + elo_difference(199.5 / 200))
    assert rating.low < rating.elo < rating.high < math.inf


def test_an_unbeaten_group_keeps_its_inner_distances():
    inner = tournament({"a": 1300.0, "b": 1200.0}, 100, seed=6)["a", "b"]
    results = {("a", "b"): inner, ("a", "random"): WON, ("b", "random"): WON, ("random", "c"): DRAWN}
    _, a, b, c = rate(["random", "a", "b", "c"], results)
    assert (a.elo, b.elo, a.high, b.high) == (None, None, None, None)
    assert a.low - b.low == pytest.approx(elo_difference(inner.mean()), abs=1e-3)
    clean_record = expected_score(a.low - 1000.0) ** 200 * expected_score(b.low - 1000.0) ** 200
    assert clean_record == pytest.approx(0.05)
    assert c.elo == pytest.approx(1000.0)  # the others are rated as without the group


def test_a_ladder_of_clean_sweeps_adds_up():
    results = {("b", "a"): WON, ("a", "random"): WON, ("random", "z"): WON}
    _, a, b, z = rate(["random", "a", "b", "z"], results)
    assert [a.low, b.low] == pytest.approx([1000.0 + UNBEATEN_200, 1000.0 + 2 * UNBEATEN_200])
    assert z.high == pytest.approx(1000.0 - UNBEATEN_200)


def test_an_agent_neither_above_nor_below_the_anchor_gets_no_number_at_all():
    results = {("a", "random"): WON, ("a", "b"): WON}
    b = rate(["random", "a", "b"], results)[2]
    assert (b.elo, b.low, b.high) == (None, None, None)


def test_a_circle_of_clean_sweeps_is_finite():
    results = {("a", "random"): WON, ("b", "a"): WON, ("random", "b"): WON}
    assert [rating.elo for rating in rate(["random", "a", "b"], results)] == pytest.approx([1000.0] * 3)


def test_rate_against_one_opponent_is_rate():
    scores = flipped(tournament({"random": 1000.0, "a": 1200.0}, 50, seed=7)["random", "a"])
    rating = rate_against({"random": 1000.0}, {"random": scores}, agent="a")
    both = rate(["a", "random"], {("a", "random"): scores})
    assert rating == both[0]


def test_rate_against_several_solves_expected_points_equal_points_won():
    anchors = {"random": 1000.0, "weak": 1200.0, "strong": 1500.0, "unused": 3000.0}
    rng = np.random.default_rng(8)
    scores = {name: rng.integers(0, 3, (40, 2)) / 2 for name in ("random", "weak", "strong")}
    rating = rate_against(anchors, scores)
    expected = sum(80 * expected_score(rating.elo - anchors[name]) for name in scores)
    assert expected == pytest.approx(sum(score.sum() for score in scores.values()))
    assert (rating.agent, rating.games) == ("agent", 240)
    assert rating.low < rating.elo < rating.high


def test_rate_against_gives_bounds():
    anchors = {"random": 1000.0, "strong": 1500.0}
    unbeaten = rate_against(anchors, {"random": WON, "strong": WON})
    assert (unbeaten.elo, unbeaten.high) == (None, None)
    assert 1500.0 + UNBEATEN_200 < unbeaten.low < 1500.0 + UNBEATEN_200 + 20.0
    winless = rate_against(anchors, {"random": LOST, "strong": LOST})
    assert (winless.elo, winless.low) == (None, None)
    assert winless.high == pytest.approx(2500.0 - unbeaten.low)
    between = rate_against(anchors, {"random": WON, "strong": LOST})
    assert between.elo == pytest.approx(1250.0)


@pytest.mark.slow
@pytest.mark.parametrize("strengths, pairs", [(STRENGTHS, 30), ({"random": 1000.0, "a": 1400.0, "b": 1900.0}, 50)])
def test_intervals_cover_the_true_ratings(strengths, pairs):
    tournaments = 150
    covered = dict.fromkeys(strengths, 0)
    for seed in range(tournaments):
        for rating in rate(list(strengths), tournament(strengths, pairs, seed), seed=seed, resamples=150):
            low = -math.inf if rating.low is None else rating.low
            high = math.inf if rating.high is None else rating.high
            covered[rating.agent] += low <= strengths[rating.agent] <= high
    del covered["random"]
    assert all(0.90 <= count / tournaments <= 0.99 for count in covered.values()), covered


@pytest.mark.slow
def test_rate_against_covers_the_true_rating():
    anchors = {"random": 1000.0, "weak": 1300.0, "strong": 1600.0}
    true, runs, covered = 2000.0, 200, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        scores = {name: (rng.random((50, 2)) < expected_score(true - elo)) * 1.0 for name, elo in anchors.items()}
        rating = rate_against(anchors, scores, seed, resamples=300)
        covered += rating.low <= true <= (math.inf if rating.high is None else rating.high)
    assert 0.92 <= covered / runs <= 0.99


@pytest.mark.parametrize(
    "names, results, anchor",
    [
        (["a", "b"], {("a", "b"): WON}, "random"),
        (["random", "a", "b", "c"], {("a", "random"): DRAWN, ("b", "c"): DRAWN}, "random"),
        (["random", "a", "b"], {("a", "random"): DRAWN}, "random"),
        (["random", "a", "a"], {("a", "random"): DRAWN}, "random"),
        (["random", "a"], {("a", "random"): DRAWN, ("a", "b"): DRAWN}, "random"),
        (["random", "a"], {("a", "random"): DRAWN, ("a", "a"): DRAWN}, "random"),
        (["random", "a"], {("a", "random"): np.ones(3)}, "random"),
        (["random", "a"], {("a", "random"): DRAWN}, {"random": math.nan}),
        (["random", "a"], {("a", "random"): DRAWN}, {}),
    ],
    ids=["no anchor", "islands", "idle", "twice", "stranger", "itself", "shape", "nan anchor", "empty anchors"],
)
def test_what_cannot_be_rated_is_refused_in_one_line(names, results, anchor):
    with pytest.raises(BadInput) as refused:
        rate(names, results, anchor)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("scores", [{}, {"unknown": WON}])
def test_rate_against_refuses_strangers_and_no_games(scores):
    with pytest.raises(BadInput):
        rate_against({"random": 1000.0}, scores)
