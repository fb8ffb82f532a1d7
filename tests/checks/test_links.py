"""Every link between our pages leads somewhere, and every command that they name is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from beamzero.cli.commands import COMMAND_TABLE

pytestmark = pytest.mark.check

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"^(?:    |\$ )(?:\.venv/bin/|python -m )?beamzero ([a-z][\w-]*)", re.MULTILINE)
FILE = re.compile(r"python3? (benchmarks/[\w/]+\.py)")


def headings(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def dead_links(page: Path, text: str) -> list[str]:
    """The links of a page, whose text is given, that lead to no file or to no heading."""
    dead = []
    for link in LINK.findall(text):
        where, _, anchor = link.partition("#")
        target = (page.parent / where).resolve() if where else page
        if re.match(r"[a-z]+:", link):
            continue  # elsewhere in the world
        if not target.exists() or (anchor and anchor not in headings(target)):
            dead.append(link)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_that_there_are(page: Path) -> None:
    assert dead_links(page, page.read_text(encoding="utf-8")) == []


def test_a_dead_link_is_seen() -> None:
    page = ROOT / "README.md"
    text = "[a](docs/none.md) [b](docs/probs.md#no-such-heading) [c](docs/probs.md) [d](https://example.org/x)"
    assert dead_links(page, text) == ["docs/none.md", "docs/probs.md#no-such-heading"]


def test_pages_name_commands_and_programs_that_there_are() -> None:
    unknown = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        wrong = [name for name in COMMAND.findall(text) if name not in COMMAND_TABLE]
        wrong += [name for name in FILE.findall(text) if not (ROOT / name).is_file()]
        if wrong:
            unknown[page.name] = wrong
    assert not unknown
