"""Clusters that are not there, or are none."""

from __future__ import annotations

import functools
import socket

import pytest
import ray

from beamzero.cli import main
from beamzero.cluster import connect


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--cluster", "127.0.0.1:1"], "no Ray cluster at '127.0.0.1:1': [Errno 111] Connection refused"),
        (["--cluster", "nonsense"], "a cluster is auto, local or HOST:PORT, but 'nonsense' is none of these"),
        (["--cluster", "auto"], "no Ray cluster runs on this machine: begin one by ray start --head, or say --cluster"),
        (["--workers", "2"], "--workers and --worker-gpus are for --cluster"),
    ],
)
def test_a_cluster_that_is_not_there_gets_one_line(words, why, tmp_path, capsys, monkeypatch):
    assert not ray.is_initialized()
    monkeypatch.setattr("ray._private.utils.read_ray_address", lambda *a: None)
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", functools.cache(set))  # those of other tests
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert main(["train", "tic_tac_toe", "--run", str(tmp_path / "run"), *words]) == 2
    said = capsys.readouterr().err
    assert why in said and len(said.strip().splitlines()) == 1 and not (tmp_path / "run").exists()


def test_what_answers_but_is_no_cluster_gets_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(connect, "_SECONDS_TO_BE_RAY", 3.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert main(["train", "tic_tac_toe", "--run", str(tmp_path / "run"), "--cluster", address]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"beamzero: what answers at {address!r} is no head of a Ray cluster")
    assert len(said.splitlines()) == 1 and not (tmp_path / "run").exists()
