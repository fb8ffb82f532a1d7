import json
import math
import struct
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.core.errors import BadInput, RunStopped
from beamzero.storage import metrics as module
from beamzero.storage.metrics import Metrics, read_metrics
from beamzero.storage.run import Run


def write(folder, iterations):
    with Metrics(folder) as metrics:
        for iteration in iterations:
            metrics.append({"iteration": iteration, "loss": 1 / 3})


def iterations(folder):
    return [record["iteration"] for record in read_metrics(folder)]


def events(folder: Path):
    """What TensorBoard would read: (file, step, tag or "purge", value), files in the order of their making."""
    from tensorboardX.proto.event_pb2 import Event

    found = []
    for number, path in enumerate(sorted((folder / "tensorboard").iterdir(), key=lambda p: int(p.name.split(".")[-1]))):
        data = path.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            event = Event.FromString(data[12 : 12 + length])
            data = data[16 + length :]
            if event.HasField("session_log"):
                found.append((number, event.step, "purge", None))
            found += [(number, event.step, value.tag, value.simple_value) for value in event.summary.value]
    return found


def test_floats_come_back_bit_for_bit(tmp_path):
    words = np.random.default_rng(0).integers(0, 2**64, 2000, np.uint64)
    floats = [x for x in words.view(np.float64).tolist() if not math.isnan(x)]
    floats += [-0.0, 5e-324, 0.1 + 0.2, math.inf, -math.inf]
    with Metrics(tmp_path) as metrics:
        metrics.append({"iteration": 1, "values": {str(i): x for i, x in enumerate(floats)}, "nan": math.nan})
    (record,) = read_metrics(tmp_path)
    assert np.array(list(record["values"].values())).tobytes() == np.array(floats).tobytes()
    assert math.isnan(record["nan"])


def test_every_line_is_strict_json(tmp_path):
    record = {
        "iteration": 1,
        "a": math.nan,
        "b": [math.inf, -math.inf],
        "c": np.float32(0.1),
        "d": jnp.int32(3),
        "e": None,
    }
    with Metrics(tmp_path) as metrics:
        metrics.append(record)

    def refuse(word):
        raise AssertionError(word)

    line = json.loads((tmp_path / "metrics.jsonl").read_text(), parse_constant=refuse)
    assert len(line.pop("seal")) == 32
    assert line == {"iteration": 1, "a": "nan", "b": ["inf", "-inf"], "c": float(np.float32(0.1)), "d": 3, "e": None}


def test_each_record_is_on_the_disk_when_append_returns(tmp_path):
    metrics = Metrics(tmp_path)
    metrics.append({"iteration": 1})
    assert iterations(tmp_path) == [1]
    metrics.close()


def test_tensorboard_gets_every_number_under_its_tag(tmp_path):
    with Metrics(tmp_path) as metrics:
        metrics.append(
            {"iteration": 4, "loss": 0.5, "won": True, "rating": {"elo": 1200, "vs": {"x": 0.25}}, "none": None}
        )
    assert events(tmp_path) == [
        (0, 4, "loss", 0.5),
        (0, 4, "won", 1),
        (0, 4, "rating/elo", 1200),
        (0, 4, "rating/vs/x", 0.25),
    ]


def test_rewind_drops_what_came_after_and_a_torn_line(tmp_path):
    write(tmp_path, [1, 2, 3, 4])
    path = tmp_path / "metrics.jsonl"
    before = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(path.read_bytes() + b'{"iteration": 5, "lo')
    metrics = Metrics(tmp_path)
    metrics.rewind(2)
    assert path.read_bytes() == b"".join(before[:2])
    metrics.append({"iteration": 3, "loss": 0.5})
    metrics.close()
    assert iterations(tmp_path) == [1, 2, 3]
    assert (1, 3, "purge", None) in events(tmp_path)
    assert events(tmp_path)[-1] == (1, 3, "loss", 0.5)


def test_rewinding_to_nothing_or_without_a_file_is_fine(tmp_path):
    Metrics(tmp_path).rewind(0)
    assert read_metrics(tmp_path) == []
    write(tmp_path, [1, 2])
    Metrics(tmp_path).rewind(0)
    assert read_metrics(tmp_path) == []


