"""A server and a browser for the tests of this folder, and a look at what went wrong in any page."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.web.browser.driver import EXTRA, GAMES, Server, Visitor, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), GAMES, "--agent", f"connect_four={EXTRA}") as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Ends with each module: while it lives, this thread has a running event loop, which other tests cannot do with."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, server: Server) -> Iterator[Callable[..., Visitor]]:
    """Makes browsers of their own; in the end nothing may have gone wrong in any of their pages."""
    visitors: list[Visitor] = []

    def make(at: Server = server, **options: Any) -> Visitor:
        visitors.append(Visitor(browser, at, **options))
        return visitors[-1]

    yield make
    problems = [problem for visitor in visitors for problem in visitor.problems]
    for visitor in visitors:
        visitor.context.close()
    assert problems == []


@pytest.fixture
def visitor(visit: Callable[..., Visitor]) -> Visitor:
    return visit()


@pytest.fixture
def page(visitor: Visitor) -> Page:
    return visitor.open()
