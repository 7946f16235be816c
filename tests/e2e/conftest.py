"""A real server and a real Chromium for the flows that a person goes through."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from services.chromium import FLAGS
from services.server import Server

expect.set_options(timeout=20_000)  # a busy machine is no failure; what must be quick is timed by itself
SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """``headscope serve`` as a newcomer has it: nothing stored but what ships."""
    running = Server(tmp_path_factory.mktemp("newcomer"))
    yield running
    running.stop()


@pytest.fixture(scope="session")
def browser(chromium_path: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium_path, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """A browser profile of its own, 1280 x 800; anything that the page logs as an error fails the test."""
    opened = browser.new_context(base_url=server.url, viewport={"width": 1280, "height": 800})
    opened.set_default_timeout(20_000)
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page; an uncaught exception or an error in its console fails the test at the end."""
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(f"uncaught: {error}"))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield opened
    assert errors == []


@pytest.fixture(scope="session")
def lab(server: Server) -> str:
    """Where the lab is, once a worker has the model: a page opened before says that it waits."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        asked = httpx.post(
            f"{server.url}/api/v1/lab/look", json={"model": "headscope-2l", "text": "a b"}, timeout=60
        )
        if asked.status_code == 200:
            return "/lab?model=headscope-2l"
        time.sleep(1)
    raise RuntimeError("No worker took up headscope-2l.")


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures of the pages go: build/screenshots."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS
