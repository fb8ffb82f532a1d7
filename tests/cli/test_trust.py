"""A data file runs no code: a Python file or a program is used only where the person names it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beamzero.cli import main
from beamzero.storage.run import Run
from tests.games.test_registry import NIM

EVIL = "from pathlib import Path\nPath('it_ran').touch()\n" + NIM


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text(EVIL)
    return tmp_path


def refusal(capsys, *words: str) -> str:
    assert main(list(words)) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert not Path("it_ran").exists()
    return str(said.err)


RECORD = {"game": "evil.py:Nim", "moves": ["take 3", "take 3"]}


@pytest.mark.parametrize(
    ("file", "text"),
    [("games.jsonl", json.dumps(RECORD)), ("games.txt", "# game evil.py:Nim\ntake 3\n")],
)
def test_a_record_runs_no_python_file(capsys, file, text):
    Path(file).write_text(text + "\n")
    line = refusal(capsys, "replay", file)
    assert f"{file}: game 1: it is of 'evil.py:Nim', a Python file" in line
    assert "such a file is run only where you name it: give --game evil.py:Nim" in line


def test_a_record_of_a_python_file_is_followed_where_the_person_names_it(capsys):
    Path("games.jsonl").write_text(json.dumps({**RECORD, "game": "elsewhere/evil.py:Nim,heap=10"}) + "\n")
    assert main(["replay", "games.jsonl", "--game", "evil.py:Nim", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["game"], found["moves"]) == ("evil.py:Nim", ["take 3", "take 3"])
    assert main(["replay", "games.jsonl", "--game", "evil.py:Nim,heap=9"]) == 2
    assert "it is of 'elsewhere/evil.py:Nim,heap=10', not of 'evil.py:Nim,heap=9'" in capsys.readouterr().err


def test_a_run_runs_no_python_file(capsys, folder):
    about = {"game": "Nim", "game_text": "evil.py:Nim", "algorithm": "probs", "settings": {}, "seed": 0, "from": None}
    Run.create(folder / "run", about)
    line = refusal(capsys, "export", "run", "agent.safetensors")
    assert "run: it is of 'evil.py:Nim', a Python file" in line and "give --game evil.py:Nim" in line
    assert not Path("agent.safetensors").exists()


def test_the_lists_of_runs_and_records_run_nothing(capsys, folder):
    Run.create(folder / "run", {"game": "evil.py:Nim", "game_text": "evil.py:Nim", "algorithm": "probs"})
    Path("games.jsonl").write_text(2 * (json.dumps(RECORD) + "\n"))
    assert main(["runs", "."]) == 0
    assert main(["replay", "games.jsonl"]) == 0
    assert "evil.py:Nim" in capsys.readouterr().out
    assert not Path("it_ran").exists()


@pytest.mark.parametrize("algorithm", ["uci", "gtp", "uci:sh", "random"])
def test_an_algorithm_in_a_run_is_no_name_of_a_program(capsys, folder, algorithm):
    about = {"game": "tic_tac_toe", "game_text": "tic_tac_toe", "settings": {}, "seed": 0, "from": None}
    Run.create(folder / "run", {**about, "algorithm": algorithm})
    refusal(capsys, "export", "run", "agent.safetensors")
    refusal(capsys, "train", "tic_tac_toe", "--run", "run", "--resume")
