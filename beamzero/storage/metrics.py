"""Metrics of a run: one JSON line per iteration, and the same numbers for TensorBoard and other readers.

Each line ends with a seal of its own (seal.py), so that it shows where one was changed. Lines of version 0.1 have none;
they are believed in a run that is not sealed, and in folders without a run.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from beamzero.core.errors import BadInput
from beamzero.storage.files import sync_folder, write_atomically, writing
from beamzero.storage.seal import seal_line, unseal_line

METRICS_FILE = "metrics.jsonl"
_TENSORBOARD = "tensorboard"

# JSON has no number for these; as text they stay readable by every JSON reader
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Mirror(Protocol):
    """A place that gets the numbers of every record as well."""

    def write(self, step: int, scalars: Mapping[str, float]) -> None:
        """Write the numbers of an iteration, by the tags that TensorBoard has for them."""

    def close(self) -> None:
        """Finish writing; nothing is written any more."""


class Metrics:
    """The records of one run. Each is on the disk when `append` returns.

    A record is a dict with an integer "iteration" (how many iterations were done), and numbers, None, or nested dicts
    of them. Floats come back from `read_metrics` bit for bit, except that every NaN becomes the same one.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        warn: Callable[[str], object] = warnings.warn,
        also: Sequence[Mirror] = (),
    ):
        """Keep the records in `folder`; their numbers go to `also` too, each of which is closed at the end."""
        self.folder = Path(folder)
        self.path = self.folder / METRICS_FILE
        self._warn = warn
        self._file: BinaryIO | None = None
        self._events: _Events | None = None
        self._purge_step: int | None = None
        self._warned = False
        self._also = tuple(also)

    def append(self, record: Mapping[str, Any]) -> None:
        """Add one record."""
        if not isinstance(record.get("iteration"), int):
            raise ValueError(f"a record needs an integer 'iteration', but this one has {record.get('iteration')!r}")
        plain = _plain(record)
        with writing(str(self.path)):
            if self._file is None:
                self._open()
            assert self._file is not None
            self._file.write(seal_line(plain))
            self._file.flush()
            os.fsync(self._file.fileno())
            scalars = dict(_scalars(_numbers(plain)))
            if self._events is not None:
                self._events.write(record["iteration"], scalars)
        for mirror in self._also:
            mirror.write(record["iteration"], scalars)

    def rewind(self, iteration: int) -> None:
        """Remove the records after `iteration`, here and in TensorBoard, so that a resumed run writes none twice.

        Warns where lines are missing that should be there.
        """
        self.close()
        records = read_metrics(self.folder)
        kept = [record for record in records if record["iteration"] <= iteration]
        with writing(str(self.path)):
            if self.path.exists():
                write_atomically(self.path, _lines(kept))
        if gaps := _gaps(kept, iteration):
            self._warn(f"{self.path} has no line for iteration {', '.join(gaps)}: what was measured there is lost")
        self._purge_step = iteration + 1

    def close(self) -> None:
        """Close the files; a later `append` opens them again."""
        for file in (self._file, self._events):
            # That a full disk kept data from being written was reported by `append`; closing would try once more.
            with contextlib.suppress(OSError):
                if file is not None:
                    file.close()
        self._file = self._events = None

    def __enter__(self) -> Metrics:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        for mirror in self._also:
            mirror.close()

    def _open(self) -> None:
        whole = b"".join(_whole_lines(self.path))
        if self.path.exists() and len(whole) != self.path.stat().st_size:
            write_atomically(self.path, whole)
        self._file = self.path.open("ab")
        sync_folder(self.folder)
        try:
            self._events = _Events(self.folder / _TENSORBOARD, self._purge_step)
        except ImportError:
            if not self._warned:
                self._warn(f"tensorboardX is not installed: the numbers go to {self.path} only")
            self._warned = True


