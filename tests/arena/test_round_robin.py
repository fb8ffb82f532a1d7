"""Ratings from games: a round robin, and one agent against opponents that stand fixed."""

from __future__ import annotations

import pytest

from beamzero.arena.battle import battle
from beamzero.arena.round_robin import measure_anchors, rate_against_anchors, rate_players, round_robin
from beamzero.core.errors import BadInput
from beamzero.games import make_game
from beamzero.players import make_player

GAME = make_game("connect_four:rows=4,columns=4,length=3")
NAMES = ["random", "lookahead:1", "lookahead:2"]
PLAYERS = [make_player(name, GAME) for name in NAMES]


@pytest.fixture(scope="module")
def battles():
    return round_robin(GAME, PLAYERS, games=200, random_plies=2, seed=3)


def test_everyone_plays_everyone_once(battles):
    assert list(battles) == [("random", "lookahead:1"), ("random", "lookahead:2"), ("lookahead:1", "lookahead:2")]
    for pair, played in battles.items():
        assert played.agents == pair and played.games == 200
    scores = [played.pair_scores.tobytes() for played in battles.values()]
    assert len(set(scores)) == 3, "each with a seed of its own"
    again = round_robin(GAME, PLAYERS, games=200, random_plies=2, seed=3)
    assert all((again[pair].pair_scores == battles[pair].pair_scores).all() for pair in battles)


def test_the_stronger_has_the_higher_rating_and_the_anchor_is_1000(battles):
    ratings = {rating.agent: rating for rating in rate_players(battles, NAMES, "random", seed=0)}
    assert ratings["random"].elo == 1000
    assert 1000 < ratings["lookahead:1"].elo < ratings["lookahead:2"].elo
    assert ratings["lookahead:1"].low > 1000, "beyond doubt"
    other = {rating.agent: rating.elo for rating in rate_players(battles, NAMES, "lookahead:1", seed=0)}
    assert other["lookahead:1"] == 1000
    shift = ratings["lookahead:1"].elo - 1000
    assert other["lookahead:2"] == pytest.approx(ratings["lookahead:2"].elo - shift, abs=0.5), "only the zero moves"


def test_progress_names_the_battle_and_its_games():
    told = []
    round_robin(GAME, PLAYERS[:2], games=200, random_plies=2, seed=0, on_progress=lambda *args: told.append(args))
    assert told[0] == ("random v lookahead:1", 0, 200) and told[-1] == ("random v lookahead:1", 200, 200)


def test_nobody_is_named_twice():
    with pytest.raises(BadInput, match="an agent is named twice: random random"):
        round_robin(GAME, [PLAYERS[0], PLAYERS[0]], games=8, random_plies=2, seed=0)


def test_anchors_are_measured_by_a_round_robin_and_the_first_is_1000(battles):
    anchors = measure_anchors(GAME, PLAYERS, games=200, seed=3)
    assert list(anchors) == NAMES and anchors["random"] == 1000
    by_hand = {rating.agent: rating.elo for rating in rate_players(battles, NAMES, "random", seed=3)}
    assert anchors == pytest.approx(by_hand)
    assert measure_anchors(GAME, PLAYERS[1:2], games=200, seed=3) == {"lookahead:1": 1000.0}


def test_a_player_is_rated_against_opponents_whose_ratings_stand():
    anchors = measure_anchors(GAME, PLAYERS, games=200, seed=3)
    player = make_player("one_step_lookahead", GAME)
    rating, battles = rate_against_anchors(GAME, player, PLAYERS, anchors, games=200, seed=9)
    assert list(battles) == NAMES and all(played.agents[0] == "one_step_lookahead" for played in battles.values())
    assert rating.agent == "one_step_lookahead"
    assert rating.low < anchors["lookahead:1"] < rating.high, "it is that very player under another name"
    shifted = {name: elo + 500 for name, elo in anchors.items()}
    higher, same = rate_against_anchors(GAME, player, PLAYERS, shifted, games=200, seed=9)
    assert higher.elo == pytest.approx(rating.elo + 500, abs=0.5)
    assert all((same[name].pair_scores == battles[name].pair_scores).all() for name in NAMES)


def test_an_opponent_without_a_rating_is_played_but_does_not_count():
    player = make_player("two_step_lookahead", GAME)
    rating, battles = rate_against_anchors(GAME, player, PLAYERS, {"random": 1000.0}, games=200, seed=0)
    alone, _ = rate_against_anchors(GAME, player, PLAYERS[:1], {"random": 1000.0}, games=200, seed=0)
    assert list(battles) == NAMES
    assert (rating.elo, rating.low, rating.high) == (alone.elo, alone.low, alone.high)
    assert battles["random"].score == battle(GAME, player, PLAYERS[0], 200, 2, 0).score
