import datetime
import json
import os

import pytest

from beamzero.core.errors import BadInput, RunStopped
from beamzero.storage.metrics import Metrics, read_metrics
from beamzero.storage.run import Run, list_runs
from beamzero.storage.seal import seal

ABOUT = {"game": "connect_four", "algorithm": "probs", "settings": {"lr": 0.1, "widths": [1, 2]}}
RATING = {"elo": 1100, "low": 1000, "high": 1200}


def test_what_was_created_is_opened(tmp_path):
    created = Run.create(tmp_path / "deep" / "run", ABOUT)
    opened = Run.open(tmp_path / "deep" / "run")
    assert opened == created
    assert {key: opened.about[key] for key in ABOUT} == ABOUT
    assert opened.about["format"] == "beamzero-run-2"
    assert datetime.datetime.fromisoformat(opened.about["created"]).tzinfo is not None
    assert opened.checkpoints_folder.parent == opened.plot_path.parent == opened.folder
    assert os.listdir(opened.folder) == ["run.json"]


def test_an_empty_folder_will_do_even_where_a_kill_left_half_a_file(tmp_path):
    (tmp_path / ".writing-run.json-1234").write_text("{")
    Run.create(tmp_path, ABOUT)
    Run.open(tmp_path)


def test_a_run_is_never_overwritten(tmp_path):
    Run.create(tmp_path, ABOUT)
    before = (tmp_path / "run.json").read_bytes()
    with pytest.raises(BadInput, match=r"already holds a run: .*--resume"):
        Run.create(tmp_path, {})
    assert (tmp_path / "run.json").read_bytes() == before


def test_create_refuses_a_file_and_a_folder_of_something_else(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="is not empty and holds no run"):
        Run.create(tmp_path, ABOUT)
    with pytest.raises(BadInput, match="is a file"):
        Run.create(tmp_path / "notes.txt", ABOUT)
    with pytest.raises(BadInput, match="could not write the run folder"):
        Run.create(tmp_path / "notes.txt" / "run", ABOUT)
    assert os.listdir(tmp_path) == ["notes.txt"]


def test_settings_that_json_cannot_hold_leave_no_folder(tmp_path):
    with pytest.raises(TypeError):
        Run.create(tmp_path / "run", {"setting": object()})
    assert not (tmp_path / "run").exists()


def test_open_says_why_there_is_no_run(tmp_path):
    (tmp_path / "file").write_text("x")
    for folder, why in [
        (tmp_path, "no run.json"),
        (tmp_path / "none", "no such folder"),
        (tmp_path / "file", "a file"),
    ]:
        with pytest.raises(BadInput, match=f"there is no run in .*: .*{why}$"):
            Run.open(folder)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"7", b"{}", b"\xff\xfe\x00", b"[" * 100_000, b"null"])
def test_a_damaged_or_foreign_run_file_is_one_line(tmp_path, text):
    (tmp_path / "run.json").write_bytes(text)
    with pytest.raises(BadInput, match=r"run\.json is damaged, or not the file of a beamzero run$"):
        Run.open(tmp_path)


def test_another_format_is_refused(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"format": "beamzero-run-3"}))
    with pytest.raises(BadInput, match=r"has the format 'beamzero-run-3', but this version .* 'beamzero-run-2'"):
        Run.open(tmp_path)


def test_a_run_file_with_any_byte_changed_is_refused(tmp_path):
    Run.create(tmp_path, {**ABOUT, "seed": 1})
    path = tmp_path / "run.json"
    data = path.read_bytes()
    for place in range(len(data)):
        for change in (b"", b"1", bytes([data[place] ^ 1])):
            damaged = data[:place] + change + data[place + 1 :]
            if damaged != data:
                path.write_bytes(damaged)
                with pytest.raises(BadInput, match=r"run\.json (is damaged|was changed|has the format)"):
                    Run.open(tmp_path)


@pytest.mark.parametrize("value", [7, "a b", [], {}, None, True])
@pytest.mark.parametrize("key", ["game", "game_text", "algorithm", "recipe", "settings", "seed", "from", "created"])
def test_what_a_run_file_says_is_of_the_right_kind_even_where_it_is_sealed(tmp_path, key, value):
    right = {"settings": [{}], "seed": [7], "recipe": ["a b", None], "from": ["a b", None], "algorithm": []}
    about = {"format": "beamzero-run-2", key: value}
    (tmp_path / "run.json").write_bytes(seal(about))
    if value in right.get(key, ["a b"]) and value is not True:
        assert Run.open(tmp_path).about == about
    else:
        with pytest.raises(BadInput, match=rf"run\.json is damaged: what it says of {key} cannot be$"):
            Run.open(tmp_path)


