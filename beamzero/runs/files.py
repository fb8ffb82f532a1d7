"""Files that are there whole or not at all, and what a full disk looks like."""

from __future__ import annotations

import concurrent.futures
import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from beamzero.errors import BadInput, RunStopped

TEMPORARY = ".writing-"
"""How the name of every unfinished file or folder begins. A kill may leave one behind; nothing ever reads it."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
_FULL_TEXT = re.compile(
    r"no space left|disk quota exceeded|quota exceeded|file too large|(disk|device|file ?system) (is )?full"
    r"|not enough (disk )?space|resource_exhausted\b.*\b(disk|storage|file ?system)\b",
    re.IGNORECASE | re.DOTALL,
)


def temporary_beside(path: Path) -> Path:
    """A name in the folder of `path` that nobody else uses, for what is being written."""
    return path.parent / f"{TEMPORARY}{path.name}-{secrets.token_hex(4)}"


def write_atomically(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Make `data` the content of `path`. After a kill or a full disk the old content is still there, untouched."""
    path = Path(path)
    temporary = temporary_beside(path)
    try:
        with open(temporary, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@contextlib.contextmanager
def taking_turns(path: Path) -> Iterator[bytes]:
    """Wait until no other process changes `path`, and keep others waiting. Gives its content, b"" where there is none.

    For those who read a file and replace it by `write_atomically`. The lock goes with the process, however that ends.
    It holds between machines too where a network folder has locks, as NFS has; where there are none (some network
    folders, Windows) nobody waits.
    """
    there_before = path.exists()
    with contextlib.ExitStack() as stack:
        while True:
            file = stack.enter_context(open(path, "a+b"))
            _wait_for_lock(file.fileno())
            if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
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


def _wait_for_lock(descriptor: int) -> None:
    with contextlib.suppress(ImportError):
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise


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
    """The content of an ordinary file; OSError for a folder, and for a pipe or a device, which may never end."""
    with open(path, "rb", opener=open_ordinary) as file:
        return file.read()


def open_ordinary(path: str, flags: int) -> int:
    """Open a file as `open` wants its opener to; OSError for a pipe or a device."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is no ordinary file", path)
    return os.open(path, flags)


def sha256(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file's content, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def out_of_space(error: BaseException | None) -> bool:
    """Whether `error`, or an error that caused it, says that the disk, a quota or a file-size limit is full."""
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
    """BadInput where no file can be written, so that it is known before the work begins.

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
        probe.unlink()


def reason(error: BaseException) -> str:
    """What an error says, in one line."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split()) or type(error).__name__
