import json
import os
import signal
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from beamzero.core.errors import BadInput, RunStopped
from beamzero.storage import checkpoints as module
from beamzero.storage import trees
from beamzero.storage.checkpoints import Checkpoints
from beamzero.storage.files import TEMPORARY
from beamzero.storage.seal import seal
from beamzero.storage.trees import named_leaves


class Moments(NamedTuple):
    mean: Any
    count: Any


def odd_bits(dtype, size=257):
    """Every kind of bits: signalling and quiet NaNs with payloads, infinities, both zeros, denormals."""
    word = np.dtype(f"uint{8 * np.dtype(dtype).itemsize}")
    bits = np.random.default_rng(0).integers(0, np.iinfo(word).max, size, word, endpoint=True)
    special = np.array([0x7F800001, 0xFFC12345, 0x7F800000, 0x80000000, 0, 1], np.uint32).view(word)
    return np.concatenate([special, bits]).view(dtype)


def bits(tree):
    return [(np.asarray(x).dtype, np.shape(x), np.asarray(x).tobytes()) for x in jax.tree_util.tree_leaves(tree)]


def forbid(line: str):
    raise AssertionError(line)


def small(step: int):
    return {"weights": np.full((3, 4), step, np.float32), "key": np.array([step, 7], np.uint32)}


@pytest.fixture
def three(tmp_path):
    """Checkpoints 1, 2 and 3 of `small`."""
    checkpoints = Checkpoints(tmp_path / "checkpoints", keep=3)
    for step in (1, 2, 3):
        checkpoints.save(step, small(step), {"step": step})
    return checkpoints


def folder_of(checkpoints, step):
    return next(checkpoints.folder.glob(f"{step:08d}-*"))


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def flip_a_bit(path, at=0.5):
    data = bytearray(path.read_bytes())
    data[int(len(data) * at)] ^= 1
    path.write_bytes(data)


# Round trips


def test_every_bit_dtype_shape_and_container_comes_back(tmp_path):
    tree = {
        "float32": jnp.asarray(odd_bits(np.float32)),
        "bfloat16": jnp.asarray(odd_bits(jnp.bfloat16)),
        "float16": odd_bits(np.float16),
        "uint32": jnp.asarray(odd_bits(np.uint32)),
        "of numpy": [np.arange(-6, 6, dtype=np.int32).reshape(3, 4).T, np.array([True, False])],
        "with/slash and.dot": Moments(mean=jnp.full((2, 3), -0.0, jnp.float32), count=jnp.int32(7)),
        "nothing": {"none": None, "dict": {}, "array": np.zeros((0, 3), np.int8)},
    }
    checkpoints = Checkpoints(tmp_path, keep=1)
    note = {"seed": 3, "loss": 0.1 + 0.2, "text": "ü", "deep": {"list": [1, None, True]}}
    checkpoints.save(12, tree, note)
    like = jax.tree_util.tree_map(np.zeros_like, tree)
    like["float32"] = jnp.zeros_like(tree["float32"])
    like["bfloat16"] = jax.ShapeDtypeStruct(tree["bfloat16"].shape, jnp.bfloat16)
    step, restored, again = checkpoints.restore(like, warn=forbid)
    assert (step, again) == (12, note)
    assert list(named_leaves(restored)) == list(named_leaves(tree))
    assert isinstance(restored["with/slash and.dot"], Moments) and restored["nothing"]["none"] is None
    assert bits(restored) == bits(tree)
    assert isinstance(restored["float32"], jax.Array) and not restored["float32"].committed
    assert isinstance(restored["bfloat16"], jax.Array)
    assert isinstance(restored["uint32"], np.ndarray)


@pytest.mark.parametrize("tree", [{}, np.float32(1.5), jnp.arange(3)], ids=["empty", "scalar", "one array"])
def test_the_smallest_trees_come_back(tmp_path, tree):
    checkpoints = Checkpoints(tmp_path, keep=1)
    checkpoints.save(0, tree, {})
    assert bits(checkpoints.restore(tree, warn=forbid).tree) == bits(tree)


