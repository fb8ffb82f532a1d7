"""Played games from Python: one game of two agents, read and saved, reviewed and shown."""

from __future__ import annotations

import numpy as np
import pytest

import beamzero as bz

LOST = "a1 b1 a2 b2 c3"
"""Tic-tac-toe: the second side wins at once by b3."""


@pytest.fixture(scope="module")
def played() -> bz.PlayedGame:
    return bz.play_game("lookahead:2", "lookahead:2", game="tic_tac_toe", moves=LOST, progress=False)


def test_a_game_goes_on_after_the_moves_that_are_given_and_says_how_it_ended(played):
    assert played.moves == (*LOST.split(), "b3")
    assert played.result == -1 and played.reason == played[-1].reason and "in a row" in played.reason
    assert len(played) == 7 and [p.moves for p in played[:2]] == [(), ("a1",)] and played[-1].over
    assert [p.side for p in played] == [0, 1, 0, 1, 0, 1, None]
    assert "1. a1 b1 2. a2 b2 3. c3 b3" in repr(played) and "0-1" in repr(played)
    assert "<svg" in played._repr_html_() and "c3 b3" in played._repr_html_()


def test_a_saved_game_is_read_again_and_games_are_added(played, tmp_path):
    for name in ("games.jsonl", "games.txt"):
        for _ in range(2):
            assert played.save(tmp_path / name) == tmp_path / name
        found = bz.read_games(tmp_path / name, game="tic_tac_toe")
        assert [one.moves for one in found] == [played.moves] * 2
        assert all(np.array_equal(a, b) for a, b in zip(found[0][-1].state, played[-1].state))
    assert bz.read_games(tmp_path / "games.jsonl")[0].as_dict() == played.as_dict()
    with pytest.raises(bz.BadInput, match=r"PGN is for chess and chess6x6"):
        played.save(tmp_path / "games.pgn")
    with pytest.raises(bz.BadInput, match="there is no such file"):
        bz.read_games(tmp_path / "none.jsonl")


def test_a_review_names_the_move_that_lost(played):
    seen = played.review("lookahead:3", progress=False)
    assert seen.mistakes == ["4 b2??", "5 c3??"]
    rows = seen.as_dicts()
    assert [row["move"] for row in rows] == list(played.moves) and rows[4]["best"] == "a3"
    assert [row["value_after"] for row in rows[:-1]] == [row["value"] for row in rows[1:]]
    assert rows[-1]["value_after"] == -1 and "c3??" in repr(seen) and "<table" in seen._repr_html_()
    assert seen.plot().axes


def test_dice_are_kept_with_the_moves_and_the_same_seed_gives_the_same_game(tmp_path):
    one, same = (bz.play_game("random", "random", game="backgammon", seed=3, progress=False) for _ in range(2))
    assert one.moves == same.moves and any(":" in move for move in one.moves)
    assert bz.read_games(one.save(tmp_path / "games.jsonl"))[0].moves == one.moves


def test_agents_of_two_games_and_an_illegal_move_are_refused():
    agent = bz.make_player("random", "connect_four")
    with pytest.raises(bz.BadInput, match=r"random plays connect_four, not tic_tac_toe"):
        bz.play_game(agent, "random", game="tic_tac_toe", progress=False)
    with pytest.raises(bz.BadInput, match=r"move 2: .*not a legal move"):
        bz.play_game("random", "random", game="tic_tac_toe", moves="a1 a1", progress=False)
