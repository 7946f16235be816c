"""Text of any script in a real Chromium: its characters over the byte tokens that share them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from e2e.test_lab import paste, tokens

TEXT = "日本語 😀 привет"


def box_of(place: Locator) -> FloatRect:
    """Where something that is on the page stands, in pixels."""
    found = place.bounding_box()
    assert found is not None
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_characters_of_any_script_are_drawn_over_their_tokens(
    page: Page, lab: str, screenshots: Path, scheme: str
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{lab}&head=0.1")
    page.get_by_role("button", name="Write a prompt").click()
    page.get_by_label("Your prompt").fill(TEXT)
    preview = page.locator(".typed-tokens .glyph")
    expect(preview.first).to_be_visible()
    assert "".join(preview.all_inner_texts()).replace("·", "") == TEXT.replace(" ", "")
    page.screenshot(path=screenshots / f"lab-glyphs-typed-{scheme}.png")
    page.get_by_role("button", name="Cancel").click()
    paste(page, TEXT)
    strip = tokens(page)
    glyphs = strip.locator(".glyph")
    shown = "".join(glyphs.all_inner_texts()).replace("·", "")
    assert shown == TEXT.replace(" ", "")
    assert not re.search(r"\b[0-9a-f]{2}( [0-9a-f]{2})*\b", strip.inner_text())
    first = glyphs.first
    boxes = first.locator("[data-token]")
    whole = box_of(first)
    parts = [box_of(box) for box in boxes.all()]
    assert len(parts) == 3
    for part in parts:
        assert part["width"] >= 8
        assert whole["x"] - 1 <= part["x"]
        assert part["x"] + part["width"] <= whole["x"] + whole["width"] + 1
    beside = box_of(strip.locator(".lab-token.special"))
    assert abs(parts[0]["y"] - beside["y"]) < 1.5, "they stand in the line of the other tokens"
    boxes.nth(1).click()
    card = page.get_by_role("region", name="Tokens", exact=True)
    expect(card.get_by_text(re.compile(r"^Token \d+ 日 2/3 \(id \d+, bytes 97\)"))).to_be_visible()
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)
    page.screenshot(path=screenshots / f"lab-glyphs-{scheme}.png", full_page=True)
