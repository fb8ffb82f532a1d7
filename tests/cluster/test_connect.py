"""Clusters that are not there, or are none."""

from __future__ import annotations

import functools
import socket
import sys

import pytest
import ray

from beamzero.cli import main
from beamzero.cluster import connect
from beamzero.core.errors import RunStopped


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["--cluster", "127.0.0.1:1"], 1, "no Ray cluster at '127.0.0.1:1': [Errno 111] Connection refused"),
        (["--cluster", "nonsense"], 2, "a cluster is auto, local or HOST:PORT, but 'nonsense' is none of these"),
        (["--cluster", "127.0.0.1"], 2, "a cluster is auto, local or HOST:PORT, but '127.0.0.1' is none of these"),
        (["--cluster", "127.0.0.1:"], 2, "a cluster is auto, local or HOST:PORT, but '127.0.0.1:' is none of these"),
        (["--cluster", "127.0.0.1:0"], 2, "a cluster is auto, local or HOST:PORT, but '127.0.0.1:0' is none of these"),
        (["--cluster", "127.0.0.1:99999"], 2, "a cluster is auto, local or HOST:PORT, but '127.0.0.1:99999' is none"),
        (["--cluster", "127.0.0.1:" + "9" * 5000], 2, "a cluster is auto, local or HOST:PORT, but '127.0.0.1:9999"),
        (["--cluster", "a" * 70 + ".org:1"], 2, "a cluster is auto, local or HOST:PORT, but 'aaaa"),
        (["--cluster", "auto"], 1, "no Ray cluster runs on this machine: begin one by ray start --head, or say"),
        (["--workers", "2"], 2, "--workers and --worker-gpus are for --cluster"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_cluster_that_is_not_there_gets_one_line(words, status, why, tmp_path, capsys, monkeypatch):
    assert not ray.is_initialized()
    monkeypatch.setattr("ray._private.utils.read_ray_address", lambda *a: None)
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", functools.cache(set))  # those of other tests
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert main(["train", "tic_tac_toe", "--run", str(tmp_path / "run"), *words]) == status
    said = capsys.readouterr().err
    assert why in said and len(said.strip().splitlines()) == 1 and not (tmp_path / "run").exists()


def test_what_answers_but_is_no_cluster_gets_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(connect, "_SECONDS_TO_BE_RAY", 3.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert main(["train", "tic_tac_toe", "--run", str(tmp_path / "run"), "--cluster", address]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"beamzero: what answers at {address!r} is no head of a Ray cluster")
    assert len(said.splitlines()) == 1 and not (tmp_path / "run").exists()


ERRORS = [
    ConnectionError("no\nway in"),
    RuntimeError("Maybe you called ray.init twice by accident?"),
    TimeoutError("Timed out waiting for file"),
    ValueError("an option that it does not know"),
    OSError(13, "Permission denied", "/tmp/ray"),
    AssertionError(),
    KeyError("node_ip_address"),
    SystemExit(1),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("cluster", ["local", "auto", "127.0.0.1:6379"])
def test_whatever_keeps_ray_from_its_start_gets_one_line(cluster, error, tmp_path, capsys, monkeypatch):
    def fail(**_):
        raise error

    monkeypatch.setattr(ray, "init", fail)
    monkeypatch.setattr(connect, "_check", lambda address: None)
    monkeypatch.setattr(connect, "_address_here", lambda: connect.AUTO)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert main(["train", "tic_tac_toe", "--run", str(tmp_path / "run"), "--cluster", cluster]) == 1
    said = capsys.readouterr().err
    assert said.startswith("beamzero: ") and len(said.splitlines()) == 1 and not (tmp_path / "run").exists()
    assert ("Ray cannot begin a cluster" if cluster == "local" else "no Ray cluster") in said


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ("raise ModuleNotFoundError('no ray')", "a cluster needs Ray: pip install 'beamzero[cluster]'"),
        (
            "raise OSError('cannot open libray.so')",
            "a cluster needs Ray, which cannot be loaded: cannot open libray.so",
        ),
    ],
)
def test_where_ray_is_missing_or_broken_one_line_says_so(found, said, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "ray"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "__init__.py").write_text(found)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RunStopped) as error, connect.connected("local"):
        pass
    assert str(error.value) == said


def test_a_head_that_has_stopped_answering_gets_one_line(monkeypatch):
    """As one whose machine is out of memory: the port is open, and nothing comes."""
    monkeypatch.setattr(connect, "_SECONDS_TO_BE_RAY", 3.0)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        address = f"127.0.0.1:{port}"
        monkeypatch.setattr("ray._private.services.find_gcs_addresses", functools.cache(lambda: {address}))
        monkeypatch.setattr("ray._private.utils.read_ray_address", lambda *a: None)
        with pytest.raises(RunStopped, match=f"what answers at '.*:{port}' is no head"), connect.connected("auto"):
            pass
