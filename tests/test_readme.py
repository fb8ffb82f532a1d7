"""The README's session runs as it is printed."""

from __future__ import annotations

import doctest
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def test_the_session_in_the_readme_runs_as_printed():
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert tried >= 8 and failed == 0
