"""Checkpoints of a run: whole or absent, verified before use.

    checkpoints/
      00000041-1/        step 41, first writing of it
        manifest.json    step, note, leaves, SHA-256 and size of every file, and a seal over all of that
        tree/            the arrays, written by orbax
      00000042-1/
      best               the step that is never pruned, sealed too

A checkpoint is made in a temporary folder and appears by one rename. Any number of processes may read while one writes.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from beamzero.core.errors import BadInput, RunStopped
from beamzero.core.spec import list_of
from beamzero.storage.files import (
    TEMPORARY,
    reason,
    sha256,
    sync_folder,
    sync_tree,
    temporary_beside,
    write_atomically,
    writing,
)
from beamzero.storage.seal import seal, unseal
from beamzero.storage.trees import check_fit, describe, named_leaves, read_tree, write_tree

_FORMAT = "beamzero-checkpoint-1"
MANIFEST = "manifest.json"
TREE = "tree"
BEST = "best"

_FOLDER = re.compile(r"(\d{8,})-(\d+)")


class Restored(NamedTuple):
    """The result of `Checkpoints.restore`."""

    step: int
    tree: Any
    note: dict[str, Any]


class _Found(NamedTuple):
    """A checkpoint's folder. Where a step was written twice and a kill left both, the higher `writing` is the newer."""

    step: int
    writing: int
    folder: Path


class Checkpoints:
    """The checkpoints in one folder, of which `save` keeps the last `keep` and the best."""

    def __init__(self, folder: str | os.PathLike[str], keep: int):
        if keep < 1:
            raise ValueError(f"keep is {keep}, but at least one checkpoint must be kept")
        # orbax takes absolute paths only
        self.folder = Path(folder).absolute()
        self.keep = keep

    def steps(self) -> list[int]:
        """List the steps that have a checkpoint, damaged or not, in rising order."""
        return sorted({found.step for found in self._found()})

    def save(self, step: int, tree: Any, note: Mapping[str, Any]) -> None:
        """Write `tree` (any nest of jax or numpy arrays) and `note` (as JSON can hold it) as the newest checkpoint.

        A kill at any moment leaves the checkpoints before, and this one whole or not at all. Later steps are removed:
        they belong to a history that was given up when the run went back to an earlier one.
        """
        # orbax writes numpy arrays twice as fast as jax ones
        arrays = {name: np.asarray(leaf) for name, leaf in named_leaves(jax.device_get(tree)).items()}
        with writing(f"checkpoint {step} in {self.folder}; the checkpoints before it are still there"):
            self.folder.mkdir(exist_ok=True)  # not its parents: a run that is deleted while it trains stays deleted
            self._remove_strays()
            earlier = [found.writing for found in self._found() if found.step == step]
            final = self.folder / f"{step:08d}-{max(earlier, default=0) + 1}"
            temporary = temporary_beside(final)
            try:
                _write_checkpoint(temporary, step, arrays, note)
                os.rename(temporary, final)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
            sync_folder(self.folder)
            self._prune(step)

    def restore(
        self, like: Any, step: int | None = None, warn: Callable[[str], object] = warnings.warn, part: bool = False
    ) -> Restored:
        """Read the newest whole checkpoint, bit for bit, in the structure of `like`; or exactly `step`, if given.

        With `part`, `like` may be a part of the tree that was saved.

        Every file's SHA-256 is checked before orbax reads it. A damaged checkpoint is reported through `warn` in one
        line, and the one before it is used. Where `like` has a jax array (or a ShapeDtypeStruct), so has the result.
        """
        candidates = [found for found in reversed(self._found()) if step in (None, found.step)]
        if step is not None and not candidates:
            raise BadInput(f"there is no checkpoint {step} in {self.folder} ({list_of(map(str, self.steps()))})")
        for found in candidates:
            damage = _damage(found)
            if not damage:
                manifest = _read_manifest(found)
                check_fit(manifest["leaves"], like, f"checkpoint {found.step} in {self.folder}", part)
                try:
                    tree = read_tree(found.folder / TREE, like, manifest["leaves"])
                except Exception as error:  # whole, yet unreadable: written by an orbax that this one does not know
                    damage = [f"{TREE}: {reason(error)}"]
                else:
                    return Restored(found.step, tree, manifest["note"])
            more = f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
            warn(f"checkpoint {found.step} in {self.folder} is damaged and not used: {damage[0]}{more}")
        which = "no checkpoint that is whole" if step is None else f"no whole checkpoint {step}"
        raise RunStopped(f"{which} in {self.folder}" if candidates else f"no checkpoint in {self.folder}")

    def verify(self, step: int) -> list[str]:
        """List the damage of a checkpoint, one line per file; empty when it is whole."""
        found = [found for found in self._found() if found.step == step]
        return _damage(found[-1]) if found else [f"there is no checkpoint {step}"]

    def mark_best(self, step: int) -> None:
        """Keep the checkpoint of `step` until another one is marked."""
        if step not in self.steps():
            raise ValueError(f"there is no checkpoint {step} to mark as best")
        with writing(f"the mark of the best checkpoint in {self.folder}"):
            write_atomically(self.folder / BEST, seal({"step": step}))

    @property
    def best_step(self) -> int | None:
        """Give the step that was marked best, if its checkpoint is there."""
        try:
            data = (self.folder / BEST).read_bytes()
            step = int(data) if data.strip().isdigit() else unseal(data).get("step")  # 0.1 wrote the bare number
        except (OSError, ValueError):
            return None
        return step if step in self.steps() else None

    def _found(self) -> list[_Found]:
        """List every checkpoint in the folder, oldest first."""
        if not self.folder.is_dir():
            return []
        matches = ((_FOLDER.fullmatch(entry.name), entry) for entry in self.folder.iterdir())
        return sorted(_Found(int(match[1]), int(match[2]), entry) for match, entry in matches if match)

    def _prune(self, newest: int) -> None:
        best = self.best_step
        if best is not None and best > newest:
            (self.folder / BEST).unlink()
        current = {found.step: found for found in self._found() if found.step <= newest}
        kept = {*sorted(current)[-self.keep :], best}
        for found in self._found():
            if found.step not in kept or found != current.get(found.step):
                # renamed first, so that a kill while it is removed leaves no half of it
                doomed = temporary_beside(found.folder)
                os.rename(found.folder, doomed)
                shutil.rmtree(doomed, ignore_errors=True)

    def _remove_strays(self) -> None:
        """Remove unfinished folders that a kill left. Only the writer may: a reader may see one in the making."""
        for stray in self.folder.glob(f"{TEMPORARY}*"):
            if stray.is_dir():
                shutil.rmtree(stray, ignore_errors=True)
            else:
                stray.unlink(missing_ok=True)


