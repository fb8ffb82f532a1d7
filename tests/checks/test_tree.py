"""No file keeps the marks of a merge that was left half done."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.check

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"^(<{7} |>{7} |={7}$)", re.MULTILINE)
TEXTS = {".py", ".md", ".toml", ".js", ".css", ".html", ".yml", ".yaml", ".cff", ".sh", ".txt", ""}


def test_no_marks_of_a_merge_are_left() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    texts = [ROOT / name for name in listed if name and Path(name).suffix in TEXTS and (ROOT / name).is_file()]
    assert len(texts) > 300
    assert [str(path.relative_to(ROOT)) for path in texts if MARK.search(path.read_text("utf-8", "replace"))] == []


def test_a_mark_is_seen() -> None:
    assert MARK.search("a\n" + "<" * 7 + " HEAD\nb\n")
