"""Results show themselves: as tables in a terminal, as HTML and SVG in a notebook, as plain data."""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ElementTree

import jax
import jax.numpy as jnp
import pytest

import beamzero as bz
from beamzero.core.tables import TextTable
from beamzero.search.evaluator import SearchResult, choose_best
from beamzero.search.protocol import OneStep, Spent


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
    with pytest.raises(bz.BadInput, match="the names of moves, not 3"):
        start.play(3)
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
    with pytest.raises(bz.BadInput, match="must be a Position: moves are given as moves='a1 b1'"):
        bz.analyse("random", "a1 b1", game="tic_tac_toe")


@dataclasses.dataclass(frozen=True)
class Smallest(OneStep):
    """The legal move with the smallest number, plus one for a `twist`."""

    twist: bool = False

    def start(self, game, evaluator, states, key):
        return jax.vmap(game.legal)(states).astype(jnp.float32)

    def done(self, game, carry):
        return jnp.ones(carry.shape[0], jnp.bool_)

    def result(self, game, carry, key):
        values = jnp.where(carry > 0, -jnp.arange(carry.shape[1], dtype=jnp.float32)[None] / 100, -jnp.inf)
        action, policy = choose_best(values, key)
        best = jnp.max(values, axis=1)
        return SearchResult(action, values, policy, best, jnp.ones(len(carry), jnp.int32), jnp.zeros(carry.shape, bool))

    def spent(self, game, carry):
        one = jnp.ones(carry.shape[0], jnp.int32)
        return Spent(jnp.int32(1), one, one, one)


def test_a_search_of_ones_own_is_an_agent():
    game = bz.make_game("tic_tac_toe")
    assert bz.make_player(Smallest, game).name == "Smallest"
    assert bz.make_player(Smallest(twist=True), game, seconds=0.5).name == "Smallest:twist=true,seconds=0.5"
    assert bz.make_player(Smallest(), game, seconds=0.5).name == "Smallest:seconds=0.5"
    assert bz.make_player("alphabeta", game, depth=2).name == "alphabeta:depth=2"
    found = bz.battle(Smallest, "random", games=4, game=game, progress=False)
    assert found.agents == ("Smallest", "random") and bz.analyse(Smallest(), game=game).best == "a1"
    with pytest.raises(bz.BadInput, match="Smallest is made already, so seconds cannot be set"):
        bz.make_player(bz.make_player(Smallest, game), game, seconds=1)
    with pytest.raises(bz.BadInput, match="of which game is 'Smallest'"):
        bz.analyse(Smallest())


def test_scores_are_plain_data():
    (row,) = bz.score("lookahead:3", game="tic_tac_toe", positions=5, progress=False).as_dicts()
    assert row["low"] <= row["all"] <= row["high"] and row["positions"] > 0 and row["milliseconds"] > 0


def test_a_picture_draws_itself_without_pyplot():
    scores = bz.score("random", game="tic_tac_toe", positions=2, progress=False)
    data, about = scores.plot()._repr_png_()
    assert data.startswith(b"\x89PNG") and about["width"] > 100


def test_a_game_in_place_of_an_agent_is_told_where_it_belongs():
    game = bz.make_game("tic_tac_toe")
    for wrong in (game, type(game)):
        with pytest.raises(bz.BadInput, match="TicTacToe is a game and no agent: give it as game="):
            bz.battle(wrong, "random", games=2, progress=False)


def test_a_notebook_that_cannot_ask_says_so():
    def ask(prompt):
        raise NotImplementedError("this front end takes no input")

    with pytest.raises(bz.BadInput, match=r"cannot ask for moves.*give ask="):
        bz.play("tic_tac_toe", "random", ask=ask)


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
