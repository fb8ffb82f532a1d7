"""The front door: what `beamzero` offers to Python, by name, by type and by example."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import beamzero as bz

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted({"beamzero", *(getattr(bz, name).__module__ for name in bz.__all__)})


def test_the_names_for_checkers_are_those_at_run_time():
    source = ast.parse((ROOT / "beamzero" / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in source.body if isinstance(node, ast.If))
    typed = {
        alias.asname or alias.name: f"{node.module}:{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == bz._HOMES and sorted(typed) == bz.__all__ == sorted(bz.__all__)
    assert dir(bz) == sorted([*bz.__all__, "__version__"])
    assert (ROOT / "beamzero" / "py.typed").exists()


def test_every_name_is_there_and_says_what_it_is():
    for name in bz.__all__:
        found = getattr(bz, name)
        assert inspect.getdoc(found), f"{name} has no docstring"
    with pytest.raises(AttributeError, match="module 'beamzero' has no attribute 'trian'"):
        _ = bz.trian


def test_importing_it_imports_no_jax():
    program = "import sys, beamzero; dir(beamzero); sys.exit('jax' in sys.modules or 'numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    found = doctest.testmod(module, extraglobs={"folder": tmp_path / "run"})
    assert found.attempted and not found.failed


@pytest.mark.parametrize("name", bz.__all__)
def test_every_name_has_an_example(name):
    assert ">>>" in (inspect.getdoc(getattr(bz, name)) or "")