def test_a_torn_last_line_is_left_out_and_never_glued_to_the_next(tmp_path):
    write(tmp_path, [1, 2])
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    assert iterations(tmp_path) == [1]
    write(tmp_path, [2])
    assert iterations(tmp_path) == [1, 2]


def test_lines_that_are_missing_below_the_checkpoint_are_named(tmp_path):
    write(tmp_path, [1, 3, 4, 8])
    said: list[str] = []
    Metrics(tmp_path, warn=said.append).rewind(9)
    assert iterations(tmp_path) == [1, 3, 4, 8]
    (line,) = said
    assert "has no line for iteration 2, 5 to 7, 9: what was measured there is lost" in line


def test_a_line_that_was_changed_is_named(tmp_path):
    Run.create(tmp_path, {})
    write(tmp_path, [1, 2])
    path = tmp_path / "metrics.jsonl"
    data = path.read_bytes()
    first = data.index(b"\n")
    for place in range(first):  # its own end is that of a line cut short
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(BadInput, match=r"line 1 of .*metrics\.jsonl is damaged"):
            read_metrics(tmp_path)


RECORD = {
    "iteration": 1, "games": 4, "states": 20, "evaluations": 100, "mean_turns": 5.0, "total_seconds": 1.5,
    "value_loss": 0.5, "gate_score": 0.5, "gate_interval": [0.4, 0.6], "gate_passed": True,
    "seconds": {"self_play": 1.0}, "crew": {"alive": 2}, "climb": {"scores": [1, 0], "total": 1, "of": 8},
    "rating": {"elo": None, "low": 900.0, "high": None, "scores": {"random": 1.0}},
}  # fmt: skip


@pytest.mark.parametrize("value", ["text", [], [1], {}, {"a": "b"}, {"elo": {}}, None])
@pytest.mark.parametrize("key", RECORD)
def test_a_value_of_the_wrong_kind_is_damage_even_where_nothing_is_sealed(tmp_path, key, value):
    (tmp_path / "metrics.jsonl").write_text(json.dumps(RECORD) + "\n")
    assert read_metrics(tmp_path) == [RECORD]
    if (key, value) in [("rating", None), ("seconds", {}), ("crew", {}), ("crew", {"a": "b"}), ("crew", {"elo": {}})]:
        return
    (tmp_path / "metrics.jsonl").write_text(json.dumps({**RECORD, key: value}) + "\n")
    with pytest.raises(BadInput, match=r"line 1 of .*metrics\.jsonl is damaged"):
        read_metrics(tmp_path)


@pytest.mark.parametrize("line", [b"{", b"[]", b"7", b"{}", b'{"iteration": "x"}', b"\xff"])
def test_a_damaged_line_in_the_middle_is_named(tmp_path, line):
    write(tmp_path, [1])
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(line + b"\n" + path.read_bytes())
    for read in (lambda: read_metrics(tmp_path), lambda: Metrics(tmp_path).rewind(1)):
        with pytest.raises(BadInput, match=r"line 1 of .*metrics\.jsonl is damaged"):
            read()


def test_a_record_without_an_iteration_is_a_bug(tmp_path):
    with pytest.raises(ValueError, match="iteration"):
        Metrics(tmp_path).append({"loss": 1})


def test_without_tensorboardx_there_is_one_warning_and_the_lines_are_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX.event_file_writer", None)
    warnings: list[str] = []
    metrics = Metrics(tmp_path, warn=warnings.append)
    metrics.append({"iteration": 1})
    metrics.rewind(1)
    metrics.append({"iteration": 2})
    metrics.close()
    assert iterations(tmp_path) == [1, 2]
    assert len(warnings) == 1 and "tensorboardX is not installed" in warnings[0]
    assert not (tmp_path / "tensorboard").exists()


def test_a_full_disk_stops_the_run(tmp_path, monkeypatch):
    metrics = Metrics(tmp_path)
    metrics.append({"iteration": 1})

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    with pytest.raises(RunStopped, match=r"disk is full: could not write .*metrics.jsonl"):
        metrics.append({"iteration": 2})
    monkeypatch.undo()
    metrics.close()