def test_a_run_of_version_0_1_is_believed_and_can_be_sealed(tmp_path):
    about = {"format": "beamzero-run-1", **ABOUT}
    (tmp_path / "run.json").write_text(json.dumps(about, indent=2))
    (tmp_path / "metrics.jsonl").write_text('{"iteration": 1, "loss": 0.5}\n')
    run = Run.open(tmp_path)
    assert run.about == about and not run.sealed
    sealed = run.seal()
    assert sealed.sealed and sealed == Run.open(tmp_path)
    assert {key: sealed.about[key] for key in ABOUT} == ABOUT
    assert read_metrics(tmp_path) == [{"iteration": 1, "loss": 0.5}]
    assert b'"seal"' in (tmp_path / "metrics.jsonl").read_bytes()


def test_who_works_in_a_folder_is_told_when_it_goes(tmp_path):
    run = Run.create(tmp_path / "run", ABOUT)
    with run.lock() as check_folder:
        check_folder()
        run.folder.rename(tmp_path / "moved")
        with pytest.raises(RunStopped, match="was deleted or moved"):
            check_folder()
        Run.create(tmp_path / "run", ABOUT)
        with pytest.raises(RunStopped, match="was deleted or moved"):
            check_folder()


LOCK = """
import sys
from beamzero.core.errors import BadInput
from beamzero.storage.run import Run
try:
    with Run.open(sys.argv[1]).lock():
        print("locked", flush=True)
        sys.stdin.read()
except BadInput as error:
    print(error)
"""


def test_only_one_process_trains_in_a_folder_until_it_dies(tmp_path, start):
    run = Run.create(tmp_path, ABOUT)
    holder = start(LOCK, tmp_path)
    assert holder.stdout.readline() == "locked\n"
    with pytest.raises(BadInput, match="another process is training in"), run.lock():
        pass
    holder.kill()
    holder.communicate()
    with run.lock():
        out, _ = start(LOCK, tmp_path).communicate()
        assert out.startswith("another process is training in") and out.count("\n") == 1
    with run.lock():
        pass


def test_runs_are_listed_with_the_last_modified_first(tmp_path):
    for age, name in enumerate(["new", "group/old"]):
        run = Run.create(tmp_path / name, ABOUT)
        with Metrics(run.folder) as metrics:
            metrics.append({"iteration": 1, "rating": RATING})
            metrics.append({"iteration": 2, "rating": None})
        for file in ("run.json", "metrics.jsonl"):
            os.utime(run.folder / file, (1e9 - age, 1e9 - age))
    Run.create(tmp_path / "begun", ABOUT)
    (tmp_path / "something else").mkdir()
    begun, new, old = list_runs(tmp_path)
    assert [begun.folder.name, new.folder.name, old.folder.name] == ["begun", "new", "old"]
    assert (begun.iterations, begun.rating, begun.damaged) == (0, None, None)
    assert (new.game, new.algorithm, new.iterations, new.rating) == ("connect_four", "probs", 2, RATING)
    assert new.modified == datetime.datetime.fromtimestamp(1e9, datetime.UTC)
    assert [run.folder for run in list_runs(tmp_path / "new")] == [tmp_path / "new"]


def test_damaged_runs_are_listed_as_such(tmp_path):
    Run.create(tmp_path / "good", ABOUT)
    Run.create(tmp_path / "metrics", ABOUT)
    (tmp_path / "metrics" / "metrics.jsonl").write_bytes(b"garbage\n")
    Run.create(tmp_path / "json", ABOUT)
    (tmp_path / "json" / "run.json").write_bytes(b"garbage")
    (tmp_path / "folder" / "run.json").mkdir(parents=True)
    damaged = {run.folder.name: str(run.damaged) for run in list_runs(tmp_path)}
    assert damaged.pop("good") == "None"
    assert (
        "line 1 of" in damaged["metrics"] and "is damaged" in damaged["json"] and "cannot be read" in damaged["folder"]
    )


def test_where_there_is_no_folder_there_are_no_runs(tmp_path):
    assert list_runs(tmp_path / "none") == []
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="is a file"):
        list_runs(tmp_path / "file")
