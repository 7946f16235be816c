"""Someone who wants to know whether tasks and models differ, in a real Chromium, on the runs that ship."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

MINUTE = 60_000


def chips(page: Page) -> list[str]:
    """What is chosen."""
    pressed = page.get_by_role("region", name="Runs to compare").get_by_role("button", pressed=True)
    return pressed.all_inner_texts()


def test_shipped_runs_are_compared_and_the_comparison_is_shared(page: Page, screenshots: Path) -> None:
    page.goto("/compare")
    shares = page.get_by_role("region", name="How many heads have which role?")
    expect(shares.locator(".js-plotly-plot .barlayer").first).to_be_attached(timeout=MINUTE)
    expect(page.get_by_role("list", name="Caveats")).to_contain_text("seeds")
    shares.get_by_role("button", name="Table").click()
    expect(shares.get_by_role("row")).to_have_count(1 + len(chips(page)) + 12)  # header, runs, published
    page.get_by_label("with the paper’s Llama models").uncheck()
    page.wait_for_url(re.compile("published=no"))
    expect(shares.get_by_role("row")).to_have_count(1 + len(chips(page)))

    shares.get_by_role("button", name="Picture").click()
    page.get_by_text("Correlation", exact=True).click()
    expect(page.get_by_role("region", name="How alike are the scores spread?")).to_be_visible()
    page.screenshot(path=screenshots / "compare-correlation.png", full_page=True)

    # Pressing a chip makes the choice explicit; then two models' heads can't be matched, and it says so.
    page.get_by_role("button", name=re.compile("^Capitalize")).click()
    page.wait_for_url(re.compile("runs="))
    page.get_by_text("Overlap", exact=True).click()
    expect(page.get_by_role("region", name="One model at a time")).to_contain_text("don’t match")
    page.get_by_role("button", name=re.compile("^Only SmolLM2")).click()
    overlap = page.get_by_role("region", name="Do tasks use the same heads?")
    expect(overlap).to_contain_text("φ")
    assert len(chips(page)) == 3

    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name="Create link").click()
    link = page.get_by_label("The link", exact=True).input_value()
    page.goto(re.sub(r"^https?://[^/]+", "", link))
    expect(page.get_by_text("Shared comparison")).to_be_visible(timeout=MINUTE)
    expect(page.get_by_role("region", name="Do tasks use the same heads?")).to_be_visible()


def test_one_run_is_given_company_and_the_page_fits_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto("/compare?runs=none")
    expect(page.get_by_role("heading", name="No runs chosen")).to_be_visible(timeout=MINUTE)
    page.get_by_role("button", name=re.compile("^Singular to plural")).click()
    page.get_by_role("button", name=re.compile("^Other tasks of SmolLM2")).click()
    assert len(chips(page)) == 3
    for view in ("Distributions", "Correlation", "Overlap"):
        page.get_by_text(view, exact=True).click()
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth <= 360"), view
