"""JAX's compiler: where its results are kept between runs, how often it has run, and what it can compile for."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import jax
import jax.extend.backend
import jax.monitoring


def keep_compiled_code(folder: Path | None = None) -> None:
    """Keep compiled programs on disk, so that only the first run of a command waits for the compiler.

    `JAX_COMPILATION_CACHE_DIR` decides where if it is set; else `folder`, else ``~/.cache/beamzero/jax``. Where there
    is no home folder either, nothing is kept.

    On a GPU, XLA is told not to try out Triton for every matrix product, which takes twice the time to compile and
    makes our nets a tenth faster; put ``--xla_gpu_enable_triton_gemm=true`` into XLA_FLAGS for a run of hours.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if "xla_gpu_enable_triton_gemm" not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} --xla_gpu_enable_triton_gemm=false".strip()
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    with contextlib.suppress(RuntimeError):  # of a user without a home folder
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(folder or home / "beamzero" / "jax"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def plain_warning(text: str) -> str | None:
    """Give a warning in our words where it is one of JAX's about the folder of compiled programs; others as they are.

    None where the folder can be used, and another process was only just writing what JAX wanted to read.
    """
    if "persistent compilation cache" not in text:
        return text
    return why_nothing_is_kept(str(cache_folder()))


def cache_folder() -> str | None:
    """Name the folder in which JAX keeps compiled programs, or its address elsewhere; None where it keeps none."""
    return jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]


def why_nothing_is_kept(folder: str) -> str | None:
    """Explain why compiled programs cannot be kept in a folder, which is made if it is not there; None if they can."""
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        return f"compiled programs cannot be kept in {folder} ({why}), so that each run waits for the compiler"


def missing_platform(error: BaseException) -> str | None:
    """Say which platforms there are, where `error` was caused by one that JAX was told to use and that is not there.

    JAX finds out when it is first used, anywhere in a command. None for all other errors.
    """
    asked = jax.config.jax_platforms  # type: ignore[attr-defined]
    if not asked or not any(_names_no_backend(one) for one in _causes(error)):
        return None
    return f"JAX_PLATFORMS is {asked!r}, but JAX finds no such platform here (there are: {', '.join(_platforms())})"


def _causes(error: BaseException | None) -> list[BaseException]:
    """List an error and those that caused it."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _names_no_backend(error: BaseException) -> bool:
    if isinstance(error, AssertionError) and not str(error):  # of "cuda" on a machine without such a GPU
        try:
            jax.devices()
        except (AssertionError, RuntimeError):
            return True
    return isinstance(error, RuntimeError) and str(error).startswith("Unable to initialize backend")


def _platforms() -> list[str]:
    """List the platforms that JAX finds if it is not told which."""
    jax.extend.backend.clear_backends()
    jax.config.update("jax_platforms", None)
    return list(jax.extend.backend.backends())


class CompilationCount:
    """Counts what JAX compiles, or reads from its cache, while it is entered.

    >>> with CompilationCount() as count:
    ...     step(state)
    >>> count.number
    """

    _EVENT = "/jax/core/compile/backend_compile_duration"

    def __init__(self) -> None:
        self.number = 0
        self._listening = False

    def _heard(self, event: str, duration_secs: float, **_: str | int) -> None:
        if self._listening and event == self._EVENT:
            self.number += 1

    def __enter__(self) -> CompilationCount:
        self._listening = True
        jax.monitoring.register_event_duration_secs_listener(self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        # JAX offers no public way to take one listener away again, so it stays and stops counting.
        self._listening = False
