"""Run folders.

    RUN/
      run.json         the game, the algorithm and the settings; sealed, see seal.py
      checkpoints/     see checkpoints.py
      metrics.jsonl    see metrics.py
      tensorboard/     the same numbers, for TensorBoard
      wandb/           files of Weights & Biases, where the run logs to it
      anchors.json     Elo of the opponents of ratings, sealed too
      plot.png         Elo with its 95% band, and the losses
      lock             held by the process that trains

One process at a time trains in a folder; any number may read it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import NoneType
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.storage.files import TEMPORARY, read_file, reason, write_atomically, writing
from beamzero.storage.folders import only_one
from beamzero.storage.metrics import METRICS_FILE, read_metrics, seal_metrics
from beamzero.storage.seal import SEAL, seal, unseal

RUN_FILE = "run.json"
_ANCHORS_FILE = "anchors.json"
_FORMAT = "beamzero-run-2"
_UNSEALED = "beamzero-run-1"
"""The format of version 0.1, which sealed neither run.json nor the lines of metrics."""

_KINDS: dict[str, tuple[type, ...]] = {
    "game": (str,), "game_text": (str,), "algorithm": (str,), "recipe": (str, NoneType), "settings": (dict,),
    "seed": (int,), "from": (str, NoneType), "created": (str,),
}  # fmt: skip
"""Types of the entries of run.json that are there."""


@dataclasses.dataclass(frozen=True)
class Run:
    """A folder that holds a run. `about` is the content of run.json: the settings, "format" and "created"."""

    folder: Path
    about: dict[str, Any]

    @classmethod
    def create(cls, folder: str | os.PathLike[str], about: Mapping[str, Any]) -> Run:
        """Create a run in a folder that is empty or does not exist yet; `about` is anything that JSON can hold."""
        folder = Path(folder)
        if (folder / RUN_FILE).exists():
            raise BadInput(f"{folder} already holds a run: go on with it by --resume, or name another folder")
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"{folder} is a file, but a run needs a folder: name another one")
        created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        about = {**about, "format": _FORMAT, "created": created}
        data = seal(about)
        with writing(f"the run folder {folder}", otherwise=BadInput):
            if folder.exists() and any(not entry.name.startswith(TEMPORARY) for entry in folder.iterdir()):
                raise BadInput(f"{folder} is not empty and holds no run: name an empty or a new folder")
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / RUN_FILE, data)
        return cls(folder, unseal(data))

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Run:
        """Open the run in `folder`; BadInput where there is none, or its run.json was changed."""
        folder = Path(folder)
        path = folder / RUN_FILE
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
        return bool(self.about["format"] == _FORMAT)

    def seal(self) -> Run:
        """Seal a run of version 0.1, and its metrics. Only the process that holds the lock may."""
        about = {**self.about, "format": _FORMAT}
        with writing(str(self.folder)):
            seal_metrics(self.folder)
            write_atomically(self.folder / RUN_FILE, seal(about))
        return Run(self.folder, about)

    @property
    def checkpoints_folder(self) -> Path:
        return self.folder / "checkpoints"

    @property
    def plot_path(self) -> Path:
        return self.folder / "plot.png"

    def read_anchors(self) -> dict[str, Any]:
        """Read how the opponents' ratings were "measured", and their "elo"; empty where the file is missing or changed.

        They are measured again then, which gives the same numbers.
        """
        try:
            known = unseal((self.folder / _ANCHORS_FILE).read_bytes())
        except (OSError, ValueError):
            return {}
        elo = known.get("elo")
        whole = isinstance(elo, dict) and all(
            isinstance(value, int | float) and math.isfinite(value) for value in elo.values()
        )
        return known if whole and isinstance(known.get("measured"), dict) else {}

    def write_anchors(self, measured: Mapping[str, Any], elo: Mapping[str, float]) -> None:
        """Write what `read_anchors` reads."""
        path = self.folder / _ANCHORS_FILE
        with writing(str(path)):
            write_atomically(path, seal({"measured": measured, "elo": elo}))

    def lock(self) -> contextlib.AbstractContextManager[Callable[[], None]]:
        """Lock the folder, so that no other process trains in it, as `only_one` does."""
        return only_one(self.folder)


def _read_about(data: bytes, path: Path) -> dict[str, Any]:
    """Read run.json; BadInput where it was changed, or an entry has the wrong type."""
    try:
        about = json.loads(data)
        format = about["format"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BadInput(f"{path} is damaged, or not the file of a beamzero run") from None
    if format == _FORMAT:
        try:
            about = unseal(data)
        except ValueError:
            raise BadInput(
                f"{path} was changed since it was written: put it back as it was (what may be changed of a run is given"
                " with --resume, as in --set rate_games=100)"
            ) from None
    elif format != _UNSEALED:
        raise BadInput(f"{path} has the format {format!r}, but this version of beamzero reads {_FORMAT!r}")
    wrong = [key for key, kinds in _KINDS.items() if key in about and not isinstance(about[key], kinds)]
    wrong += ["seal"] * (format == _UNSEALED and SEAL in about) + ["seed"] * isinstance(about.get("seed"), bool)
    wrong += ["algorithm"] * (not wrong and not about.get("algorithm", "x").isidentifier())
    if wrong:
        raise BadInput(f"{path} is damaged: what it says of {', '.join(wrong)} cannot be")
    return about


@dataclasses.dataclass(frozen=True)
class RunSummary:
    """One line of ``beamzero runs``."""

    folder: Path
    game: str | None
    algorithm: str | None
    iterations: int
    """The number of iterations that are done."""
    rating: Any
    """The last "rating" that was recorded; None before the first."""
    modified: datetime.datetime
    damaged: str | None
    """The fault of the folder, in one line; None when all is well."""


def list_runs(root: str | os.PathLike[str]) -> list[RunSummary]:
    """List the runs in `root` and up to two folders below it, the last modified first; none where it does not exist."""
    root = Path(root)
    if root.exists() and not root.is_dir():
        raise BadInput(f"{root} is a file, but runs are kept in a folder")
    found = (path.parent for pattern in (RUN_FILE, f"*/{RUN_FILE}", f"*/*/{RUN_FILE}") for path in root.glob(pattern))
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
        damaged = f"{folder / METRICS_FILE} cannot be read: {reason(error)}"
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
    for name in (RUN_FILE, METRICS_FILE):
        with contextlib.suppress(OSError):
            times.append((folder / name).stat().st_mtime)
    return datetime.datetime.fromtimestamp(max(times), datetime.UTC)
