"""What `bench search` measures: the same search as its peer, in positions that are really in the middle of games."""

from __future__ import annotations

import functools

import jax
import pytest

from beamzero.bench import search as bench_search
from beamzero.bench.search import _MIDDLES, _connect_four, _in_a_second, _lockstep, middle_game
from beamzero.bench.timing import seconds_of
from beamzero.cli import main
from beamzero.games import make_game


@pytest.fixture(autouse=True)
def for_an_instant(monkeypatch):
    """What is measured until it is sure is measured once."""
    monkeypatch.setattr(bench_search, "seconds_of", functools.partial(seconds_of, seconds=0.0))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(middle.game, marks=pytest.mark.slow if middle.game.startswith("chess") else ())
        for middle in _MIDDLES
    ],
)
def test_games_go_on_from_their_middles(name):
    game = make_game(name)
    state = middle_game(game)
    assert not game.over(state) and len(game.legal_actions(state)) > 1
    assert int(game.player(state)) in (0, 1)
    assert any((a != b).any() for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(game.init(jax.random.key(0)))))


@pytest.mark.slow
def test_the_peer_finds_the_same_value_and_order_saves_positions():
    plain, peer, ordered = _connect_four(peer=True, depth=4, ordered_depth=4)
    assert plain.ours > 0 and peer.ratio > 0
    assert "pyspiel" in peer.peer_name and plain.peer is None
    assert ordered.ours < ordered.peer / 2


def test_a_peer_that_disagrees_is_not_passed_over(monkeypatch):
    monkeypatch.setattr(bench_search, "_open_spiel", lambda depth: (1.0, 0.5))
    with pytest.raises(AssertionError, match=r"OpenSpiel values the position at 0\.5"):
        list(_connect_four(peer=True, depth=4, ordered_depth=4))


@pytest.mark.slow
def test_a_second_gives_a_depth_and_a_rate():
    plies, rate = _in_a_second(_MIDDLES[0])
    assert plies.unit == "plies" and plies.peer == _MIDDLES[0].depth and plies.ours >= 1
    assert rate.ours > 0


@pytest.mark.slow
def test_games_in_lockstep_are_won_against_a_random_player():
    row = _lockstep(games=16, depth=2)
    assert row.ours > 0
    assert float(row.name.split("scores ")[1].rstrip(")")) > 0.7


def test_a_game_without_a_position_is_refused(capsys):
    assert main(["bench", "search", "--game", "togyzkumalak"]) == 2
    assert "no benchmark of the search in togyzkumalak: choose from connect_four, kalah" in capsys.readouterr().err