def read_metrics(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Read all records of a run, oldest first; none where there is no file. A last line cut by a kill is left out.

    BadInput names the first line that is damaged, or whose iteration does not come after the one before.
    """
    path = Path(folder) / METRICS_FILE
    sealed, records, last = _in_sealed_run(path.parent), list[dict[str, Any]](), -1
    for number, line in enumerate(_whole_lines(path), 1):
        record = _parse(line, sealed)
        if record is None or record["iteration"] <= last:
            raise BadInput(f"line {number} of {path} is damaged: delete that line to go on without it")
        last = record["iteration"]
        records.append(record)
    return records


def seal_metrics(folder: Path) -> None:
    """Seal all lines of a run of version 0.1."""
    if (folder / METRICS_FILE).exists():
        write_atomically(folder / METRICS_FILE, _lines(read_metrics(folder)))


class _Events:
    """A TensorBoard event file, written at once: tensorboardX's own writer has a thread that a full disk kills."""

    def __init__(self, folder: Path, purge_step: int | None):
        from tensorboardX.event_file_writer import EventsWriter
        from tensorboardX.proto.event_pb2 import Event, SessionLog

        folder.mkdir(exist_ok=True)
        # its name has whole seconds only, and an event file of the same name would be lost
        self._writer = EventsWriter(str(folder / "events"), filename_suffix=f".{time.time_ns()}")
        if purge_step is not None:
            start = SessionLog(status=SessionLog.START)
            self._writer.write_event(Event(wall_time=time.time(), step=purge_step, session_log=start))
        self._writer.flush()

    def write(self, step: int, scalars: dict[str, float]) -> None:
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=tag, simple_value=value) for tag, value in scalars.items()]
        self._writer.write_event(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def _whole_lines(path: Path) -> list[bytes]:
    """Read the lines that were written to their end."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    return data[: data.rfind(b"\n") + 1].splitlines(keepends=True)


def _lines(records: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(seal_line(_plain(record)) for record in records)


def _in_sealed_run(folder: Path) -> bool:
    """Tell whether the lines in a folder must have seals."""
    try:
        return b'"beamzero-run-1"' not in (folder / "run.json").read_bytes()
    except OSError:
        return False


def _parse(line: bytes, sealed: bool) -> dict[str, Any] | None:
    """Parse a line. Returns the record, or None where it is damaged."""
    try:
        record = unseal_line(line) if sealed or b'"seal"' in line else json.loads(line)
        record = _numbers(record)
        return record if isinstance(record, dict) and _is_sound(record) else None
    except (ValueError, TypeError, RecursionError):
        return None


# --- checks of a record, so that all readers can rely on it ----------------------------------------------------------


def _is_sound(record: dict[str, Any]) -> bool:
    iteration = record.get("iteration")
    whole = isinstance(iteration, int) and not isinstance(iteration, bool) and iteration >= 0
    return whole and all(_check_of(key)(value) for key, value in record.items())


def _check_of(key: str) -> Callable[[Any], bool]:
    return _is_number if key.endswith("_loss") else _CHECKS.get(key, lambda value: True)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _are_numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_number, value.values()))


def is_rating(value: Any) -> bool:
    """Tell whether `value` can be the "rating" of a record: None, or an Elo with its interval and scores."""
    if value is None:
        return True
    ends = isinstance(value, dict) and all(_is_number_or_none(value.get(key, "")) for key in ("elo", "low", "high"))
    return ends and _are_numbers(value.get("scores", {}))


def _is_ladder_result(value: Any) -> bool:
    return isinstance(value, dict) and _is_number(value.get("total")) and _is_number(value.get("of"))


def _is_interval(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))


_CHECKS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(
        ("games", "states", "searched", "evaluations", "looks", "mean_turns", "total_seconds", "learning_rate",
         "gate_score", "gate_passed"),
        _is_number,
    ),
    "seconds": _are_numbers, "rating": is_rating, "climb": _is_ladder_result, "gate_interval": _is_interval,
    "crew": lambda value: isinstance(value, dict),
}  # fmt: skip


def _gaps(records: Sequence[Mapping[str, Any]], iteration: int) -> list[str]:
    """List the iterations up to `iteration` that have no record, as in ["3", "5 to 7"]."""
    found = [0, *(record["iteration"] for record in records if record["iteration"]), iteration + 1]
    pairs = [(before + 1, after - 1) for before, after in itertools.pairwise(found) if after > before + 1]
    return [f"{first}" if first == last else f"{first} to {last}" for first, last in pairs]


def _plain(value: Any) -> Any:
    """Turn `value` into what JSON can hold."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # a numpy or jax number or array
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    return value


def _numbers(value: Any) -> Any:
    """Turn texts such as "nan" back into numbers: the inverse of `_plain`."""
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value


def _scalars(record: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield every number in a record by its TensorBoard tag, as in ``rating/elo``."""
    for key, value in record.items():
        if isinstance(value, dict):
            yield from _scalars(value, f"{prefix}{key}/")
        elif isinstance(value, int | float) and prefix + key != "iteration":
            yield prefix + key, float(value)
