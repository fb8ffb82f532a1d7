"""Counting lines of play does not depend on how many are counted at a time."""

from __future__ import annotations

import jax
import pytest

from beamzero.games import make_game
from beamzero.search import perft as module
from beamzero.search.perft import perft


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_the_size_of_chunks_changes_nothing(monkeypatch, chunk):
    monkeypatch.setattr(module, "_CHUNK", chunk)
    assert perft(make_game("connect_four:rows=4,columns=4,length=3"), 4) == [4, 16, 64, 256]


def test_it_does_not_in_a_game_of_many_moves(monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 7)
    assert perft(make_game("othello:size=6"), 4) == [4, 12, 56, 244]


def test_lines_end_where_the_game_is_over_and_may_start_anywhere():
    game = make_game("tic_tac_toe")
    state = jax.jit(game.init)(jax.random.key(0))
    for move in ("a1", "a2", "b1", "b3", "c3", "c2"):  # two of the three moves that are left win
        state = game.step(state, game.parse_action(state, move))
    told: list[int] = []
    assert perft(game, 3, state, told.append) == [3, 2, 1]
    assert told == sorted(told) and told[-1] == 6
