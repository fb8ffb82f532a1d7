"""Tournaments add to what is known, wherever it was played, and spend their games where they tell most."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamzero.arena import tournament as module
from beamzero.arena.battle import Battle, NothingNew
from beamzero.arena.intervals import score_interval
from beamzero.arena.rating import expected_score, fit
from beamzero.arena.sprt import SPRT
from beamzero.arena.store import Store
from beamzero.arena.tournament import Tournament, covariance, first_pairings, gains, next_pairings
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player

GAME = make_game("tic_tac_toe")
NAMES = ["random", "lookahead:1", "lookahead:2"]
PLAYERS = [make_player(name, GAME) for name in NAMES]


def test_everybody_meets_everybody_and_the_next_day_goes_on(tmp_path):
    store, told = Store(tmp_path / "results.db"), []
    first = Tournament(GAME, PLAYERS, store=store)
    first.round_robin(40, lambda *args: told.append(args))
    games, points = first.crosstable()
    assert (games == 40 * (1 - np.eye(3))).all() and (points + points.T == games).all()
    assert told[-1][1:] == (120, 120) and {title for title, *_ in told} == {
        f"{a} v {b}" for a, b in itertools.combinations(NAMES, 2)
    }
    ratings = first.ratings()
    assert [r.agent for r in ratings] == NAMES and ratings[0].elo == 1000 and ratings[2].games == 80

    # The same agents under other names and in another order, in another process as it were.
    players = [make_player(name, GAME) for name in ("two_step_lookahead", "random", "lookahead:depth=1")]
    second = Tournament(GAME, players, store=Store(tmp_path / "results.db"))
    known, _ = second.crosstable()
    assert (known == 40 * (1 - np.eye(3))).all()
    again = {r.agent: r.elo for r in second.ratings()}
    assert again["two_step_lookahead"] == pytest.approx(ratings[2].elo, abs=1e-6)
    before = first.met["random", "lookahead:1"]
    second.round_robin(40)
    more = Tournament(GAME, PLAYERS, store=store).met["random", "lookahead:1"]
    assert more.pair_scores.shape == (40, 2) and more.battles == 2
    np.testing.assert_array_equal(more.pair_scores[:20], before.pair_scores)
    assert (more.pair_scores[20:] != before.pair_scores).any(), "other games than on the first day"


def test_results_do_not_depend_on_who_else_plays():
    alone, among = Tournament(GAME, PLAYERS[1:], anchor="lookahead:1"), Tournament(GAME, PLAYERS)
    alone.round_robin(20)
    among.round_robin(20)
    pair = "lookahead:1", "lookahead:2"
    np.testing.assert_array_equal(alone.met[pair].pair_scores, among.met[pair].pair_scores)


def test_the_same_agent_twice_is_refused():
    with pytest.raises(BadInput, match="named twice"):
        Tournament(GAME, [PLAYERS[0], PLAYERS[0]])
    with pytest.raises(BadInput, match="lookahead:1 and one_step_lookahead are the same agent"):
        Tournament(GAME, [PLAYERS[1], make_player("one_step_lookahead", GAME)])


@pytest.fixture
def simulated(monkeypatch):
    """Battles that are drawn by lot, from the Elo of players by name; and a list of those that were fought."""
    elo: dict[str, float] = {}
    fought: list[tuple[str, str, int]] = []

    def lot(game, first, second, games, random_plies, seed, progress, avoid, **_):
        rng = np.random.default_rng(seed)
        chance = expected_score(elo[first.name] - elo[second.name])
        if first.deterministic and len(avoid) >= 30:
            raise NothingNew("all played")
        scores = (rng.random((games // 2, 2)) < chance).astype(float)
        fought.append((first.name, second.name, games))
        hashes = tuple(rng.bytes(8) for _ in range(games // 2))
        return Battle(game.spec, (first.name, second.name), scores, hashes, random_plies, 7.0, score_interval(scores))

    monkeypatch.setattr(module, "battle", lot)
    return elo, fought


def players_with(elo: dict[str, float], strengths: list[float]) -> list:
    """Players that differ in nothing but their search and their Elo."""
    made = []
    for number, strength in enumerate(strengths):
        name = "random" if number == 0 else f"agent {number}"
        player = dataclasses.replace(make_player(f"minimax:{number + 1}", GAME), name=name, deterministic=False)
        elo[name] = strength
        made.append(player)
    return made


@pytest.mark.slow
def test_the_best_pairings_need_fewer_games_than_all(simulated):
    elo, fought = simulated
    strengths = [1000.0, 1300, 1700, 1750, 2200, 2250, 2300, 2700]
    widths = {}
    for way in ("all", "best"):
        tournament = Tournament(GAME, players_with(elo, strengths), seed=1)
        fought.clear()
        if way == "all":
            tournament.round_robin(100)
        else:
            tournament.narrow(100, 2800)
        assert sum(games for *_, games in fought) == 2800
        ratings = tournament.ratings()
        assert all(r.elo is not None for r in ratings)
        widths[way] = np.mean([r.high - r.low for r in ratings])
        errors = [abs(r.elo - strength) for r, strength in zip(ratings, strengths, strict=True)]
        assert np.mean(errors) < widths[way] / 2
    assert widths["best"] < 0.85 * widths["all"]


def test_pairings_without_anything_new_are_left(simulated):
    elo, fought = simulated
    players = [dataclasses.replace(player, deterministic=True) for player in players_with(elo, [1000, 1100, 1200])]
    tournament = Tournament(GAME, players)
    tournament.narrow(20, 10**6)
    assert len(fought) == 9, "three pairings of thirty openings, ten at a time"


@pytest.mark.parametrize("above", [0, 60])
def test_a_test_stops_when_it_is_decided(simulated, above, tmp_path):
    elo, fought = simulated
    players = players_with(elo, [1000.0 + above, 1000])
    store = Store(tmp_path / "results.db")
    verdict = Tournament(GAME, players, store=store, seed=3).decide(SPRT(0, 60), 20, 20_000)
    assert verdict.accepted == (above > 0) and 20 < sum(games for *_, games in fought) < 3000
    fought.clear()
    assert Tournament(GAME, players, store=store).decide(SPRT(0, 60), 20, 20_000) == verdict and not fought
    undecided = Tournament(GAME, players, seed=5).decide(SPRT(0, 1), 20, 100)
    assert undecided.accepted is None and sum(games for *_, games in fought) == 100


# --- pairings: those that make ratings certain soonest ---------------------------------------------------------------


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
