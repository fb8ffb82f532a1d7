"""What a machine has and lacks is said whatever is missing, JAX too."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jax
import pytest

import beamzero
from beamzero.cli import main
from beamzero.cli.commands import doctor
from beamzero.core.errors import BadInput
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ALL_IS_WELL = "all that is needed is here\n"


def name_of(requirement: str) -> str:
    """Give the name of the package that a requirement is about."""
    return re.split(r"[\[<>=; ]", requirement)[0]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor.out, "width", 80)


@pytest.fixture
def without(monkeypatch):
    """Make a function that takes packages away."""

    def take(*names: str) -> None:
        there = importlib.metadata.version

        def version(name: str) -> str:
            if name in names:
                raise importlib.metadata.PackageNotFoundError(name)
            return there(name)

        monkeypatch.setattr(importlib.metadata, "version", version)

    return take


def examined(capsys, status: int = 0) -> dict:
    """Run doctor --json."""
    assert main(["doctor", "--json"]) == status
    out, err = capsys.readouterr()
    assert err == "" and out.count("\n") == 1
    return json.loads(out)


def test_what_is_there(capsys):
    found = examined(capsys)
    assert found["versions"]["beamzero"] == beamzero.__version__ and found["versions"]["jax"] == jax.__version__
    assert found["devices"][0]["platform"] == "cpu" and found["cores"] == os.cpu_count()
    assert 0 < found["memory"]["free"] <= found["memory"]["total"]
    assert found["runs"]["folder"] == "runs" and found["runs"]["free"] > 0
    assert found["cache"]["folder"] == jax.config.jax_compilation_cache_dir and found["cache"]["free"] > 0
    assert found["packages"]["fastapi"] == importlib.metadata.version("fastapi")
    assert found["broken"] == [] and list(Path.cwd().iterdir()) == []


def test_for_people_it_fits_into_80_columns(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "find_program", lambda name: f"/opt/{'games/' * 20}{name}")
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert text.endswith(ALL_IS_WELL) and max(map(len, text.splitlines())) <= 80
    assert f"beamzero {beamzero.__version__}, Python 3." in text and "compiled programs" in text


def test_each_program_and_package_that_is_missing_is_named_with_its_use(capsys, monkeypatch, without):
    def nowhere(name: str) -> str:
        raise BadInput(f"there is no program {name!r}")

    monkeypatch.setattr(doctor, "find_program", nowhere)
    without(*doctor.PACKAGES)
    found = examined(capsys)
    assert set(found["programs"].values()) == {None} == set(found["packages"].values())
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, (use, how) in [*doctor.PROGRAMS.items(), *doctor.PACKAGES.items()]:
        place = next(place for place, line in enumerate(lines) if re.match(rf" {name} +missing +", line))
        assert lines[place].rstrip().endswith(use) and lines[place + 1].strip() == how
    assert max(map(len, lines)) <= 80


def test_programs_are_found_where_the_agents_look(capsys, tmp_path, monkeypatch):
    program = tmp_path / "gnubg"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert examined(capsys)["programs"]["gnubg"] == str(program)


def test_packages_and_extras_are_those_of_the_project():
    assert set(doctor._NEEDED) == {*map(name_of, PROJECT["dependencies"]), "jaxlib"}
    extras = {extra: {*map(name_of, names)} for extra, names in PROJECT["optional-dependencies"].items()}
    named = set()
    for package, (_, how) in doctor.PACKAGES.items():
        if asked := re.fullmatch(r"pip install 'beamzero\[(\w+)\]'", how):
            named.add(asked[1])
            assert package in extras[asked[1]] or (asked[1], package) == ("cuda", "jax-cuda13-plugin")
    assert named == extras.keys() - {"dev", "docs"}


def test_a_package_that_is_needed_is_missed(capsys, without):
    without("flax")
    found = examined(capsys, status=1)
    assert found["versions"]["flax"] is None and found["broken"] == ["beamzero needs flax: pip install flax"]
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "flax missing" in " ".join(said.split()) and said.endswith("broken: beamzero needs flax: pip install flax\n")


def test_devices_that_jax_does_not_find(capsys, monkeypatch):
    def fail():
        raise RuntimeError("no device\nanswers")

    monkeypatch.setattr(jax, "devices", fail)
    found = examined(capsys, status=1)
    assert found["devices"] == [] and found["broken"] == ["JAX does not work: RuntimeError: no device answers"]


def test_a_gpu_that_jax_does_not_see_is_no_fault_but_said(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "_NVIDIA_DRIVER", tmp_path)
    assert examined(capsys)["unseen_gpu"] is True
    assert main(["doctor"]) == 0
    assert "JAX does not see the NVIDIA GPU that is here: pip install 'beamzero[cuda]'\n" in capsys.readouterr().out


def test_a_cache_that_cannot_be_written(capsys, tmp_path):
    (tmp_path / "file").touch()
    folder = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update("jax_compilation_cache_dir", str(tmp_path / "file" / "jax"))
        found = examined(capsys, status=1)
        jax.config.update("jax_compilation_cache_dir", "gs://bucket/jax")
        elsewhere = examined(capsys)
        jax.config.update("jax_compilation_cache_dir", None)
        nowhere = examined(capsys)
        assert main(["doctor"]) == 0 and "none are kept" in capsys.readouterr().out
    finally:
        jax.config.update("jax_compilation_cache_dir", folder)
    (line,) = found["broken"]
    assert line.startswith(f"compiled programs cannot be kept in {tmp_path}/file/jax (not a directory)")
    assert elsewhere["cache"]["folder"] == "gs://bucket/jax" and nowhere["cache"] is None


def test_the_size_of_the_cache(capsys, tmp_path):
    for name in ("one", "other"):
        (tmp_path / "kept" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "kept" / name).write_bytes(bytes(2**20))
    folder = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update("jax_compilation_cache_dir", str(tmp_path / "kept"))
        found = examined(capsys)["cache"]
    finally:
        jax.config.update("jax_compilation_cache_dir", folder)
    assert (found["files"], found["bytes"]) == (2, 2**21)


def test_a_folder_of_runs_that_is_none(capsys, tmp_path):
    (tmp_path / "runs").touch()
    assert examined(capsys, status=1)["broken"] == [
        "no training run can be kept in runs: it is no folder that you may write to"
    ]


def test_a_disk_that_is_full(capsys, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: shutil._ntuple_diskusage(2**40, 2**40 - 2**20, 2**20))
    lines = examined(capsys, status=1)["broken"]
    assert lines[0] == "the disk of runs is full: 1 MB are free" and len(lines) == 2


def test_without_jax_it_says_so_and_the_rest():
    program = """
import sys
class NoJax:
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ("jax", "jaxlib"):
            raise ImportError("libcuda is too old")
sys.meta_path.insert(0, NoJax())
from beamzero.cli import main
sys.exit(main(["doctor"]))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([sys.executable, "-c", program], env=environment, text=True, capture_output=True)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "broken: JAX does not work: ImportError: libcuda is too old\n" in ended.stdout
    assert "devices            none" in ended.stdout and "fairy-stockfish" in ended.stdout
