"""Results show themselves: as tables in a terminal, as HTML and SVG in a notebook, as plain data."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

import beamzero as bz
from beamzero.core.tables import TextTable


def test_a_table_is_aligned_and_escaped():
    table = TextTable(("agent", "Elo"), [("<b>", "7"), ("longer", "1000")], ["a note"])
    assert str(table) == "agent    Elo\n<b>        7\nlonger  1000\n\na note"
    page = table.to_html()
    assert "&lt;b&gt;" in page and "<b>" not in page and "a note" in page
    ElementTree.fromstring(f"<div>{page}</div>")


def test_a_battle_prints_as_a_table():
    found = bz.battle("lookahead:2", "random", games=10, game="tic_tac_toe", progress=False)
    lines = repr(found).splitlines()
    assert lines[0].split() == ["lookahead:2", "wins", "draws", "losses", "score"]
    assert [line.split("  ")[0] for line in lines[1:4]] == ["moving first", "moving second", "all games"]
    assert f"{found.score:.3f}" in lines[3] and "95% interval" in lines[5]
    assert "<table" in found._repr_html_()
    assert found.as_dict().keys() >= {"game", "agents", "wins", "draws", "losses", "score", "interval", "by_side"}


def test_ratings_and_scores_print_as_tables(tmp_path):
    store = tmp_path / "results.db"
    one, two = (bz.rate("lookahead:1", game="tic_tac_toe", games=10, store=store, progress=False) for _ in range(2))
    assert [rating.games for rating in two.ratings] == [2 * rating.games for rating in one.ratings]
    assert repr(two).splitlines()[0].split()[:2] == ["agent", "Elo,"] and two.as_dicts()[0]["agent"] == "lookahead:1"
    assert two.plot().axes
    scores = bz.score("random", "lookahead:3", game="tic_tac_toe", positions=5, progress=False)
    assert repr(scores).splitlines()[0].split()[:2] == ["errors,", "%"] and len(scores.as_dicts()) == 2
    assert scores.plot().axes and "<table" in scores._repr_html_()


def test_a_position_is_played_on_and_draws_itself():
    game = bz.make_game("connect_four")
    start = game.position()
    position = start.play("d", "c")
    assert position.moves == ("d", "c") == game.position("d, c").moves and start.moves == ()
    assert position.side == 0 and not position.over and position.score is None and len(position.legal) == 7
    with pytest.raises(bz.BadInput, match="move 2: 'z' is not a legal move here"):
        start.play("d", "z")
    won = game.position("d c d c d c d")
    assert won.over and won.score == 1 and won.legal == [] and won.to_move is None
    assert won.reason in repr(won)
    shown = won._repr_mimebundle_()
    ElementTree.fromstring(shown["image/svg+xml"])
    assert shown["text/plain"] == repr(won)


def test_a_position_with_dice_says_what_was_rolled():
    game = bz.make_game("backgammon")
    begun = game.position()
    move = begun.legal[0]
    with pytest.raises(bz.BadInput, match=r"does not say what chance decided|chance has nothing to decide"):
        begun.play(f"{move}:9-9").play("x")


def test_an_analysis_shows_board_and_moves():
    found = bz.analyse("lookahead:3", game="tic_tac_toe", moves="a1 b1 a2 b2")
    assert found.best == "a3" == found.line[0] and found.value == 1
    assert found.as_dict().keys() >= {"game", "agent", "value", "best", "line", "moves"}
    assert repr(found).splitlines()[-1].startswith("lookahead:3, ")
    page = found._repr_mimebundle_()["text/html"]
    assert "<svg" in page and "<table" in page
    ElementTree.fromstring(found.to_svg())
    with pytest.raises(bz.BadInput, match="the game is over"):
        bz.analyse("random", game="tic_tac_toe", moves="a1 b1 a2 b2 a3")
    with pytest.raises(bz.BadInput, match="of which game is 'random'"):
        bz.analyse("random")


def test_agents_of_different_games_do_not_meet():
    one, other = bz.make_player("random", "tic_tac_toe"), bz.make_player("random", "kalah")
    with pytest.raises(bz.BadInput, match="random plays kalah, not tic_tac_toe"):
        bz.battle(one, other, games=2, progress=False)


def test_moves_that_a_search_never_tried_have_no_value():
    found = bz.analyse(bz.make_player("mcts:sims=3", "connect_four"))
    tried = [move for move in found.moves if move.tried]
    assert 1 <= len(tried) <= 3 and all((move.policy > 0) == move.tried for move in found.moves)
    rows = {line.split()[0]: line.split()[1] for line in repr(found).splitlines() if line.endswith("%")}
    assert {name for name, value in rows.items() if value == "-"} == {m.move for m in found.moves if not m.tried}
    assert all(move.tried for move in bz.analyse("alphabeta:depth=2", game="tic_tac_toe").moves)
