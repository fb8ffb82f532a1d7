"""The sessions in the README, on the home page, in the tutorial and in the page on Python run as they are printed."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    ("page", "examples"),
    [("README.md", 5), ("docs/python.md", 18), ("docs/index.md", 3), ("docs/tutorial.md", 14)],
)
def test_the_sessions_of_a_page_run_as_printed(page, examples, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried >= examples and failed == 0
