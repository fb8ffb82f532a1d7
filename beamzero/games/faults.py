"""Errors in games that users wrote, in one line with their place."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Collection, Iterator
from pathlib import Path
from types import ModuleType

import jax

from beamzero.core.registry import USER_MODULE


def one_line(error: BaseException, files: Collection[str | None]) -> str:
    """Describe an error in one line: its kind, the last place in one of `files` that it passed, and what may help."""
    places = _places(error, files)
    where = f", {Path(places[-1].filename).name} line {places[-1].lineno}" if places else ""
    says = " ".join(str(error).split()) or "no more is said"
    if isinstance(error, jax.errors.JAXTypeError):  # which says a page
        says = f"{str(error).splitlines()[0].rstrip('.')}; use jnp.where, & and | in place of if, and, or"
    return f"{type(error).__name__}{where}: {says}"


def user_modules() -> Iterator[ModuleType]:
    """The files of users that were loaded, as modules."""
    return (module for name, module in sys.modules.copy().items() if name.startswith(USER_MODULE))


def fault_of_user(error: BaseException) -> str | None:
    """Describe in one line an error that came through a file of a user's game; None for one that did not."""
    files = {getattr(module, "__file__", None) for module in user_modules()}
    return one_line(error, files) if _places(error, files) else None


def _places(error: BaseException, files: Collection[str | None]) -> list[traceback.FrameSummary]:
    return [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
