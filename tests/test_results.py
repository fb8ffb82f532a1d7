"""The page of results says what was measured, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"


def test_the_page_is_what_the_kept_results_say():
    """`python benchmarks/results.py page` writes it."""
    spec = importlib.util.spec_from_file_location("results_page", ROOT / "benchmarks" / "results.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "results.md").read_text() == module.page()


def test_every_figure_has_its_command_machine_and_day_and_the_command_is_still_the_same():
    for path in RESULTS.glob("*.toml"):
        kept = json.loads(path.with_suffix(".json").read_text())
        assert [entry["command"] for entry in kept] == tomllib.loads(path.read_text())["commands"], path.name
        assert all(entry["machine"] and entry["date"] and entry["result"] for entry in kept)
    assert all((RESULTS / f"{path.stem}.toml").exists() for path in RESULTS.glob("*.json"))
