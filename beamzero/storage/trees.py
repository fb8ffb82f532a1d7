"""Trees of arrays in a folder, by orbax. The bits come back as they were; nothing is checked against damage here."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import threading
from collections.abc import Callable, Iterator
from contextvars import Context
from pathlib import Path
from typing import Any, TypeVarTuple

import jax
import numpy as np

from beamzero.core.errors import BadInput


def named_leaves(tree: Any) -> dict[str, Any]:
    """Name the leaves by their path in the tree, in its order; a tree that is one array is called ``array``."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {jax.tree_util.keystr(path) or "array": leaf for path, leaf in leaves}


def describe(leaf: Any) -> str:
    """Write a leaf's dtype and shape, as in ``float32[3,4]``."""
    shaped = leaf if hasattr(leaf, "dtype") else np.asarray(leaf)
    return f"{shaped.dtype}[{','.join(map(str, shaped.shape))}]"


def check_fit(saved: dict[str, str], like: Any, where: str, part: bool = False) -> None:
    """Raise BadInput unless the `saved` leaves have the dtypes and shapes of `like`; with `part` more may be saved."""
    wanted = {name: describe(leaf) for name, leaf in named_leaves(like).items()}
    for name in wanted if part else [*wanted, *saved]:
        if saved.get(name) != wanted.get(name):
            there, here = saved.get(name, "absent"), wanted.get(name, "absent")
            raise BadInput(f"{where} does not fit: {name} is {there} there, but {here} in this run")


def write_tree(folder: Path, arrays: dict[str, np.ndarray]) -> None:
    folder.mkdir()
    stored = {name: array for name, array in arrays.items() if array.size}  # orbax refuses empty arrays and empty trees
    if not stored:
        return
    with _quiet_loops():
        _orbax().save(folder / "arrays", stored)


def read_tree(folder: Path, like: Any, saved: dict[str, str]) -> Any:
    """Read the leaves of `like`, out of those that were `saved`, as `describe` writes them."""
    import orbax.checkpoint as ocp

    leaves = named_leaves(like)
    # orbax wants all that it wrote to be asked for
    stored = {name: ocp.RestoreArgs(restore_type=np.ndarray) for name, kind in saved.items() if not _is_empty(kind)}
    arrays = {}
    if stored:
        with _quiet_loops():
            arrays = _orbax().restore(folder / "arrays", args=ocp.args.PyTreeRestore(restore_args=stored))
    placed = []
    for name, leaf in leaves.items():
        array = arrays[name] if name in stored else np.zeros(leaf.shape, leaf.dtype)
        if describe(array) != describe(leaf):
            raise ValueError(f"{name} is {describe(array)}, not the {describe(leaf)} that was saved")
        placed.append(_place(array, leaf))
    return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(like), placed)


def _is_empty(description: str) -> bool:
    return "0" in description.partition("[")[2].rstrip("]").split(",")


def _place(array: np.ndarray, leaf: Any) -> Any:
    """Turn `array` into the kind of array that `leaf` is, on the same device."""
    if isinstance(leaf, jax.Array):
        # a copy, since the buffer may be donated; uncommitted stays uncommitted, or programs would compile again
        return jax.device_put(array, leaf.sharding if leaf.committed else None, may_alias=False)
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return jax.device_put(array, leaf.sharding, may_alias=False)
    return array


@functools.cache
def _orbax() -> Any:
    """Make orbax's plain synchronous writer; in one OCDBT store, as a file per leaf takes twice as long."""
    import orbax.checkpoint as ocp

    # what it logs (thread tracebacks on a full disk) is raised as well, and would tear the terminal's progress display
    logging.getLogger("absl").addFilter(lambda record: "orbax" not in record.pathname)
    return ocp.Checkpointer(ocp.PyTreeCheckpointHandler(use_ocdbt=True))


_Arguments = TypeVarTuple("_Arguments")


class _QuietLoop(asyncio.SelectorEventLoop):
    """An event loop that stays silent once it is closed.

    The first write that a full disk fails ends orbax's event loop. The writes beside it end later, still call the loop,
    and would print that it is closed. The failure itself is raised where it belongs.
    """

    def call_soon_threadsafe(
        self, callback: Callable[[*_Arguments], object], *args: *_Arguments, context: Context | None = None
    ) -> asyncio.Handle:
        try:
            return super().call_soon_threadsafe(callback, *args, context=context)
        except RuntimeError:
            if not self.is_closed():
                raise
            return asyncio.Handle(callback, args, self, context)  # never called

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Drop the failures of further writes, which no caller needs after the first."""


_LOOPS = threading.Lock()


@contextlib.contextmanager
def _quiet_loops() -> Iterator[None]:
    """Give orbax, which makes a loop for each call and in threads of its own, loops that end silently."""
    with _LOOPS:
        usual, asyncio.new_event_loop = asyncio.new_event_loop, _QuietLoop
        try:
            yield
        finally:
            asyncio.new_event_loop = usual
