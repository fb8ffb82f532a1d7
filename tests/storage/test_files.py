import concurrent.futures
import contextlib
import errno
import os
import subprocess
import sys

import pytest

from beamzero.core.errors import BadInput, RunStopped
from beamzero.storage import files


@pytest.mark.parametrize("data", [b"\x00\xff", "text, ünïcode"])
def test_what_is_written_is_read_and_nothing_else_is_left(tmp_path, data):
    files.write_atomically(tmp_path / "file", "old")
    files.write_atomically(tmp_path / "file", data)
    assert (tmp_path / "file").read_bytes() == (data if isinstance(data, bytes) else data.encode())
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_content(tmp_path, monkeypatch, call):
    files.write_atomically(tmp_path / "file", "old")

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, call, fail)
    with pytest.raises(OSError, match="No space"):
        files.write_atomically(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_sha256_of_a_known_text(tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")
    assert files.sha256(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def chained(cause: Exception) -> Exception:
    error = RuntimeError("something else")
    error.__cause__ = cause
    return error


FULL = [
    OSError(errno.ENOSPC, "x"),
    OSError(errno.EDQUOT, "x"),
    OSError(errno.EFBIG, "x"),
    chained(OSError(errno.ENOSPC, "x")),
    ExceptionGroup("several", [ValueError("x"), OSError(errno.ENOSPC, "x")]),
    ValueError("OUT_OF_RANGE: Failed to write 6424 bytes to file 15: File too large [os_error_code='27']"),
    ValueError("Error writing local file: No space left on device"),
    RuntimeError("RESOURCE_EXHAUSTED: cannot write: the disk has no room"),
]
NOT_FULL = [
    OSError(errno.EACCES, "Permission denied"),
    ValueError("x"),
    RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes"),
    chained(ValueError("x")),
    None,
]


@pytest.mark.parametrize("error", FULL, ids=str)
def test_a_full_disk_is_recognised(error):
    assert files.out_of_space(error)
    with pytest.raises(RunStopped, match=r"^the disk is full: could not write it$"), files.writing("it"):
        raise error


@pytest.mark.parametrize("error", NOT_FULL, ids=str)
def test_other_errors_are_not_a_full_disk(error):
    assert not files.out_of_space(error)


def test_an_error_that_goes_round_in_a_circle_ends():
    error = ValueError("x")
    error.__context__ = RuntimeError("y")
    error.__context__.__context__ = error
    assert not files.out_of_space(error)


def test_other_system_errors_become_one_line_and_bugs_stay_bugs():
    with pytest.raises(BadInput, match=r"^could not write it: Permission denied$"), files.writing("it", BadInput):
        raise OSError(errno.EACCES, "Permission denied")
    with pytest.raises(TypeError), files.writing("it"):
        raise TypeError("a bug")


def test_processes_that_read_and_replace_a_file_take_turns(tmp_path):
    path, ready = tmp_path / "lines", tmp_path / "ready"
    program = f"""if True:
        import pathlib, sys, time
        from beamzero.storage.files import taking_turns, write_atomically
        path = pathlib.Path({str(path)!r})
        while not pathlib.Path({str(ready)!r}).exists():
            time.sleep(0.001)
        for number in range(25):
            with taking_turns(path) as before:
                write_atomically(path, before + f"{{sys.argv[1]}} {{number}}\\n".encode())
    """
    words = [sys.executable, "-c", program]
    others = [subprocess.Popen([*words, str(number)]) for number in range(6)]
    ready.touch()
    assert [other.wait() for other in others] == [0] * 6
    lines = path.read_text().splitlines()
    assert sorted(lines) == sorted(f"{writer} {number}" for writer in range(6) for number in range(25))
    assert {file.name for file in tmp_path.iterdir()} == {"lines", "ready"}


def test_a_turn_in_which_nothing_was_written_leaves_nothing_behind(tmp_path):
    with pytest.raises(ZeroDivisionError), files.taking_turns(tmp_path / "new") as before:
        assert before == b"" and 1 / 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_where_a_folder_has_no_locks_nobody_waits(tmp_path, monkeypatch, error):
    def refuse(*_):
        raise OSError(error, "no locks here")

    monkeypatch.setattr("fcntl.flock", refuse)
    with files.taking_turns(tmp_path / "new") as before:
        files.write_atomically(tmp_path / "new", before + b"one")
    assert (tmp_path / "new").read_bytes() == b"one"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_pipes_and_devices_are_neither_read_nor_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to(os.devnull)
    for name in ("pipe", "device"):
        with pytest.raises(OSError, match="it is no ordinary file"):
            files.read_file(tmp_path / name)
        with pytest.raises(BadInput, match=f"{name} is no ordinary file, but a book is one"):
            files.check_writable(tmp_path / name, "a book is")
    with pytest.raises(IsADirectoryError):
        files.read_file(tmp_path)


WRITER = """if True:
    import os, pathlib, sys, time
    from beamzero.storage import files
    sync = os.fsync
    def stop(descriptor):
        print("writing", flush=True)
        sys.stdin.readline()
        sync(descriptor)
    files.os.fsync = stop
    files.sync_folder = lambda folder: None
    files.write_atomically(pathlib.Path(sys.argv[1]), "theirs")
"""


@contextlib.contextmanager
def writer(path):
    """A process that has begun to write `path` and waits for a line."""
    words = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "writing\n"
        yield process


def strays(folder):
    return [path for path in folder.iterdir() if path.name.startswith(files.TEMPORARY)]


def test_what_a_killed_writer_left_is_removed_by_the_next_writer_of_the_same_file(tmp_path):
    with writer(tmp_path / "file") as process:
        process.kill()
    (stray,) = strays(tmp_path)
    files.write_atomically(tmp_path / "file-2", "mine")
    files.write_atomically(tmp_path / "fil", "mine")
    assert strays(tmp_path) == [stray], "which is another file's"
    files.write_atomically(tmp_path / "file", "mine")
    assert not strays(tmp_path) and (tmp_path / "file").read_text() == "mine"


def test_a_writer_that_lives_is_not_robbed(tmp_path):
    with writer(tmp_path / "file") as process:
        files.write_atomically(tmp_path / "file", "mine")
        assert (tmp_path / "file").read_text() == "mine" and len(strays(tmp_path)) == 1
        process.communicate("\n")
    assert process.returncode == 0
    assert (tmp_path / "file").read_text() == "theirs" and not strays(tmp_path)


def age(path, seconds):
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


@pytest.mark.parametrize("locks", [True, False])
@pytest.mark.parametrize("machine", ["this", "other", "unknown"])
@pytest.mark.parametrize("days", [0.5, 2])
def test_where_locks_say_nothing_a_stray_is_one_after_a_day(tmp_path, monkeypatch, locks, machine, days):
    path = tmp_path / "file"
    stray = files.temporary_beside(path)
    if machine != "this":
        *beginning, name, number = stray.name.split("-")
        name = "" if machine == "unknown" else "-ffff" if name == "0000" else "-0000"
        stray = tmp_path / f"{'-'.join(beginning)}{name}-{number}"
    stray.write_text("half")
    age(stray, days * 24 * 3600)
    if not locks:

        def refuse(*_):
            raise OSError(errno.ENOLCK, "no locks here")

        monkeypatch.setattr("fcntl.flock", refuse)
    files.write_atomically(path, "whole")
    assert stray.exists() == (days < 1 and not (locks and machine == "this"))


def test_only_files_are_taken_for_strays(tmp_path):
    path, other = tmp_path / "file", tmp_path / "other"
    other.write_text("somebody's")
    link, folder = files.temporary_beside(path), files.temporary_beside(path)
    link.symlink_to(other)
    folder.mkdir()
    files.write_atomically(path, "whole")
    assert link.is_symlink() and folder.is_dir() and other.read_text() == "somebody's"


def test_a_file_that_is_taken_for_a_stray_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    usual, seen = files._lock, []

    def slow(descriptor, wait=True):
        if not seen:
            (stray,) = strays(tmp_path)
            stray.unlink()
        seen.append(descriptor)
        return usual(descriptor, wait)

    monkeypatch.setattr(files, "_lock", slow)
    files.write_atomically(tmp_path / "file", "whole")
    assert (tmp_path / "file").read_text() == "whole" and len(seen) == 2


def test_many_writers_of_one_file_do_not_rob_each_other(tmp_path):
    path = tmp_path / "file"

    def write(number):
        for _ in range(25):
            files.write_atomically(path, f"{number}")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert path.read_text() in map(str, range(8)) and not strays(tmp_path)


def test_create_leaves_a_file_that_is_there(tmp_path):
    path = tmp_path / "file"
    files.create_atomically(path, b"one")
    files.create_atomically(path, b"other")
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


def test_create_where_folders_have_no_links(tmp_path, monkeypatch):
    def no_links(*_):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(files.os, "link", no_links)
    path = tmp_path / "file"
    files.create_atomically(path, b"one")
    files.create_atomically(path, b"other")
    assert path.read_bytes() == b"one"
