"""`beamzero draw`: a position becomes one SVG, on stdout or in a file that is whole or not there."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from beamzero.cli import main
from beamzero.cli.moves import play_moves
from beamzero.drawing import draw_svg
from beamzero.games import make_game

GAME = "connect_four:rows=4,columns=4,length=3"


def run_draw(capsys, *arguments: str) -> tuple[int, str, str]:
    status = main(["draw", *arguments])
    return status, *capsys.readouterr()


def words(svg: str) -> list[str]:
    return [part.text or "" for part in ET.fromstring(svg).iter() if part.tag.endswith("}text")]


def count(svg: str, name: str) -> int:
    return sum(name in part.get("class", "").split() for part in ET.fromstring(svg).iter())


def test_without_a_file_the_drawing_is_all_that_is_printed(capsys):
    status, out, err = run_draw(capsys, GAME, "--moves", "a,b,a")
    assert (status, err) == (0, "")
    assert (count(out, "stone"), count(out, "last"), count(out, "mark")) == (3, 1, 0)
    game = make_game(GAME)
    assert out == draw_svg(game.view(play_moves(game, "a,b,a"), 1), last=[[1, 0]])


def test_a_file_holds_what_would_be_printed(capsys, tmp_path):
    drawn = run_draw(capsys, GAME, "--moves", "a", "--size", "200")[1]
    path = tmp_path / "board.svg"
    path.write_text("old")
    assert run_draw(capsys, GAME, "--moves", "a", "--size", "200", "--out", str(path)) == (0, "", "")
    assert path.read_text() == drawn and 'width="200"' in drawn
    assert [file.name for file in tmp_path.iterdir()] == ["board.svg"]


def test_json_has_the_keys_that_scripts_rely_on(capsys, tmp_path):
    path = str(tmp_path / "board.svg")
    status, out, err = run_draw(capsys, GAME, "--moves", "a,b", "--out", path, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out) == {"game": GAME, "out": path, "moves": ["a", "b"]}
    told = json.loads(run_draw(capsys, GAME, "--json")[1])
    assert (told["out"], told["moves"]) == (None, []) and told["svg"] == run_draw(capsys, GAME)[1]


def test_an_agent_marks_each_move_with_its_value(capsys):
    status, out, _ = run_draw(capsys, "tic_tac_toe", "--moves", "a1,b1,a2,b2", "--agent", "lookahead:1")
    assert status == 0 and count(out, "mark") == 5
    assert words(out).count("+1.00") == 1, "a3 wins"


def test_of_many_moves_only_five_are_marked(capsys):
    out = run_draw(capsys, "connect_four:rows=4,columns=10", "--agent", "random")[1]
    assert count(out, "mark") == 5


@pytest.mark.slow
def test_chess_gets_arrows_and_can_be_turned(capsys):
    mate = ["chess", "--position", "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "--agent", "lookahead:1"]
    status, out, _ = run_draw(capsys, *mate)
    assert (status, count(out, "arrow"), count(out, "stone")) == (0, 5, 6) and "+1.00" in words(out)
    turned = run_draw(capsys, *mate, "--turned")[1]
    assert turned != out and sorted(words(turned)) == sorted(words(out))


def test_moves_without_places_are_written_below(capsys):
    status, out, _ = run_draw(capsys, "kuhn_poker", "--position", "JQ", "--agent", "random")
    assert status == 0 and words(out)[-1].startswith(("check ", "bet "))


def test_the_cards_of_the_other_side_stay_hidden(capsys):
    out = run_draw(capsys, "kuhn_poker", "--position", "JQ", "--moves", "check")[1]
    assert "Q" in words(out) and "J" not in words(out)


def test_a_game_that_is_over_is_drawn_but_not_judged(capsys):
    over = ["tic_tac_toe", "--moves", "a1,a2,b1,b2,c1"]
    assert count(run_draw(capsys, *over)[1], "stone") == 5
    status, out, err = run_draw(capsys, *over, "--agent", "random")
    assert (status, out) == (2, "") and err == "beamzero: the game is over: X has three in a row\n"


WRONG = [
    (["chess9"], "unknown game 'chess9'"),
    (["tic_tac_toe", "--moves", "a1,a1"], "move 2: 'a1' is not a legal move here"),
    (["tic_tac_toe", "--agent", "nobody"], "unknown agent 'nobody'"),
    (["tic_tac_toe", "--position", "x"], "tic_tac_toe"),
    (["tic_tac_toe", "--size", "31"], "'--size'"),
    (["tic_tac_toe", "--size", "wide"], "'--size'"),
    (["tic_tac_toe", "--out", "board.png"], "a drawing's file must end in .svg, but 'board.png' does not"),
    (["tic_tac_toe", "--out", "svg"], "a drawing's file must end in .svg, but 'svg' does not"),
    (["tic_tac_toe", "--out", "nowhere/board.svg"], "there is no folder nowhere to write board.svg into"),
    (["tic_tac_toe", "--out", "folder.svg"], "folder.svg"),
    (["tic_tac_toe", "--out", "new.svg", "--moves", "z9"], "move 1: 'z9' is not a legal move here"),
]


@pytest.mark.parametrize(("arguments", "wrong"), WRONG, ids=lambda value: value if isinstance(value, str) else None)
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["", "json"])
def test_wrong_input_gets_one_line_and_status_2_and_writes_nothing(
    capsys, tmp_path, monkeypatch, arguments, wrong, more
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.svg").mkdir()
    status, out, err = run_draw(capsys, *arguments, *more)
    assert (status, out) == (2, "")
    assert err.startswith("beamzero: ") and err.count("\n") == 1 and wrong in err
    assert [file.name for file in tmp_path.iterdir()] == ["folder.svg"]
