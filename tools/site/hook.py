"""Adds to mkdocs: pages from outside of docs/, pages made of the code, and links as GitHub reads them.

A link in a page leads to a file of the repository. Here it leads to the page of that file: a file of code that a page
links to gets one under source/, and a notebook is copied there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pages import GENERATED

ROOT = Path(__file__).resolve().parents[2]
FROM_ROOT = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "examples/README.md": "examples.md",
}
"""Files outside of docs/ that are pages, with their names in the site."""

LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?(?: \"[^\"]*\")?\))")
CODE = re.compile(r"^```.*?^```$|^(?: {4}[^\n]*\n)+|`[^`\n]+`", re.MULTILINE | re.DOTALL)
FENCES = {".py": "python", ".toml": "toml", ".sh": "bash", ".yaml": "yaml"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/, and the files of code that pages link to."""
    for path, uri in FROM_ROOT.items():
        files.append(File.generated(config, uri, content=(ROOT / path).read_text(encoding="utf-8")))
    for uri, make in GENERATED.items():
        files.append(File.generated(config, uri, content=make()))
    for name in ("site.css", "iframe-worker.js"):
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(Path(__file__).with_name(name))))
    linked = {path for file in files.documentation_pages() for path in linked_files(file.src_uri, file.content_string)}
    for path in sorted(linked):
        if site_uri(path) == f"source/{path}.md":
            files.append(File.generated(config, site_uri(path), content=source_page(path)))
        elif site_uri(path) == f"source/{path}":
            files.append(File.generated(config, site_uri(path), abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let the links of a page lead to pages of the site."""
    uri = page.file.src_uri
    return rewrite_links(markdown, uri, lambda path: posixpath.relpath(site_uri(path), posixpath.dirname(uri) or "."))


def origin(uri: str) -> str:
    """Give the path in the repository of a page; of a page that is made here, the path that it would have."""
    return next((path for path, page in FROM_ROOT.items() if page == uri), f"docs/{uri}")


def site_uri(path: str) -> str:
    """Give the place in the site of a file of the repository, by its path there; of a folder, that of its README."""
    if (ROOT / path).is_dir():
        path = posixpath.normpath(f"{path}/README.md")
    if path == "README.md":
        return "index.md"
    if path in FROM_ROOT:
        return FROM_ROOT[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}.md" if Path(path).suffix in FENCES else f"source/{path}"


def linked_files(uri: str, markdown: str) -> Iterator[str]:
    """Yield the files of the repository that a page links to."""
    found: list[str] = []
    rewrite_links(markdown, uri, lambda path: found.append(path) or path)  # type: ignore[func-returns-value]
    yield from (path for path in found if (ROOT / path).is_file())


def rewrite_links(markdown: str, uri: str, place: Callable[[str], str]) -> str:
    """Replace each link that leads to a file, outside of code, by `place` of the file's path in the repository."""
    folder = posixpath.dirname(origin(uri))

    def replace(link: re.Match[str]) -> str:
        start, target, end = link.groups()
        if re.match(r"[a-z]+:", target):
            return link.group()
        return start + place(posixpath.normpath(posixpath.join(folder, target))) + end

    parts, last = [], 0
    for code in CODE.finditer(markdown):
        parts += [LINK.sub(replace, markdown[last : code.start()]), code.group()]
        last = code.end()
    return "".join([*parts, LINK.sub(replace, markdown[last:])])


def source_page(path: str) -> str:
    """Make the page of a file of code."""
    text = (ROOT / path).read_text(encoding="utf-8")
    head = "---\nhide: [navigation, toc]\nsearch:\n  exclude: true\n---\n"
    return f"{head}# {path}\n\n````{FENCES[Path(path).suffix]}\n{text}````\n"
