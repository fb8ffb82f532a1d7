"""JAX's compiler: where its results are kept between runs, and how often it has run."""

from __future__ import annotations

import os
from pathlib import Path

import jax
import jax.monitoring


def keep_compiled_code(folder: Path | None = None) -> None:
    """Keep compiled programs on disk, so that only the first run of a command waits for the compiler.

    `JAX_COMPILATION_CACHE_DIR` decides where if it is set; else `folder`, else ``~/.cache/beamzero/jax``.

    On a GPU, XLA is told not to try out Triton for every matrix product, which takes twice the time to compile and
    makes our nets a tenth faster; put ``--xla_gpu_enable_triton_gemm=true`` into XLA_FLAGS for a run of hours.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if "xla_gpu_enable_triton_gemm" not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} --xla_gpu_enable_triton_gemm=false".strip()
    if not os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(folder or home / "beamzero" / "jax"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


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