def test_a_relative_folder_will_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Checkpoints("here", keep=1).save(1, small(1), {})
    assert Checkpoints("here", keep=1).restore(small(0)).step == 1


def test_reading_makes_nothing(tmp_path):
    checkpoints = Checkpoints(tmp_path / "none", keep=1)
    assert checkpoints.steps() == [] and checkpoints.best_step is None
    with pytest.raises(RunStopped, match="no checkpoint in"):
        checkpoints.restore(small(0))
    assert not (tmp_path / "none").exists()


def test_a_step_can_be_asked_for(three):
    assert three.restore(small(0), step=2).note == {"step": 2}
    with pytest.raises(BadInput, match=r"no checkpoint 9 .*\(there are: 1, 2, 3\)"):
        three.restore(small(0), step=9)


def test_nothing_is_printed_or_logged(three, capfd, caplog):
    three.save(4, small(4), {})
    three.restore(small(0))
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


# Which checkpoints stay


def test_the_last_ones_and_the_best_stay(tmp_path):
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in range(6):
        checkpoints.save(step, small(step), {})
        if step == 1:
            checkpoints.mark_best(step)
    assert checkpoints.steps() == [1, 4, 5]
    assert Checkpoints(tmp_path, keep=2).best_step == 1
    checkpoints.mark_best(5)
    checkpoints.save(6, small(6), {})
    assert checkpoints.steps() == [5, 6]
    with pytest.raises(ValueError):
        checkpoints.mark_best(1)


def test_saving_an_earlier_step_gives_up_the_later_ones(three):
    three.mark_best(3)
    three.save(2, small(20), {"step": 20})
    assert three.steps() == [1, 2]
    assert three.best_step is None
    assert three.restore(small(0), warn=forbid).note == {"step": 20}
    three.save(3, small(3), {})
    assert three.best_step is None


def test_what_a_kill_left_is_ignored_by_readers_and_removed_by_the_next_save(three):
    stray = three.folder / f"{TEMPORARY}00000009-1-abc"
    (stray / "tree").mkdir(parents=True)
    (stray / "tree" / "half").write_bytes(b"x")
    assert Checkpoints(three.folder, keep=3).restore(small(0), warn=forbid).step == 3
    assert stray.exists()
    three.save(4, small(4), {})
    assert not stray.exists()


# Damage


def test_a_flipped_bit_in_any_file_is_reported_and_the_checkpoint_before_is_used(three):
    for path in files_of(folder_of(three, 3)):
        for at in (0, 0.3, 0.5, 0.999):
            whole = path.read_bytes()
            flip_a_bit(path, at)
            (problem,) = three.verify(3)
            assert path.name in problem
            if at == 0.5:
                warnings: list[str] = []
                restored = three.restore(small(0), warn=warnings.append)
                assert restored.step == 2 and bits(restored.tree) == bits(small(2))
                (line,) = warnings
                assert "checkpoint 3" in line and path.name in line and "\n" not in line
            path.write_bytes(whole)
    assert three.verify(3) == []


def test_a_missing_or_cut_file_is_reported(three):
    for path in files_of(folder_of(three, 3)):
        whole = path.read_bytes()
        path.write_bytes(whole[:-1])
        assert len(three.verify(3)) == 1
        path.write_bytes(b"")
        assert len(three.verify(3)) == 1
        path.unlink()
        assert three.verify(3) == [f"{path.relative_to(folder_of(three, 3)).as_posix()} is missing"]
        path.write_bytes(whole)


def test_a_checkpoint_under_another_step_is_reported(three):
    folder_of(three, 3).rename(three.folder / "00000008-1")
    assert three.verify(8) == ["manifest.json: it belongs to step 3"]
    assert three.verify(3) == ["there is no checkpoint 3"]


@pytest.mark.parametrize("text", [b"", b"[]", b"null", b"{}", b"[" * 100_000, b"\xff\xfe"])
def test_any_garbage_for_a_manifest_is_reported(three, text):
    (folder_of(three, 3) / "manifest.json").write_bytes(text)
    assert three.verify(3) == ["manifest.json: its content was changed or cut"]


