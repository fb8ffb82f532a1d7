import json
import os
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from beamzero.core.errors import BadInput, RunStopped
from beamzero.storage import files
from beamzero.storage.agentfile import flatten, load_agent, save_agent

INFO = {"game": "kalah:seeds=4", "net": {"width": 64}, "elo": 0.1 + 0.2, "text": "ü"}


def tensors():
    words = np.random.default_rng(0).integers(0, 2**32, 60, np.uint32)
    return {
        "value/kernel": words.view(np.float32).reshape(3, 20),
        "value/bias": words[:5].view(np.uint16).view(ml_dtypes.bfloat16),
        "transposed": np.arange(12, dtype=np.int32).reshape(3, 4).T,
        "scalar": np.array(-0.0, np.float32),
        "empty": np.zeros((0, 3), np.float32),
        "mask": np.array([True, False]),
        "big endian": np.arange(3, dtype=">f4"),
    }


@pytest.fixture
def agent(tmp_path):
    save_agent(tmp_path / "agent.safetensors", tensors(), INFO)
    return tmp_path / "agent.safetensors"


def test_every_bit_comes_back(agent):
    loaded, info = load_agent(agent)
    assert info == INFO
    assert loaded.keys() == tensors().keys()
    for name, tensor in tensors().items():
        little = tensor.astype(tensor.dtype.newbyteorder("="))
        assert (loaded[name].dtype, loaded[name].shape) == (little.dtype, little.shape)
        assert loaded[name].tobytes() == little.tobytes()
        assert loaded[name].flags.writeable


def test_other_programs_can_read_it(agent):
    with safetensors.safe_open(agent, "numpy") as file:
        assert set(file.keys()) == set(tensors())
        assert json.loads(file.metadata()["info"]) == INFO
        np.testing.assert_array_equal(file.get_tensor("transposed"), tensors()["transposed"])


def test_the_same_agent_gives_the_same_bytes(agent, tmp_path):
    shuffled = dict(reversed(tensors().items()))
    save_agent(tmp_path / "again.safetensors", shuffled, dict(reversed(INFO.items())))
    assert (tmp_path / "again.safetensors").read_bytes() == agent.read_bytes()


def test_a_flip_of_any_byte_is_noticed(agent):
    whole = agent.read_bytes()
    assert load_agent(agent)
    for position in range(len(whole)):
        data = bytearray(whole)
        data[position] ^= 1
        agent.write_bytes(data)
        with pytest.raises(BadInput, match=r"\A.*\Z"):
            load_agent(agent)


def test_a_file_cut_anywhere_is_refused(agent):
    whole = agent.read_bytes()
    for length in range(0, len(whole), 7):
        agent.write_bytes(whole[:length])
        with pytest.raises(BadInput, match="is cut short or not a safetensors file"):
            load_agent(agent)


@pytest.mark.parametrize("data", [b"garbage" * 9, b"\x00" * 99, b"\xff" * 99, b"\x80\x04\x95pickle", b'{"json": 1}'])
def test_garbage_is_refused(tmp_path, data):
    (tmp_path / "agent.safetensors").write_bytes(data)
    with pytest.raises(BadInput, match="is cut short or not a safetensors file"):
        load_agent(tmp_path / "agent.safetensors")


@pytest.mark.parametrize(
    "metadata, message",
    [
        (None, "not a beamzero agent"),
        ({"format": "pt"}, "not a beamzero agent"),
        ({"format": "beamzero-agent-2"}, "has the format 'beamzero-agent-2'"),
        ({"format": "beamzero-agent-1"}, "what it says about the agent cannot be read"),
        ({"format": "beamzero-agent-1", "info": "{"}, "what it says about the agent cannot be read"),
        ({"format": "beamzero-agent-1", "info": "[]"}, "what it says about the agent cannot be read"),
        ({"format": "beamzero-agent-1", "info": "[" * 100_000}, "what it says about the agent cannot be read"),
        (
            {"format": "beamzero-agent-1", "info": '{"a":' + "[" * 50 + "]" * 50 + "}"},
            "what it says about the agent cannot be read",
        ),
        ({"format": "beamzero-agent-1", "info": "{}"}, "does not match its SHA-256"),
    ],
)
def test_foreign_safetensors_are_refused(tmp_path, metadata, message):
    path = tmp_path / "agent.safetensors"
    safetensors.numpy.save_file({"a": np.zeros(3, np.float32)}, path, metadata=metadata)
    with pytest.raises(BadInput, match=message):
        load_agent(path)


def test_a_missing_file_or_a_folder_is_refused(tmp_path):
    with pytest.raises(BadInput, match="there is no agent file"):
        load_agent(tmp_path / "none.safetensors")
    with pytest.raises(BadInput, match="cannot be read"):
        load_agent(tmp_path)


def test_save_refuses_what_cannot_be_an_agents_file(tmp_path):
    (tmp_path / "folder.safetensors").mkdir()
    for name, message in [
        ("agent.pt", "must end in .safetensors"),
        ("folder.safetensors", "is a folder"),
        ("none/agent.safetensors", "there is no folder"),
    ]:
        with pytest.raises(BadInput, match=message):
            save_agent(tmp_path / name, tensors(), INFO)
    assert os.listdir(tmp_path) == ["folder.safetensors"]


def test_a_full_disk_leaves_the_agent_that_was_there(agent, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    before = agent.read_bytes()
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(RunStopped, match="the disk is full"):
        save_agent(agent, {}, {})
    assert agent.read_bytes() == before
    assert os.listdir(agent.parent) == [agent.name]


def test_a_tree_is_flattened_by_names():
    tree = {"value": {"dense": {"kernel": np.ones((2, 3)), "bias": np.zeros(3)}, 0: {"bias": np.ones(1)}}, "scale": 2.0}
    flat = flatten(tree)
    assert sorted(flat) == ["scale", "value/0/bias", "value/dense/bias", "value/dense/kernel"]
    assert flat["value/dense/kernel"] is tree["value"]["dense"]["kernel"]
    wrong: list[Any] = ["a/b", "", 3.5]
    for key in wrong:
        with pytest.raises(ValueError, match="key"):
            flatten({key: np.zeros(1)})
