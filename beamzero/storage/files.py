"""Files that are there whole or not at all, and errors of a full disk."""

from __future__ import annotations

import concurrent.futures
import contextlib
import errno
import functools
import hashlib
import os
import platform
import re
import secrets
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from beamzero.core.errors import BadInput, RunStopped

TEMPORARY = ".writing-"
"""How the name of every unfinished file or folder begins. A kill may leave one behind; nothing ever reads it, and the
next writer of the same file removes it."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
_A_DAY = 24 * 3600.0
_FULL_TEXT = re.compile(
    r"no space left|disk quota exceeded|quota exceeded|file too large|(disk|device|file ?system) (is )?full"
    r"|not enough (disk )?space|resource_exhausted\b.*\b(disk|storage|file ?system)\b",
    re.IGNORECASE | re.DOTALL,
)


def temporary_beside(path: Path) -> Path:
    """Make up a name in the folder of `path` that no other process uses, for a file or folder while it is written."""
    return path.parent / f"{TEMPORARY}{path.name}-{_this_machine()}-{secrets.token_hex(4)}"


def write_atomically(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Make `data` the content of `path`. After a kill or a full disk the old content is still there, untouched.

    Unfinished files that killed writers of `path` left are removed.
    """
    path = Path(path)
    with _unfinished(path) as file:
        _write_to_disk(file, data.encode() if isinstance(data, str) else data)
        if os.name == "nt":  # Windows renames no open file
            file.close()
        os.replace(file.name, path)
    sync_folder(path.parent)


def create_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Make a file of `data` where there is none. A file that is there, or that another process makes first, stays."""
    path = Path(path)
    with _unfinished(path) as file:
        _write_to_disk(file, data)
        try:
            os.link(file.name, path)
        except FileExistsError:
            return
        except OSError:  # a folder without links: other processes may see the file before it is whole
            with contextlib.suppress(FileExistsError), open(path, "xb") as target:
                target.write(data)
    sync_folder(path.parent)


@contextlib.contextmanager
def _unfinished(path: Path) -> Iterator[BinaryIO]:
    """Open a new file beside `path`, locked while it is open so that others see that its writer lives; gone at the end.

    Unfinished files that killed writers of `path` left are removed.
    """
    with contextlib.ExitStack() as stack:
        while True:
            temporary = temporary_beside(path)
            stack.callback(temporary.unlink, missing_ok=True)
            file = stack.enter_context(open(temporary, "wb"))
            with contextlib.suppress(OSError):  # a lock that fails must not keep anyone from writing
                _lock(file.fileno())
            if _is_at(file.fileno(), temporary):
                break
            stack.close()  # it was taken for a stray before it was locked
        _remove_strays(path, file)
        yield file


def _write_to_disk(file: BinaryIO, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def _remove_strays(path: Path, mine: BinaryIO) -> None:
    """Remove unfinished files for `path` whose writers are dead; `mine` is the one that is being written now.

    A stray of this machine is one that is not locked. Not every network folder tells one machine of the locks of
    another, so that a file of another machine, or any where there are no locks, must be a day old as well.
    """
    names = re.compile(rf"{re.escape(TEMPORARY + path.name)}(?:-([0-9a-f]{{4}}))?-[0-9a-f]{{8}}")
    now = os.fstat(mine.fileno()).st_mtime  # by the clock of the folder, which may be that of another machine
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            match = names.fullmatch(entry.name)
            if match is None or entry.name == Path(mine.name).name:
                continue
            with contextlib.suppress(OSError):  # its writer lives, another was quicker, or we may not
                if entry.is_file(follow_symlinks=False):
                    here, age = match[1] == _this_machine(), now - entry.stat(follow_symlinks=False).st_mtime
                    _remove_if_dead(entry.path, here, age > _A_DAY)


def _remove_if_dead(stray: str, here: bool, old: bool) -> None:
    """Remove an unfinished file; OSError where its writer lives."""
    with open(stray, "r+b") as file:
        locked = _lock(file.fileno(), wait=False)
        if locked and (here or old):
            os.unlink(stray)
    if old and not locked:  # closed by now, as Windows wants it
        os.unlink(stray)


@contextlib.contextmanager
def taking_turns(path: Path) -> Iterator[bytes]:
    """Wait until no other process changes `path`, and keep others waiting. Yields its content, b"" where there is none.

    For callers that read a file and replace it by `write_atomically`. The lock ends with the process, however that
    ends. It holds between machines too where a network folder has locks, as NFS has; where there are none (some
    network folders, Windows) no process waits.
    """
    there_before = path.exists()
    with contextlib.ExitStack() as stack:
        while True:
            file = stack.enter_context(open(path, "a+b"))
            _lock(file.fileno())
            if _is_at(file.fileno(), path):
                break
            stack.close()  # it was replaced while we waited: this lock is that of the old file
        file.seek(0)
        content = file.read()
        try:
            yield content
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                if not there_before and path.stat().st_size == 0:
                    path.unlink()
            raise


def _lock(descriptor: int, wait: bool = True) -> bool:
    """Take the lock of an open file; BlockingIOError where another has it and we do not `wait`.

    False where there are no locks. The lock goes with the file or the process, whichever ends first.
    """
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except ImportError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Tell whether an open file is still the one at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@functools.cache
def _this_machine() -> str:
    return hashlib.sha256(platform.node().encode(errors="replace")).hexdigest()[:4]


def sync_folder(folder: Path) -> None:
    """Wait until the names in `folder` are on the disk."""
    if os.name == "nt":  # Windows cannot open a folder, and needs no sync to keep a rename
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Wait until everything in `folder`, at any depth, is on the disk. At once, since the disk can join the waits."""
    paths = [folder, *folder.rglob("*")]
    with concurrent.futures.ThreadPoolExecutor(max_workers=16) as pool:
        list(pool.map(lambda path: sync_folder(path) if path.is_dir() else _sync_file(path), paths))