@pytest.mark.parametrize("key", ["format", "step", "note", "leaves", "files"])
def test_a_sealed_manifest_that_says_something_else_is_reported(three, key):
    path = folder_of(three, 3) / "manifest.json"
    manifest = json.loads(path.read_bytes())
    for value in (None, True, 7, "text", [1], {"a": 1}, {"a": {"b": 1}}, {"weights": [1]}):
        if not (key == "note" and isinstance(value, dict)):
            path.write_bytes(seal({**manifest, key: value}))
            assert len(three.verify(3)) == 1
            assert three.restore(small(0), warn=lambda _: None).step == 2
    path.write_bytes(seal({name: item for name, item in manifest.items() if name != key}))
    assert len(three.verify(3)) == 1


def test_where_nothing_is_whole_the_run_stops_in_one_line(three):
    for step in (1, 2, 3):
        (folder_of(three, step) / "manifest.json").unlink()
    warnings: list[str] = []
    with pytest.raises(RunStopped, match="no checkpoint that is whole"):
        three.restore(small(0), warn=warnings.append)
    assert len(warnings) == 3


def test_a_damaged_step_that_was_asked_for_is_not_replaced_by_another(three):
    flip_a_bit(files_of(folder_of(three, 2))[-1])
    with pytest.raises(RunStopped, match="no whole checkpoint 2"):
        three.restore(small(0), step=2, warn=lambda _: None)


def test_what_orbax_cannot_read_counts_as_damaged(three, monkeypatch):
    def fail(folder, *arguments):
        if "00000003" in str(folder):
            raise ValueError("some\nlong story")
        return trees.read_tree(folder, *arguments)

    monkeypatch.setattr(module, "read_tree", fail)
    warnings: list[str] = []
    assert three.restore(small(0), warn=warnings.append).step == 2
    assert warnings[0].endswith("tree: some long story")


@pytest.mark.parametrize(
    "like, message",
    [
        ({"weights": np.zeros((3, 4), np.float32)}, r"\['key'\] is uint32\[2\] there, but absent in this run"),
        ({**small(0), "more": np.zeros(1)}, r"\['more'\] is absent there, but float64\[1\] in this run"),
        ({**small(0), "weights": np.zeros((4, 3), np.float32)}, r"is float32\[3,4\] there, but float32\[4,3\] in"),
        ({**small(0), "weights": jnp.zeros((3, 4), jnp.bfloat16)}, r"but bfloat16\[3,4\] in this run"),
    ],
)
def test_another_structure_is_bad_input(three, like, message):
    with pytest.raises(BadInput, match=message):
        three.restore(like, warn=forbid)


def test_a_part_of_the_tree_can_be_restored_alone(three):
    like = {"key": np.zeros(2, np.uint32)}
    assert bits(three.restore(like, warn=forbid, part=True).tree) == bits({"key": small(3)["key"]})
    with pytest.raises(BadInput, match=r"\['more'\] is absent there"):
        three.restore({"more": np.zeros(1)}, part=True)


# A full disk


@pytest.mark.parametrize("call", ["write_tree", "write_atomically", "sync_tree"])
def test_a_full_disk_stops_the_run_and_leaves_the_last_checkpoint(three, monkeypatch, call):
    def full(folder, *_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module, call, full)
        with pytest.raises(RunStopped, match="disk is full: could not write checkpoint 4"):
            three.save(4, small(4), {})
    assert three.restore(small(0), warn=forbid).step == 3
    assert not list(three.folder.glob(f"{TEMPORARY}*"))
    three.save(4, small(4), {})
    assert three.restore(small(0), warn=forbid).step == 4


