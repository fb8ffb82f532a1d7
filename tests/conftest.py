"""How every test runs: on the CPU, strict about dtypes and ranks, with one compilation cache for all processes."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent

# A shell that is not interactive starts background jobs with Ctrl-C switched off, and every process hands that on.
signal.signal(signal.SIGINT, signal.default_int_handler)

# JAX reads these when it is first imported. As environment variables they reach test workers and subprocesses alike.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(ROOT / ".cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
# Most of the time goes into compiling programs that run for an instant. The last flag is one that our commands add:
# only processes with the same flags find each other's programs in the cache.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_cpu_parallel_codegen_split_count=1 --xla_cpu_use_fusion_emitters=false"
    " --xla_gpu_enable_triton_gemm=false",
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

import jax  # noqa: E402

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# The first example compiles, so there is no deadline. In CI the same examples are drawn each time.
hypothesis.settings.register_profile("beamzero", deadline=None, max_examples=25, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("beamzero")


@contextlib.contextmanager
def relaxed_promotion() -> Iterator[None]:
    """JAX's usual promotion, for calls into pgx, mctx and optax, which are written for it.

    Keep the block as small as the call: what is traced inside it, ours included, is not checked.
    """
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture(autouse=True)
def few_programs() -> Iterator[None]:
    """Forget compiled programs before they are too many: each takes some of the 65,530 memory maps of a process.

    Past the last one the compiler crashes. What is forgotten is read again from the cache on disk.
    """
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > 45_000:
        jax.clear_caches()
        gc.collect()


@pytest.fixture
def relaxed() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """`relaxed_promotion`, for tests that would rather not import it: ``with relaxed(): ...``."""
    return relaxed_promotion
