"""What someone does who wants to know how a model's heads work, in a real Chromium."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from services.server import Server

MINUTE = 60_000


def choose(page: Page, section: str, picture: str, keys: str) -> None:
    """Focus a map and walk to a head with the arrow keys, as without a mouse."""
    grid = page.get_by_role("region", name=section).get_by_role("application", name=re.compile(picture))
    expect(grid.locator(".js-plotly-plot .heatmaplayer image").first).to_be_attached(timeout=MINUTE)
    grid.focus()
    for key in keys.split():
        page.keyboard.press(key)


def multiply(page: Page) -> None:
    """What head 1.5's keys read of what head 0.3 writes."""
    virtual = page.get_by_role("region", name="Virtual weights", exact=True)
    virtual.get_by_label("Writes: what").select_option("a head")
    virtual.get_by_label("Writes: head").select_option("3")
    virtual.get_by_label("Reads: what").select_option("a head’s keys")
    virtual.get_by_label("Reads: layer").select_option("1")
    virtual.get_by_label("Reads: head").select_option("5")
    virtual.get_by_role("button", name="Compute").click()
    expect(virtual).to_contain_text("0.3 → 1.5 k · norm", timeout=MINUTE)
    expect(virtual.get_by_role("row")).to_have_count(5)
    page.wait_for_url(re.compile(r"writer=0\.3&reader=1\.5"))


@pytest.mark.usefixtures("lab")  # a worker is there: until then the page says that it waits
def test_the_induction_circuit_is_found_from_the_weights(
    page: Page, server: Server, screenshots: Path
) -> None:
    page.goto("/models/headscope-2l")
    page.get_by_role("link", name="Its circuits").click()
    eigen = page.get_by_role("region", name="Eigenvalues", exact=True)
    expect(eigen).to_contain_text("Which heads look like induction heads?", timeout=MINUTE)

    # The first press takes head 0.0; head 5 of layer 1 is one to the right and five down.
    choose(page, "Eigenvalues", "What each head copies", "ArrowRight ArrowRight" + 5 * " ArrowDown")
    page.wait_for_url(re.compile(r"head=1\.5"))
    selected = page.get_by_role("region", name="Selected head")
    expect(selected).to_contain_text("Layer 1 · head 5")
    expect(selected).to_contain_text("OV positivity")
    expect(page.get_by_role("region", name="K composition", exact=True)).to_contain_text(
        "of head 1.5", timeout=MINUTE
    )
    page.screenshot(path=screenshots / "circuits-light.png", full_page=True)

    composition = page.get_by_role("region", name="Composition", exact=True)
    composition.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Create link").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Copy link")).to_be_visible()
    page.keyboard.press("Escape")
    multiply(page)

    selected.get_by_role("button", name="Open its circuits").click()
    expect(page.get_by_role("region", name="Partners of head 1.5")).to_be_visible(timeout=MINUTE)
    writes = page.get_by_role("region", name="What it writes (OV circuit)")
    expect(writes.get_by_role("row")).to_have_count(21, timeout=MINUTE)
    page.get_by_label("Show the cells of a token").fill("the")
    page.get_by_role("list", name="Tokens found").get_by_role("button").first.click()
    page.wait_for_url(re.compile(r"token=\d+"))
    expect(writes).to_contain_text("It is raised by looking at", timeout=MINUTE)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(400)
    page.screenshot(path=screenshots / "circuit-of-a-head-dark.png", full_page=True)

    page.get_by_text("raw weights", exact=True).click()
    page.get_by_text("All heads", exact=True).click()
    expect(eigen).to_contain_text("Not computed yet from raw weights")
    eigen.get_by_role("button", name="Compute").click()
    expect(eigen).to_contain_text("norm weights are left out", timeout=2 * MINUTE)


def test_a_gating_run_leads_to_the_heads_that_suffice(page: Page, server: Server) -> None:
    page.goto("/?model=headscope-2l&task=induction")
    page.get_by_role("link", name="Sufficient heads").click()
    page.wait_for_url(re.compile(r"analysis=sufficiency.*param\.run=[0-9a-f]{20}"))
    expect(page.get_by_label("Causal head gating run")).not_to_have_value("")
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f]{20}"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Sufficient heads")
    expect(page.get_by_role("region", name="How many heads are enough?")).to_be_visible(timeout=2 * MINUTE)
    page.wait_for_timeout(300)


@pytest.mark.usefixtures("lab")
def test_circuits_fit_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto("/circuits?model=headscope-2l")
    expect(page.get_by_role("heading", name="Circuits of")).to_be_visible()
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth <= 360")
    page.goto("/circuits?model=headscope-2l&writer=0.3&reader=1.5+k")
    expect(page.get_by_role("region", name="Virtual weights", exact=True)).to_contain_text(
        "0.3 → 1.5 k · norm", timeout=MINUTE
    )
    assert page.evaluate("document.documentElement.scrollWidth <= 360")
