"""The way to a Ray cluster: one that runs somewhere, or one that is begun here for as long as it is needed."""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import jax

from beamzero import __version__
from beamzero.errors import BadInput

LOCAL, AUTO = "local", "auto"
_SECONDS_TO_ANSWER = 5.0
_SECONDS_TO_BE_RAY = 20.0
_ASK = """
import sys
from ray._raylet import GcsClient
GcsClient(address=sys.argv[1]).internal_kv_get(b"", None, timeout=5)
"""
"""What asks a cluster's head something, in a process of its own: one that asks somebody else hangs."""


def import_ray() -> Any:
    """Ray, or a line that says how to get it."""
    # Ray would hide the GPUs of a worker that asks for none; which device a worker uses is told to JAX.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise BadInput("a cluster needs Ray: pip install 'beamzero[cluster]'") from None
    return ray


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """Ray, connected to the cluster at `address`: "auto" finds the one of this machine, "local" begins one here."""
    ray = import_ray()
    if address == AUTO:
        address = os.environ.get("RAY_ADDRESS") or AUTO  # as in a job that Ray began
    if address not in (LOCAL, AUTO):
        _check(address)
    options = {"num_cpus": os.cpu_count(), "include_dashboard": False} if address == LOCAL else {}
    try:
        with warnings.catch_warnings():
            # JAX warns of forks; Ray's are replaced by other programs at once.
            warnings.filterwarnings("ignore", "os.fork\\(\\) was called", RuntimeWarning)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except KeyboardInterrupt:
        ray.shutdown()  # ends what has begun by now
        raise
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, ray.exceptions.RayError) as error:
        if address == AUTO and isinstance(error, ConnectionError):
            raise BadInput(
                "no Ray cluster runs on this machine: begin one by ray start --head, or say --cluster local"
            ) from None
        where = "on this machine" if address in (AUTO, LOCAL) else f"at {address!r}"
        raise BadInput(f"no Ray cluster {where} lets us in: {_first_line(error)}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _check(address: str) -> None:
    """Ray tries for minutes to reach what is not there, and ends the process then."""
    host, _, port = address.rpartition(":")
    if not host or "/" in address or not port.isdecimal():
        source = " (it is in the environment, as RAY_ADDRESS)" if address == os.environ.get("RAY_ADDRESS") else ""
        raise BadInput(f"a cluster is {AUTO}, {LOCAL} or HOST:PORT, but {address!r} is none of these{source}")
    try:
        socket.create_connection((host, int(port)), _SECONDS_TO_ANSWER).close()
    except (OSError, OverflowError) as error:
        raise BadInput(f"no Ray cluster at {address!r}: {_first_line(error)}") from None
    try:
        subprocess.run(
            [sys.executable, "-c", _ASK, address], check=True, capture_output=True, timeout=_SECONDS_TO_BE_RAY
        )
    except (subprocess.SubprocessError, OSError):
        raise BadInput(
            f"what answers at {address!r} is no head of a Ray cluster that lets us in (its port is 6379 if nothing else"
            " was said)"
        ) from None


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def versions() -> dict[str, str]:
    """What must be the same on all machines, for the numbers to be."""
    return {"Python": platform.python_version(), "jax": jax.__version__, "beamzero": __version__}
