"""A weights file: what was saved comes back, and whatever is wrong with it is said in one line."""

import dataclasses
import json
import os
from pathlib import Path

import pytest

from beamzero.core.errors import BadInput, RunStopped
from beamzero.games import make_game
from beamzero.storage import files
from beamzero.storage.weightsfile import (
    FeatureWeights,
    _digest,
    check_weights_path,
    load_weights,
    replace_weights,
    save_weights,
)

GAME = make_game("kalah:houses=4,seeds=3")
NUMBERS = (0.31234, -0.05, 1e-07, 0.0, 0.2)
WEIGHTS = FeatureWeights(
    game=GAME.identity,
    features=dict(zip(GAME.feature_names, NUMBERS, strict=True)),
    point=0.3,
    tempo=-0.1,
    made={"games": 20, "command": "beamzero fit-eval kalah", "battle": {"interval": [0.1, 0.9]}},
)


@pytest.fixture
def file(tmp_path):
    save_weights(tmp_path / "weights.json", WEIGHTS)
    return tmp_path / "weights.json"


def rewrite(path, **changes):
    """Change the content and keep the SHA-256 true."""
    content = {**json.loads(path.read_text()), **changes}
    del content["sha256"]
    path.write_text(json.dumps({**content, "sha256": _digest(content)}))


def refusal(path, game=GAME) -> str:
    with pytest.raises(BadInput) as error:
        load_weights(path, game)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_was_saved_comes_back(file):
    assert load_weights(file, GAME) == WEIGHTS
    assert load_weights(file, GAME).values == list(NUMBERS)


def test_a_person_can_read_it(file):
    text = file.read_text()
    assert '"stores": 0.31234' in text and '"game": "kalah:houses=4,seeds=3"' in text and text.endswith("}\n")


def test_a_flip_of_any_byte_is_noticed(file):
    whole = file.read_bytes()
    for position in range(len(whole) - 1):  # the last is the end of the line
        data = bytearray(whole)
        data[position] ^= 1
        file.write_bytes(data)
        refusal(file)


def test_a_file_cut_anywhere_is_refused(file):
    whole = file.read_bytes()
    for length in range(0, len(whole) - 2, 7):
        file.write_bytes(whole[:length])
        assert refusal(file).endswith("is cut short or damaged, or not a file of weights")


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"[1, 2]", b"3", b"[" * 100_000, b'{"format": "beamzero-agent-1"}'])
def test_what_is_no_weights_file_is_refused(tmp_path, data):
    (tmp_path / "weights.json").write_bytes(data)
    assert "file of weights" in refusal(tmp_path / "weights.json")


def test_a_missing_file_or_a_folder_is_refused(tmp_path):
    assert refusal(tmp_path / "none.json").startswith("there is no file of weights")
    assert refusal(tmp_path).endswith("is a folder, but weights are one file")


def test_weights_of_another_game_or_other_features_are_refused(file):
    assert refusal(file, make_game("kalah")).endswith("has weights for kalah:houses=4,seeds=3, not for kalah")
    assert "not for tic_tac_toe" in refusal(file, make_game("tic_tac_toe"))
    renamed = {"shops" if name == "stores" else name: weight for name, weight in WEIGHTS.features.items()}
    for features in (renamed, dict(reversed(WEIGHTS.features.items())), {}):
        rewrite(file, features=features)
        assert "has weights for other features than kalah has: stores, seeds in houses" in refusal(file)


@pytest.mark.parametrize(
    "changes",
    [
        {"features": dict.fromkeys(GAME.feature_names, float("nan"))},
        {"features": dict.fromkeys(GAME.feature_names, "1")},
        {"features": list(NUMBERS)},
        {"point": 0.0},
        {"point": float("inf")},
        {"tempo": None},
        {"game": 3},
        {"made": []},
    ],
)
def test_content_of_the_wrong_kind_is_refused_even_with_a_true_sha(file, changes):
    rewrite(file, **changes)
    assert refusal(file).endswith("is damaged: it does not hold the weights of a game")


def test_another_version_is_refused(file):
    rewrite(file, format="beamzero-weights-2")
    assert "beamzero-weights-1" in refusal(file)


def test_save_refuses_what_cannot_be_a_file(tmp_path):
    (tmp_path / "folder").mkdir()
    for name, message in [("folder", "is a folder"), ("none/weights.json", "there is no folder")]:
        with pytest.raises(BadInput, match=message):
            save_weights(tmp_path / name, WEIGHTS)
    assert os.listdir(tmp_path) == ["folder"]


def test_a_folder_that_nobody_may_write_into_is_noticed_before_the_work_begins(tmp_path, monkeypatch):
    def forbidden(*_):
        raise PermissionError(13, "Permission denied")

    check_weights_path(tmp_path / "weights.json")
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr(Path, "touch", forbidden)
    with pytest.raises(BadInput, match=r"could not write .*weights\.json: Permission denied$"):
        check_weights_path(tmp_path / "weights.json")


def test_a_full_disk_leaves_the_weights_that_were_there(file, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    before = file.read_bytes()
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(RunStopped, match="the disk is full"):
        save_weights(file, dataclasses.replace(WEIGHTS, point=0.4))
    assert file.read_bytes() == before and os.listdir(file.parent) == [file.name]


def test_weights_are_replaced_only_while_they_are_there(file):
    fought = dataclasses.replace(WEIGHTS, made={**WEIGHTS.made, "battle": {"score": 0.5}})
    replace_weights(file, WEIGHTS, fought)
    assert load_weights(file, GAME) == fought
    theirs = dataclasses.replace(WEIGHTS, tempo=0.4)
    save_weights(file, theirs)
    with pytest.raises(RunStopped, match=r"another program has written .* meanwhile: it was left as it is"):
        replace_weights(file, WEIGHTS, fought)
    assert load_weights(file, GAME) == theirs
    file.unlink()
    with pytest.raises(RunStopped, match="meanwhile"):
        replace_weights(file, WEIGHTS, fought)
    assert os.listdir(file.parent) == []