FULL_DISK = """
import asyncio, resource, sys
import numpy as np
from beamzero.core.errors import RunStopped
from beamzero.storage.checkpoints import Checkpoints
def hooks():
    return asyncio.new_event_loop, asyncio.BaseEventLoop.call_soon_threadsafe, sys.unraisablehook
usual = hooks()
checkpoints = Checkpoints(sys.argv[1], keep=2)
tree = {f"weights {i}": np.random.default_rng(i).normal(size=10000) for i in range(20)}
checkpoints.save(1, tree, {})
for limit in (10000, 500):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        checkpoints.save(2, tree, {})
    except RunStopped as error:
        print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
checkpoints.restore(tree)
checkpoints.save(2, tree, {})
print(checkpoints.steps())
assert hooks() == usual, "no other code of the process sees a difference"
"""


@pytest.mark.slow
def test_a_real_limit_on_file_sizes_stops_the_run_in_one_line(tmp_path, start):
    out, err = start(FULL_DISK, tmp_path).communicate()
    assert err == ""
    *stops, steps = out.splitlines()
    assert len(stops) == 2 and all(line.startswith("the disk is full: could not write checkpoint 2") for line in stops)
    assert steps == "[1, 2]"


# Kills


def growing(step: int):
    return {"weights": np.full(50_000, step, np.float32), "key": np.array([step, 7], np.uint32)}


SAVE_FOREVER = """
import sys
import numpy as np
from beamzero.storage.checkpoints import Checkpoints
checkpoints = Checkpoints(sys.argv[1], keep=2)
step = max(checkpoints.steps(), default=0)
while True:
    step += 1
    tree = {"weights": np.full(50_000, step, np.float32), "key": np.array([step, 7], np.uint32)}
    checkpoints.save(step, tree, {"step": step})
    print(step, flush=True)
"""


@pytest.mark.slow
def test_after_a_kill_at_any_time_the_newest_checkpoint_is_whole(tmp_path, start):
    checkpoints = Checkpoints(tmp_path, keep=2)
    for delay in (0.0, 0.013, 0.037, 0.091):
        process = start(SAVE_FOREVER, tmp_path)
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        printed = process.communicate()[0].split()
        newest = max(checkpoints.steps())
        assert not printed or newest >= int(printed[-1])
        assert not any(map(checkpoints.verify, checkpoints.steps()))
        restored = checkpoints.restore(growing(0), warn=forbid)
        assert restored.step == newest == restored.note["step"]
        assert bits(restored.tree) == bits(growing(newest))


DIE_AT_EACH_CALL = """
import itertools, os, signal, sys
import numpy as np
import orbax.checkpoint
from beamzero.storage.checkpoints import Checkpoints

def save(folder, call_to_die_at):
    checkpoints = Checkpoints(folder, keep=1)
    checkpoints.save(1, {"weights": np.full(99, 1.0)}, {})
    left = itertools.count(call_to_die_at, -1)
    def dying(call):
        def wrapped(*arguments, **options):
            if next(left) == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)
        return wrapped
    for name in ("mkdir", "fsync", "rename", "replace", "unlink", "rmdir"):
        setattr(os, name, dying(getattr(os, name)))
    checkpoints.save(2, {"weights": np.full(99, 2.0)}, {})

for call in itertools.count(0, int(sys.argv[2])):
    child = os.fork()  # before anything has started a thread
    if child == 0:
        save(f"{sys.argv[1]}/{call}", call)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


@pytest.mark.slow
def test_a_kill_at_any_step_of_a_save_leaves_the_old_checkpoint_or_the_new_one(tmp_path, start):
    process = start(DIE_AT_EACH_CALL, tmp_path, 3)
    process.communicate()
    assert process.returncode == 0
    newest = []
    for folder in sorted(tmp_path.iterdir(), key=lambda path: int(path.name)):
        checkpoints = Checkpoints(folder, keep=1)
        step, tree, _ = checkpoints.restore({"weights": np.zeros(99)}, warn=forbid)
        assert bits(tree) == bits({"weights": np.full(99, float(step))})
        assert not any(map(checkpoints.verify, checkpoints.steps()))
        newest.append(step)
        checkpoints.save(3, {"weights": np.full(99, 3.0)}, {})
        assert checkpoints.steps() == [3] and len(os.listdir(folder)) == 1
    assert newest == sorted(newest) and set(newest) == {1, 2}
