"""Connections to a Ray cluster: one that runs somewhere, or one that is begun here for as long as it is needed."""

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
from beamzero.core.errors import BadInput, RunStopped
from beamzero.storage.files import reason

LOCAL, AUTO = "local", "auto"
_SECONDS_TO_ANSWER = 5.0
_SECONDS_TO_BE_RAY = 20.0
_ASK = """
import sys
from ray._raylet import GcsClient
GcsClient(address=sys.argv[1]).internal_kv_get(b"", None, timeout=5)
"""
"""A program that asks a cluster's head something, in a process of its own: one that asks another host hangs."""


def import_ray() -> Any:
    """Import Ray; RunStopped in a line that says how to get it where it is missing."""
    # Ray would hide the GPUs of a worker that asks for none; the device of a worker is set for JAX.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
        import ray.exceptions
    except ModuleNotFoundError:
        raise RunStopped("a cluster needs Ray: pip install 'beamzero[cluster]'") from None
    except Exception as error:  # it is there, but broken, as after half an update
        raise RunStopped(f"a cluster needs Ray, which cannot be loaded: {reason(error):.200}") from None
    return ray


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect Ray to the cluster at `address`: "auto" finds the one of this machine, "local" begins one here.

    BadInput where the address is none, RunStopped where there is no cluster, or none that lets us in.
    """
    ray = import_ray()
    if address == AUTO:
        address = os.environ.get("RAY_ADDRESS") or _address_here()  # the former in a job that Ray began
    if address not in (LOCAL, AUTO):
        _check(address)
    options = {"num_cpus": os.cpu_count(), "include_dashboard": False} if address == LOCAL else {}
    try:
        with warnings.catch_warnings():
            # JAX warns of forks; Ray's are replaced by other programs at once.
            warnings.filterwarnings("ignore", "os.fork\\(\\) was called", RuntimeWarning)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except KeyboardInterrupt:
        ray.shutdown()  # ends the processes that it has begun by now
        raise
    except (Exception, SystemExit) as error:  # anything: a folder that cannot be written, a port, a version, a timeout
        with contextlib.suppress(Exception):
            ray.shutdown()  # ends the processes that it had begun by then
        if address == LOCAL:
            raise RunStopped(f"Ray cannot begin a cluster on this machine: {_brief(error)}") from None
        where = "on this machine" if address == AUTO else f"at {address!r}"
        raise RunStopped(f"no Ray cluster {where} lets us in: {_brief(error)}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _address_here() -> str:
    """Find the address of the cluster that runs on this machine; "auto" where this version of Ray does not give it."""
    logging.getLogger("ray").setLevel(logging.ERROR)  # as `ray.init` does
    try:
        from ray._private.services import canonicalize_bootstrap_address

        return canonicalize_bootstrap_address(AUTO) or AUTO
    except ConnectionError:
        raise RunStopped(
            "no Ray cluster runs on this machine: begin one by ray start --head, or say --cluster local"
        ) from None
    except Exception:  # it is no part of Ray's public interface
        return AUTO


def _check(address: str) -> None:
    """Raise RunStopped where no cluster answers: Ray itself would try for minutes, and then end the process."""
    host, _, port = address.rpartition(":")
    if not host or "/" in address or not port.isdecimal() or not 0 < int(port[:6]) < 2**16:
        raise _no_address(address)
    try:
        socket.create_connection((host, int(port)), _SECONDS_TO_ANSWER).close()
    except OSError as error:
        raise RunStopped(f"no Ray cluster at {address!r}: {_brief(error)}") from None
    except ValueError:  # a host whose name cannot be one
        raise _no_address(address) from None
    try:
        subprocess.run(
            [sys.executable, "-c", _ASK, address], check=True, capture_output=True, timeout=_SECONDS_TO_BE_RAY
        )
    except (subprocess.SubprocessError, OSError):
        raise RunStopped(
            f"what answers at {address!r} is no head of a Ray cluster that lets us in (its port is 6379 if nothing else"
            " was said)"
        ) from None


def _no_address(address: str) -> BadInput:
    source = " (it is in the environment, as RAY_ADDRESS)" if address == os.environ.get("RAY_ADDRESS") else ""
    return BadInput(f"a cluster is {AUTO}, {LOCAL} or HOST:PORT, but {address!r:.100} is none of these{source}")


def _brief(error: BaseException) -> str:
    """Give the first line of an error's message; an error of the system with the file that it is about."""
    lines = str(error).strip().splitlines() if not isinstance(error, SystemExit) else []
    return f"{lines[0]:.300}" if lines else type(error).__name__


def versions() -> dict[str, str]:
    """Give the versions that must be the same on all machines, for the numbers to be."""
    return {"Python": platform.python_version(), "jax": jax.__version__, "beamzero": __version__}
