"""A run folder, and a list of them.

RUN/
  run.json         what is trained, and how; sealed, see seal.py
  checkpoints/     see checkpoints.py
  metrics.jsonl    see metrics.py
  tensorboard/
  anchors.json     what the opponents of ratings are rated, sealed too
  plot.png
  lock             held by the process that trains
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Any

from beamzero.core.errors import BadInput, RunStopped
from beamzero.storage.files import TEMPORARY, read_file, reason, write_atomically, writing
from beamzero.storage.metrics import FILE as METRICS
from beamzero.storage.metrics import read_metrics, seal_metrics
from beamzero.storage.seal import SEAL, seal, unseal

FORMAT = "beamzero-run-2"
UNSEALED = "beamzero-run-1"
"""The format of version 0.1, which sealed neither run.json nor the lines of metrics."""
FILE = "run.json"

_KINDS: dict[str, tuple[type, ...]] = {
    "game": (str,), "game_text": (str,), "algorithm": (str,), "recipe": (str, NoneType), "settings": (dict,),
    "seed": (int,), "from": (str, NoneType), "created": (str,),
}  # fmt: skip
"""Types of the entries of run.json that are there."""


@dataclasses.dataclass(frozen=True)
class Run:
    """A folder that holds a run. `about` is what run.json says: the settings, "format" and "created"."""

    folder: Path
    about: dict[str, Any]

    @classmethod
    def create(cls, folder: str | os.PathLike[str], about: Mapping[str, Any]) -> Run:
        """Begin a run in a folder that is empty or does not exist yet; `about` is anything that JSON can hold."""
        folder = Path(folder)
        if (folder / FILE).exists():
            raise BadInput(f"{folder} already holds a run: go on with it by --resume, or name another folder")
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"{folder} is a file, but a run needs a folder: name another one")
        created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        about = {**about, "format": FORMAT, "created": created}
        data = seal(about)
        with writing(f"the run folder {folder}", otherwise=BadInput):
            if folder.exists() and any(not entry.name.startswith(TEMPORARY) for entry in folder.iterdir()):
                raise BadInput(f"{folder} is not empty and holds no run: name an empty or a new folder")
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / FILE, data)
        return cls(folder, unseal(data))

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Run:
        """The run in `folder`."""
        folder = Path(folder)
        path = folder / FILE
        try:
            data = read_file(path)
        except (FileNotFoundError, NotADirectoryError):
            problem = (
                "it holds no run.json" if folder.is_dir() else "it is a file" if folder.exists() else "no such folder"
            )
            raise BadInput(f"there is no run in {folder}: {problem}") from None
        except OSError as error:
            raise BadInput(f"{path} cannot be read: {reason(error)}") from None
        return cls(folder, _read_about(data, path))

    @property
    def sealed(self) -> bool:
        return bool(self.about["format"] == FORMAT)

    def seal(self) -> Run:
        """Seal a run of version 0.1, and its metrics. Only who holds the lock may."""
        about = {**self.about, "format": FORMAT}
        with writing(str(self.folder)):
            seal_metrics(self.folder)
            write_atomically(self.folder / FILE, seal(about))
        return Run(self.folder, about)

    @property
    def checkpoints_folder(self) -> Path:
        return self.folder / "checkpoints"

    @property
    def plot_path(self) -> Path:
        return self.folder / "plot.png"

    @contextlib.contextmanager
    def lock(self) -> Iterator[Callable[[], None]]:
        """Be the only process that trains in this folder. The lock goes with the process, however that ends.

        Gives a function that raises RunStopped if the folder is no longer there.
        """
        with only_one(self.folder) as check_folder:
            yield check_folder


def _read_about(data: bytes, path: Path) -> dict[str, Any]:
    """Read run.json; BadInput where it was changed, or an entry has the wrong type."""
    try:
        about = json.loads(data)
        format = about["format"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BadInput(f"{path} is damaged, or not the file of a beamzero run") from None
    if format == FORMAT:
        try:
            about = unseal(data)
        except ValueError:
            raise BadInput(
                f"{path} was changed since it was written: put it back as it was (what may be changed of a run is given"
                " with --resume, as in --set rate_games=100)"
            ) from None
    elif format != UNSEALED:
        raise BadInput(f"{path} has the format {format!r}, but this version of beamzero reads {FORMAT!r}")
    wrong = [key for key, kinds in _KINDS.items() if key in about and not isinstance(about[key], kinds)]
    wrong += ["seal"] * (format == UNSEALED and SEAL in about) + ["seed"] * isinstance(about.get("seed"), bool)
    wrong += ["algorithm"] * (not wrong and not about.get("algorithm", "x").isidentifier())
    if wrong:
        raise BadInput(f"{path} is damaged: what it says of {', '.join(wrong)} cannot be")
    return about


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[Callable[[], None]]:
    """Be the only process that works in a folder; BadInput where there is another. The lock goes with the process.

    Gives a function that raises RunStopped if the folder is no longer there, or another one has its name.
    """
    with contextlib.ExitStack() as stack:
        path = folder / "lock"
        with writing(f"the lock of {folder}", otherwise=BadInput):
            file = stack.enter_context(open(path, "a+"))
            _take(file.fileno(), folder)

        def check_folder() -> None:
            try:
                same = os.path.samestat(os.fstat(file.fileno()), path.stat())
            except OSError:
                same = False
            if not same:
                raise RunStopped(f"{folder} was deleted or moved while it was worked in, so nothing more can be saved")

        yield check_folder


def is_locked(folder: Path) -> bool:
    """Whether a process works in a folder just now, as far as this system can tell."""
    try:
        import fcntl

        with open(folder / "lock") as file:
            # Shared, so that two who ask at once do not take each other for a process that works there.
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return False
    return False


def _take(descriptor: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BadInput(f"another process is training in {folder}: stop it first, or name another folder") from None


@dataclasses.dataclass(frozen=True)
class RunSummary:
    """One line of ``beamzero runs``."""

    folder: Path
    game: str | None
    algorithm: str | None
    iterations: int
    """How many are done."""
    rating: Any
    """The last "rating" that was recorded; None before the first."""
    modified: datetime.datetime
    damaged: str | None
    """What is wrong with the folder, in one line; None when all is well."""


def list_runs(root: str | os.PathLike[str]) -> list[RunSummary]:
    """The runs in `root` and up to two folders below it, the last modified first; none where `root` does not exist."""
    root = Path(root)
    if root.exists() and not root.is_dir():
        raise BadInput(f"{root} is a file, but runs are kept in a folder")
    found = (path.parent for pattern in (FILE, f"*/{FILE}", f"*/*/{FILE}") for path in root.glob(pattern))
    return sorted(map(_summary, found), key=lambda run: run.modified, reverse=True)


def _summary(folder: Path) -> RunSummary:
    about: dict[str, Any] = {}
    records: list[dict[str, Any]] = []
    damaged = None
    try:
        about = Run.open(folder).about
        records = read_metrics(folder)
    except BadInput as error:
        damaged = str(error)
    except OSError as error:
        damaged = f"{folder / METRICS} cannot be read: {reason(error)}"
    ratings = [record["rating"] for record in records if record.get("rating") is not None]
    return RunSummary(
        folder=folder,
        game=about.get("game"),
        algorithm=about.get("algorithm"),
        iterations=records[-1]["iteration"] if records else 0,
        rating=ratings[-1] if ratings else None,
        modified=_modified(folder),
        damaged=damaged,
    )


def _modified(folder: Path) -> datetime.datetime:
    times = [0.0]
    for name in (FILE, METRICS):
        with contextlib.suppress(OSError):
            times.append((folder / name).stat().st_mtime)
    return datetime.datetime.fromtimestamp(max(times), datetime.UTC)
