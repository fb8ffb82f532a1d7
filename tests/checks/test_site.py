"""The documentation as a site: it is built without a warning, no link is dead, and nothing comes from elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from mkdocs.config import load_config

import beamzero as bz
from beamzero.cli.commands import COMMAND_TABLE
from beamzero.training.algorithm import ALGORITHMS
from beamzero.training.recipes import list_recipes
from beamzero.training.settings import describe_settings

ROOT = Path(__file__).resolve().parents[2]
FROM_ROOT = {"CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing", "SECURITY.md": "security"}
PAGES = {**FROM_ROOT, "examples/README.md": "examples"} | {
    f"docs/{path.name}": path.stem for path in sorted((ROOT / "docs").glob("*.md"))
}
LOADED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("use", "href")}
COUNTED = ("h2", "h3", "li", "ol", "pre", "table", "td", "ul")


class Parsed(HTMLParser):
    """The links, the anchors and the number of tags of each kind of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, str, str]] = []  # tag, attribute, address
        self.tags: Counter[str] = Counter()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value:
                self.links.append((tag, name, value))


def build(folder: Path, settings: Path) -> tuple[int, str]:
    """Build the site as `make docs` does. Returns the exit status and what was said."""
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(settings)]
    built = subprocess.run(
        [*words, "--site-dir", str(folder)], cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return built.returncode, built.stderr + built.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    status, said = build(folder, ROOT / "mkdocs.yml")
    assert status == 0 and "WARNING" not in said, said
    return folder


@pytest.fixture(scope="module")
def parsed(site: Path) -> dict[Path, Parsed]:
    return {path: Parsed(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if path.name != "404.html"}


@pytest.mark.check
def test_what_is_wrong_with_a_page_ends_the_build(tmp_path: Path) -> None:
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("beamzero", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "docs" / "new.md").write_text("# New\n\n[a](games.md#no-such) [b](none.md) [c](../README.md)\n")
    status, said = build(tmp_path / "site", tmp_path / "mkdocs.yml")
    assert status != 0 and "Aborted with 3 warnings in strict mode" in said
    assert "'#no-such'" in said.replace("games.md#", "#") and "'none.md'" in said and "- new.md" in said
    assert "--quiet" not in (ROOT / "Makefile").read_text(encoding="utf-8"), "it would forgive warnings"


def dead_links(pages: dict[Path, Parsed]) -> list[str]:
    """List the links between pages that lead to no file or to no anchor."""
    dead = []
    for page, found in pages.items():
        for _, _, link in found.links:
            where = urlsplit(link)
            if where.scheme or where.netloc:
                continue
            target = (page.parent / unquote(where.path)).resolve() if where.path else page
            anchor = unquote(where.fragment)
            if not target.is_file() or (anchor and target in pages and anchor not in pages[target].anchors):
                dead.append(f"{page.name}: {link}")
    return dead


@pytest.mark.check
def test_every_link_leads_to_a_page_and_an_anchor(parsed: dict[Path, Parsed]) -> None:
    assert len(parsed) > 50 and dead_links(parsed) == []


@pytest.mark.check
def test_a_dead_link_of_the_site_is_seen(tmp_path: Path) -> None:
    texts = {
        "a.html": '<a href="b.html#there">1</a> <a href="b.html#not">2</a> <a href="c.html">3</a> <img src="d.png">',
        "b.html": '<h2 id="there"></h2>',
    }
    pages = {tmp_path / name: Parsed(text) for name, text in texts.items()}
    for path in pages:
        path.touch()
    assert dead_links(pages) == ["a.html: b.html#not", "a.html: c.html", "a.html: d.png"]


@pytest.mark.check
def test_nothing_is_loaded_from_elsewhere(site: Path, parsed: dict[Path, Parsed]) -> None:
    loaded = {link for found in parsed.values() for tag, name, link in found.links if (tag, name) in LOADED}
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    loaded |= {link for style in styles for link in re.findall(r"(?:url\(|@import )[\"']?([^\"')]+)", style)}
    assert len(loaded) > 5
    assert not {link for link in loaded if re.match(r"(https?:)?//", link)}


def names_of(nav: Any) -> set[str]:
    """Name the pages of a part of the navigation."""
    if isinstance(nav, str):
        return {nav}
    return {name for part in (nav.values() if isinstance(nav, dict) else nav) for name in names_of(part)}


@pytest.mark.check
def test_every_page_is_in_the_navigation() -> None:
    nav = names_of(load_config(str(ROOT / "mkdocs.yml"))["nav"])
    assert {f"{name}.md" for name in PAGES.values()} <= nav


@pytest.mark.check
def test_every_name_of_the_package_is_in_the_reference(site: Path, parsed: dict[Path, Parsed]) -> None:
    anchors = set().union(*(found.anchors for path, found in parsed.items() if path.parent.name == "python"))
    assert [name for name in bz.__all__ if f"beamzero.{name}" not in anchors] == []


@pytest.mark.check
def test_every_setting_recipe_and_command_is_in_the_reference(site: Path, parsed: dict[Path, Parsed]) -> None:
    reference = site / "reference"
    for name in ALGORITHMS.built_in:
        text = (reference / "settings" / f"{name}.html").read_text(encoding="utf-8")
        settings = [key for key, _, _ in describe_settings(ALGORITHMS[name].settings_type)]
        assert [key for key in settings if f"<code>{key}</code>" not in text] == []
    assert set(list_recipes()) <= parsed[reference / "recipes.html"].anchors
    shown = {name for name, entry in COMMAND_TABLE.items() if not entry.hidden}
    assert shown <= parsed[reference / "commands.html"].anchors


@pytest.mark.check
@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_lists_tables_and_blocks_that_github_shows(page: str, site: Path) -> None:
    """The two read Markdown differently: the site wants four spaces where GitHub is content with two."""
    theirs = Parsed(MarkdownIt("commonmark").enable("table").render((ROOT / page).read_text(encoding="utf-8")))
    whole = (site / f"{PAGES[page]}.html").read_text(encoding="utf-8")
    ours = Parsed(whole.partition("<article")[2].partition("</article>")[0])
    assert {tag: ours.tags[tag] for tag in COUNTED} == {tag: theirs.tags[tag] for tag in COUNTED}


@pytest.mark.external
def test_the_search_answers_in_a_page_that_was_opened_as_a_file(site: Path) -> None:
    from playwright.sync_api import sync_playwright

    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.click("input.md-search__input")
        page.keyboard.type("battle")
        page.wait_for_selector(".md-search-result__link")
        found = page.eval_on_selector(".md-search-result__link", "link => link.href")
        browser.close()
    assert Path(unquote(urlsplit(found).path)).is_file()
    assert asked and not [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]
