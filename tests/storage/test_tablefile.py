"""Files of endgame tables: every byte comes back, or the file is refused in one line."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from beamzero.core.errors import BadInput
from beamzero.solvers.endgame import MOST_POSITIONS, EndgameTable, count_positions
from beamzero.storage import files
from beamzero.storage.tablefile import load_table, save_table

TABLE = EndgameTable(2, True, 3, np.arange(-17, 18, dtype=np.int8))


@pytest.fixture
def file(tmp_path):
    save_table(tmp_path / "small.table", TABLE)
    return tmp_path / "small.table"


def test_a_table_comes_back_as_it_was(file):
    loaded = load_table(file)
    assert loaded[:3] == TABLE[:3]
    assert loaded.values.dtype == np.int8 and (loaded.values == TABLE.values).all()


def test_a_file_takes_one_byte_a_position_and_one_line(file):
    line, values = file.read_bytes().split(b"\n", 1)
    assert len(values) == count_positions(2, 3) == 35
    assert json.loads(line).items() >= {"game": "kalah", "houses": 2, "empty_capture": True, "seeds": 3}.items()


def test_the_same_table_gives_the_same_bytes(file, tmp_path):
    save_table(tmp_path / "again.table", load_table(file))
    assert (tmp_path / "again.table").read_bytes() == file.read_bytes()


def test_a_flip_of_any_byte_is_noticed(file):
    whole = file.read_bytes()
    for position in range(len(whole)):
        data = bytearray(whole)
        data[position] ^= 1
        file.write_bytes(data)
        with pytest.raises(BadInput, match=r"\A.*small\.table .*\Z"):
            load_table(file)


def test_a_file_cut_anywhere_or_made_longer_is_refused(file):
    whole = file.read_bytes()
    start = whole.index(b"\n") + 1
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(
            BadInput, match="cut short: .* of 35 positions" if length >= start - 1 else "is not a beamzero table"
        ):
            load_table(file)
    file.write_bytes(whole + b"\0")
    with pytest.raises(BadInput, match="is too long: 36 of 35 positions"):
        load_table(file)


@pytest.mark.parametrize(
    "data", [b"", b"garbage" * 9, b"\xff" * 5000, b"[]\n", b"7\n", b"{}\n", b"[" * 900, b'{"format": 1}\n']
)
def test_garbage_is_refused(file, data):
    file.write_bytes(data)
    with pytest.raises(BadInput, match="is not a beamzero table"):
        load_table(file)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "beamzero-table-2"}, "has the format 'beamzero-table-2', but this version .* 'beamzero-table-1'"),
        ({"format": "beamzero-agent-1"}, "is not a beamzero table"),
        ({"game": "chess"}, "what it says about the table cannot be read"),
        ({"houses": "2"}, "what it says about the table cannot be read"),
        ({"houses": 0}, "what it says about the table cannot be read"),
        ({"seeds": -1}, "what it says about the table cannot be read"),
        ({"more": 1}, "what it says about the table cannot be read"),
        ({"houses": 10, "seeds": 240}, f"a table can have at most {MOST_POSITIONS}"),
        ({"empty_capture": False}, "does not match its SHA-256"),
        ({"sha256": None}, "does not match its SHA-256"),
    ],
)
def test_a_header_that_lies_is_refused(file, change, said):
    line, values = file.read_bytes().split(b"\n", 1)
    file.write_bytes(json.dumps(json.loads(line) | change).encode() + b"\n" + values)
    with pytest.raises(BadInput, match=said):
        load_table(file)


def test_a_missing_file_or_a_folder_is_refused(tmp_path):
    with pytest.raises(BadInput, match="there is no table file"):
        load_table(tmp_path / "none.table")
    with pytest.raises(BadInput, match="cannot be read"):
        load_table(tmp_path)


def test_what_cannot_be_a_table_s_file_is_refused(tmp_path):
    (tmp_path / "folder.table").mkdir()
    for name, said in [
        ("kalah.bin", "must end in .table"),
        ("folder.table", "is a folder"),
        ("none/kalah.table", "there is no folder"),
    ]:
        with pytest.raises(BadInput, match=said):
            save_table(tmp_path / name, TABLE)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.table"]


def test_a_write_that_fails_leaves_the_old_table(file, monkeypatch):
    before = file.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(5, os.strerror(5))

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(BadInput, match=r"could not write .*small\.table"):
        save_table(file, TABLE._replace(values=np.zeros(35, np.int8)))
    assert file.read_bytes() == before and len(list(file.parent.iterdir())) == 1
