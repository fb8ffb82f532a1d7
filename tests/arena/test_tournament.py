"""Tournaments add to what is known, wherever it was played, and spend their games where they tell most."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from beamzero.arena import tournament as module
from beamzero.arena.battle import Battle, NothingNew
from beamzero.arena.intervals import score_interval
from beamzero.arena.rating import expected_score
from beamzero.arena.sprt import SPRT
from beamzero.arena.store import Store
from beamzero.arena.tournament import Tournament
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
