"""Python files of users: they are run once, and an error in them is described in one line with its place."""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import os
import sys
import traceback
from collections.abc import Collection, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from beamzero.core.errors import BadInput

_MODULE_PREFIX = "beamzero_user_"
"""How the names of modules begin that were loaded from files of users."""


def load_user_file(path: str, what: str) -> ModuleType:
    """Run the Python file `path`, which a person must have named; BadInput where that fails.

    `what` is to be read from it, such as "a game".
    """
    real = Path(os.path.realpath(path))
    if not real.is_file():
        raise BadInput(f"no file {real.name!r} to read {what} from")
    try:
        return load_file(real)
    except (Exception, SystemExit) as error:
        raise BadInput(f"{real.name} cannot be loaded: {describe_error(error, (str(real),))}") from error


@functools.cache
def load_file(path: Path) -> ModuleType:
    """Run a Python file that a person named, once in a process; its errors are the caller's to describe."""
    name = f"{_MODULE_PREFIX}{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_Unwritten(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class _Unwritten(importlib.machinery.SourceFileLoader):
    """Loads a user's file and leaves no bytecode beside it."""

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        pass


def user_modules() -> Iterator[ModuleType]:
    """Yield the files of users that were loaded, as modules."""
    return (module for name, module in sys.modules.copy().items() if name.startswith(_MODULE_PREFIX))


def source_files(*kinds: type) -> set[str]:
    """Name the files that define these classes, as far as they are known: a class of a notebook has none."""
    files = (getattr(sys.modules.get(kind.__module__), "__file__", None) for kind in kinds)
    return {file for file in files if file is not None}


def describe_error(error: BaseException, files: Collection[str] = ()) -> str:
    """Describe an error in one line: its class, the last place in one of `files` that it passed, and what may help."""
    import jax

    places = _places(error, files)
    where = f", {Path(places[-1].filename).name} line {places[-1].lineno}" if places else ""
    says = " ".join(str(error).split()) or "no more is said"
    if isinstance(error, jax.errors.JAXTypeError):  # which says a page
        says = f"{str(error).splitlines()[0].rstrip('.')}; use jnp.where, & and | in place of if, and, or"
    return f"{type(error).__name__}{where}: {says}"


def describe_user_error(error: BaseException) -> str | None:
    """Describe in one line an error that came through a file of a user; None for one that did not."""
    files = {module.__file__ for module in user_modules() if module.__file__}
    return describe_error(error, files) if _places(error, files) else None


def _places(error: BaseException, files: Collection[str]) -> list[traceback.FrameSummary]:
    return [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
