"""Where JAX keeps compiled programs, and what is said where it cannot, or cannot use a device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from beamzero.cli import main
from beamzero.core import compiler
from beamzero.core.errors import BadInput
from tests.training.toy import ROOT

CACHE = "Error reading persistent compilation cache entry for 'jit_stage': "


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    words = (sys.executable, "-m", "beamzero", *words)
    return subprocess.run(words, cwd=folder, env=environment, text=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.parametrize("platforms", ["cuda", "nonsense", "cpu,nonsense"])
def test_a_platform_that_is_not_there_gets_one_line(tmp_path, platforms):
    ended = run(tmp_path, "perft", "tic_tac_toe", "2", JAX_PLATFORMS=platforms, CUDA_VISIBLE_DEVICES="")
    assert (ended.returncode, ended.stdout) == (2, "") and ended.stderr.count("\n") == 1
    assert f"JAX_PLATFORMS is '{platforms}', but JAX finds no such platform here (there are: " in ended.stderr


@pytest.mark.slow
def test_a_server_that_cannot_use_the_platform_writes_nothing(tmp_path):
    pytest.importorskip("uvicorn")
    ended = run(tmp_path, "serve", "--port", "0", "--keep", "games.db", JAX_PLATFORMS="nonsense")
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1 and not list(tmp_path.iterdir())


def test_only_errors_about_platforms_are_said_to_be_such(monkeypatch):
    monkeypatch.setattr(compiler, "_platforms", lambda: ["cpu"])
    monkeypatch.setattr(jax, "devices", lambda: ["one"])
    missing = RuntimeError("Unable to initialize backend 'mars': Backend 'mars' is not in the list of known backends")
    wrapped = BadInput("'mine' cannot be played")
    wrapped.__cause__ = missing
    asked = jax.config.jax_platforms
    try:
        jax.config.update("jax_platforms", "mars")
        said = "JAX_PLATFORMS is 'mars', but JAX finds no such platform here (there are: cpu)"
        assert compiler.missing_platform(missing) == compiler.missing_platform(wrapped) == said
        assert compiler.missing_platform(AssertionError()) is None, "for here JAX can be used"
        assert compiler.missing_platform(RuntimeError("something else")) is None
        jax.config.update("jax_platforms", None)
        assert compiler.missing_platform(missing) is None
    finally:
        jax.config.update("jax_platforms", asked)


def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "file").touch()
    folder = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update("jax_compilation_cache_dir", str(tmp_path / "file" / "jax"))
        text = compiler.plain_warning(f"{CACHE}NotADirectoryError")
        assert text.startswith(f"compiled programs cannot be kept in {tmp_path}/file/jax (not a directory), so that")
        jax.config.update("jax_compilation_cache_dir", str(tmp_path / "jax"))
        assert compiler.plain_warning(f"{CACHE}zlib.error") is None, "another process was writing it"
        assert compiler.plain_warning("something else") == "something else"
    finally:
        jax.config.update("jax_compilation_cache_dir", folder)


@pytest.mark.slow
def test_a_home_that_cannot_be_written_to_is_no_hindrance(tmp_path):
    (tmp_path / "file").touch()
    variables = {"XDG_CACHE_HOME": str(tmp_path / "file"), "JAX_COMPILATION_CACHE_DIR": ""}
    ended = run(tmp_path, "perft", "tic_tac_toe", "1", **variables)
    assert ended.returncode == 0 and ended.stdout.split() == ["1", "9"]
    assert ended.stderr.startswith("beamzero: compiled programs cannot be kept in ") and ended.stderr.count("\n") == 1


def test_a_user_without_a_home_keeps_nothing(monkeypatch):
    def fail() -> Path:
        raise RuntimeError("Could not determine home directory.")

    folder = jax.config.jax_compilation_cache_dir
    monkeypatch.setattr(Path, "home", fail)
    for name in ("XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    compiler.keep_compiled_code()
    assert jax.config.jax_compilation_cache_dir == folder
    assert main(["recipes", "quick"]) == 2
