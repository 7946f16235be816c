"""What a newcomer does, in a real Chromium: look, run, watch, narrow down, share, cancel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from services.server import Server

GRID = "Roles of all heads"
THRESHOLD = "Role threshold"
MINUTE = 60_000


def wait_for_map(page: Page) -> None:
    """Until the role grid is drawn."""
    grid = page.get_by_role("region", name=GRID)
    expect(grid.locator(".js-plotly-plot .heatmaplayer image").first).to_be_attached()


def drawn(page: Page) -> list[list[float | None]]:
    """The role codes that the grid draws, row by row; None in its gaps."""
    rows: list[list[float | None]] = page.evaluate(
        """() => [...document.querySelector('.role-grid .js-plotly-plot').data[0].z].map(
            row => [...row].map(z => Number.isFinite(z) ? z : null))"""
    )
    return rows


def move_threshold(page: Page, value: str) -> None:
    page.get_by_label(THRESHOLD).fill(value)
    page.wait_for_url(re.compile(rf"threshold={value}"))


def open_form(page: Page, steps: int, seeds: int) -> None:
    """The new-run form for headscope-2l on induction, with these two parameters."""
    page.goto("/new?model=headscope-2l&task=induction&preset=quick")
    page.get_by_label("Updates per phase").fill(str(steps))
    page.get_by_label("Seeds", exact=True).fill(str(seeds))
    expect(page.get_by_role("region", name="What it will take")).to_contain_text("About")


def test_the_first_page_is_a_real_map(page: Page, server: Server, screenshots: Path) -> None:
    page.goto("/")
    wait_for_map(page)
    expect(page.get_by_label("Model")).to_be_visible()
    expect(page.get_by_label("Task")).to_be_visible()
    codes = {code for row in drawn(page) for code in row if code is not None}
    assert {1.0, 4.0} <= codes  # some heads are needed, some don't matter
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(400)
        page.screenshot(path=screenshots / f"atlas-{scheme}.png")


def test_a_newcomer_runs_watches_narrows_down_and_shares(
    page: Page, browser: Browser, server: Server, screenshots: Path
) -> None:
    open_form(page, steps=8, seeds=3)
    page.screenshot(path=screenshots / "new-run-light.png", full_page=True)
    page.get_by_role("button", name="Start", exact=True).click()

    page.wait_for_url(re.compile(r"/runs/[0-9a-f]{20}"))
    wait_for_end(page)
    wait_for_map(page)
    before = drawn(page)

    move_threshold(page, "0.95")
    after = drawn(page)
    assert after != before
    page.reload()
    wait_for_map(page)
    expect(page.get_by_label(THRESHOLD)).to_have_value("0.95")
    assert drawn(page) == after

    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Create link").click()
    link = page.get_by_role("textbox", name="The link").input_value()
    assert re.search(r"/s/[\w-]{16,}$", link)
    page.screenshot(path=screenshots / "share-light.png")
    page.keyboard.press("Escape")

    stranger = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        other = stranger.new_page()
        other.goto(link)
        wait_for_map(other)
        expect(other.get_by_label(THRESHOLD)).to_have_value("0.95")
        assert drawn(other) == after
    finally:
        stranger.close()

    page.go_back()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(400)
        page.screenshot(path=screenshots / f"run-{scheme}.png", full_page=True)


def test_a_run_is_cancelled_within_two_seconds(page: Page, screenshots: Path) -> None:
    open_form(page, steps=5000, seeds=3)
    page.get_by_role("button", name="Start", exact=True).click()
    state = page.get_by_role("region", name="State of the run")
    expect(state.get_by_text(re.compile(r"nats"))).to_be_visible(timeout=MINUTE)
    page.screenshot(path=screenshots / "progress-light.png")
    state.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="This run was cancelled")).to_be_visible()
    page.goto("/runs")
    expect(page.get_by_role("listitem").filter(has_text="cancelled").first).to_be_visible()


def test_the_same_request_opens_the_same_run(page: Page) -> None:
    addresses = []
    for _ in range(2):
        open_form(page, steps=2, seeds=1)
        page.get_by_role("button", name="Start", exact=True).click()
        page.wait_for_url(re.compile(r"/runs/[0-9a-f]{20}"))
        wait_for_end(page)
        addresses.append(page.url.split("?")[0])
    assert addresses[0] == addresses[1]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/runs/00000000000000000000", "no run"),
        ("/s/no-such-share", "no longer works"),
        ("/nowhere", "no page"),
        ("/models/nope", "no model"),
        ("/tasks/nope", "no task"),
    ],
)
def test_what_is_not_there_is_said(context: BrowserContext, address: str, says: str) -> None:
    page = context.new_page()  # the browser's console rightly notes the 404
    page.goto(address)
    expect(page.get_by_role("main")).to_contain_text(re.compile(says, re.IGNORECASE))


@pytest.mark.parametrize(
    "address", ["/runs", "/tasks", "/tasks/singular-plural", "/models", "/models/headscope-2l"]
)
def test_every_page_opens_in_light_and_dark(page: Page, address: str, screenshots: Path) -> None:
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0, timeout=MINUTE)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(200)
        name = address.strip("/").replace("/", "-")
        page.screenshot(path=screenshots / f"{name}-{scheme}.png", full_page=True)


def test_a_task_is_added_on_the_page(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "colours.csv"
    rows: list[tuple[str, str]] = [("sky", "blue"), ("grass", "green"), ("sun", "yellow"), ("coal", "black")]
    file.write_text("prompt,target\n" + "\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")
    page.goto("/tasks")
    page.get_by_role("button", name="Add your own").click()
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_url(re.compile(r"/tasks/colours"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("colours")


def test_a_killed_worker_does_not_lose_the_run(page: Page, server: Server) -> None:
    import os
    import signal

    open_form(page, steps=60, seeds=2)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f]{20}"))
    state = page.get_by_role("region", name="State of the run")
    expect(state.get_by_text(re.compile(r"nats"))).to_be_visible(timeout=MINUTE)
    worker = server.worker_pid()
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    wait_for_end(page)
    wait_for_map(page)


def wait_for_end(page: Page, timeout: Any = 3 * MINUTE) -> None:
    """Until the run's page shows its result."""
    expect(page.get_by_role("region", name=GRID)).to_be_visible(timeout=timeout)
