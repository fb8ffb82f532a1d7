"""`beamzero table`: the file it writes holds the table that it says, and wrong input writes nothing."""

from __future__ import annotations

import json

import pytest

from beamzero.cli import main
from beamzero.games.kalah import Kalah
from beamzero.solvers.retrograde import make_endgame_table
from beamzero.storage.tablefile import load_table


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_table_is_written_and_told_about(folder, capsys):
    assert main(["table", "kalah:houses=3", "--seeds", "4", "--out", "mine.table"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("210 positions of up to 4 seeds, solved in ") and printed.endswith(
        "mine.table (0.0 MB)\n"
    )
    table, expected = load_table("mine.table"), make_endgame_table(Kalah(houses=3), 4)
    assert table[:3] == expected[:3] and (table.values == expected.values).all()
    assert [path.name for path in folder.iterdir()] == ["mine.table"]


def test_json_is_one_object(folder, capsys):
    assert main(["table", "kalah:houses=3", "--seeds", "4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("seconds") >= 0 and found.pop("bytes") == (folder / found["file"]).stat().st_size
    assert found == {"game": "kalah:houses=3", "seeds": 4, "positions": 210, "file": "kalah-3-houses-4.table"}


@pytest.mark.parametrize(
    ("game", "name"),
    [
        ("kalah:seeds=4", "kalah-1.table"),
        ("kalah:empty_capture=true", "kalah-empty-capture-1.table"),
        ("kalah:houses=2,empty_capture=true", "kalah-2-houses-empty-capture-1.table"),
    ],
)
def test_a_file_is_named_after_what_sets_the_table_apart(folder, game, name, monkeypatch):
    monkeypatch.setattr(
        "beamzero.cli.commands.table.make_endgame_table", lambda *_: make_endgame_table(Kalah(houses=3), 4)
    )
    assert main(["table", game, "--seeds", "1"]) == 0
    assert [path.name for path in folder.iterdir()] == [name]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["kalah", "--seeds", "0"], "can hold 1 to 20 seeds, but 0 are asked for"),
        (["kalah", "--seeds", "-3"], "can hold 1 to 20 seeds, but -3 are asked for"),
        (["kalah", "--seeds", "1000000"], "can hold 1 to 20 seeds, but 1000000 are asked for"),
        (["kalah", "--seeds", "many"], "'--seeds'"),
        (["kalah:houses=3,seeds=1"], "can hold 1 to 6 seeds, but 16 are asked for"),
        (["chess"], "endgame tables are for kalah, but the game is chess"),
        (["kala"], "unknown game 'kala'; did you mean kalah?"),
        (["kalah", "--out", "kalah.bin"], "must end in .table"),
        (["kalah", "--out", "none/kalah.table"], "there is no folder none"),
        (["kalah", "--out", "."], "must end in .table"),
    ],
)
def test_wrong_input_gets_one_line_and_writes_nothing(folder, capsys, arguments, said):
    assert main(["table", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and said in printed.err and printed.err.count("\n") == 1
    assert not list(folder.iterdir())