def _write_checkpoint(folder: Path, step: int, arrays: dict[str, np.ndarray], note: Mapping[str, Any]) -> None:
    """Write everything and wait until it is on the disk."""
    folder.mkdir()
    write_tree(folder / TREE, arrays)
    sync_tree(folder / TREE)
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = {
        path.relative_to(folder).as_posix(): {"sha256": sha256(path), "size": path.stat().st_size} for path in paths
    }
    leaves = {name: describe(array) for name, array in arrays.items()}
    manifest = {"format": _FORMAT, "step": step, "note": dict(note), "leaves": leaves, "files": files}
    write_atomically(folder / MANIFEST, seal(manifest))


def _read_manifest(found: _Found) -> dict[str, Any]:
    """Read the manifest of a checkpoint; OSError or ValueError says what is wrong with it."""
    manifest = unseal((found.folder / MANIFEST).read_bytes())
    if manifest.get("format") != _FORMAT:
        raise ValueError(f"its format is {manifest.get('format')!r:.60}, but this version reads {_FORMAT!r}")
    if manifest.get("step") != found.step:
        raise ValueError(f"it belongs to step {manifest.get('step')!r:.60}")
    if not _says_all(manifest):
        raise ValueError("it does not say what the checkpoint holds")
    return manifest


def _says_all(manifest: Mapping[str, Any]) -> bool:
    match manifest:
        case {"note": dict(), "leaves": dict(leaves), "files": dict(files)}:
            named = all(isinstance(kind, str) for kind in leaves.values())
            return named and all(isinstance(one, dict) and one.keys() == {"sha256", "size"} for one in files.values())
    return False


def _damage(found: _Found) -> list[str]:
    try:
        files = _read_manifest(found)["files"]
    except FileNotFoundError:
        return [f"{MANIFEST} is missing"]
    except (OSError, ValueError) as error:
        return [f"{MANIFEST}: {reason(error)}"]
    problems = ((name, _file_problem(found.folder / name, **expected)) for name, expected in files.items())
    return [f"{name} {problem}" for name, problem in problems if problem]


def _file_problem(path: Path, sha256: str, size: int) -> str | None:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {reason(error)}"
    if len(data) != size:
        return f"has {len(data)} bytes instead of {size}"
    if hashlib.sha256(data).hexdigest() != sha256:
        return "has another SHA-256 than when it was written"
    return None