def _sync_file(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Read an ordinary file; OSError for a folder, and for a pipe or a device, which may never end."""
    with open(path, "rb", opener=open_ordinary) as file:
        return file.read()


def open_ordinary(path: str, flags: int) -> int:
    """Open a file as `open` wants its opener to; OSError for a pipe or a device."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is no ordinary file", path)
    return os.open(path, flags)


def sha256(path: str | os.PathLike[str]) -> str:
    """Compute the SHA-256 of a file's content, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def out_of_space(error: BaseException | None) -> bool:
    """Tell whether `error`, or an error that caused it, is that the disk, a quota or a file-size limit is full."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, OSError) and current.errno in _FULL:
            return True
        if _FULL_TEXT.search(str(current)):  # orbax and tensorstore raise ValueError with the system's words inside
            return True
        waiting += [current.__cause__, current.__context__, *getattr(current, "exceptions", ())]
    return False


@contextlib.contextmanager
def writing(what: str, otherwise: type[Exception] = RunStopped) -> Iterator[None]:
    """Say in one line why `what` could not be written: RunStopped for a full disk, `otherwise` for the rest."""
    try:
        yield
    except (BadInput, RunStopped):
        raise
    except Exception as error:
        if out_of_space(error):
            raise RunStopped(f"the disk is full: could not write {what}") from error
        if isinstance(error, OSError):
            raise otherwise(f"could not write {what}: {reason(error)}") from error
        raise


def check_writable(path: Path, what: str) -> None:
    """Raise BadInput where no file can be written, so that it is known before the work begins.

    `what` is to be written, as in "a book is". A pipe or a device is not written to either: `write_atomically` would
    put a file in its place.
    """
    if path.is_dir():
        raise BadInput(f"{path} is a folder, but {what} one file")
    if path.exists() and not path.is_file():
        raise BadInput(f"{path} is no ordinary file, but {what} one")
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent} to write {path.name} into")
    probe = temporary_beside(path)
    with writing(str(path), otherwise=BadInput):
        probe.touch()
        probe.unlink(missing_ok=True)  # another writer may have taken it for a stray


def reason(error: BaseException) -> str:
    """Give the message of an error, in one line."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split()) or type(error).__name__


def warn_if_empty(path: Path, what: str) -> None:
    """Warn that a file which is there holds nothing: SQLite begins it anew, and a disk may have lost what it held."""
    if path.is_file() and path.stat().st_size == 0:
        warnings.warn(f"{path} was empty and is begun anew: if it held {what}, they are lost", stacklevel=3)
