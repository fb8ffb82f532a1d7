"""How every test runs: on the CPU, strict about dtypes and ranks, with one compilation cache for all processes.

A test belongs to a tier by what it costs: `make test` runs those without a mark, `make test-all` those that are `slow`
or `external` too. CONTRIBUTING.md says where a new test belongs.
"""

from __future__ import annotations

import contextlib
import ctypes
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
os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")  # no program is traced back to its lines here

import jax  # noqa: E402

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# The first example compiles, so there is no deadline. In CI the same examples are drawn each time.
hypothesis.settings.register_profile("beamzero", deadline=None, max_examples=25, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("beamzero")


# --- time and memory --------------------------------------------------------------------------------------------------

# Tracing makes many objects that live long, and looking through all of them for garbage took a twentieth of the time.
gc.set_threshold(100_000, 50, 100)

_STATM = Path("/proc/self/statm")
_DROP_AFTER_A_FILE = 1_400 * 2**20
_DROP_AFTER_A_TEST = 1_600 * 2**20
"""Bytes of a process at which it drops the programs that it has compiled."""


def pytest_collection_finish() -> None:
    """What was imported stays, so that no collection looks at it again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Drop compiled programs before they take too much memory; whoever needs one again reads it from the cache."""
    same_file = nextitem is not None and nextitem.path == item.path
    if _resident_bytes() > (_DROP_AFTER_A_TEST if same_file else _DROP_AFTER_A_FILE):
        drop_programs()


def _resident_bytes() -> int:
    """What this process has in memory; 0 where that cannot be read at little cost."""
    return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE") if _STATM.exists() else 0


def drop_programs() -> None:
    """Forget what was compiled. JAX holds it, and what JAX has freed the C library keeps until it is told to trim."""
    jax.clear_caches()
    gc.collect()
    with contextlib.suppress(AttributeError):  # another C library than GNU's
        ctypes.CDLL(None).malloc_trim(0)


# --- fixtures ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def relaxed_promotion() -> Iterator[None]:
    """JAX's usual promotion, for calls into pgx, mctx and optax, which are written for it.

    Keep the block as small as the call: what is traced inside it, ours included, is not checked.
    """
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture(autouse=True)
def own_registrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget after a test what was registered in it: games, nets, searches and algorithms."""
    from beamzero.core.registry import ALGORITHMS, SEARCHES
    from beamzero.games import GAMES
    from beamzero.nets import NETS

    for registry in (ALGORITHMS, GAMES, NETS, SEARCHES):
        monkeypatch.setattr(registry, "_registered", dict(registry._registered))


@pytest.fixture
def relaxed() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """`relaxed_promotion`, for tests that would rather not import it: ``with relaxed(): ...``."""
    return relaxed_promotion
