"""The prompt lab in a real Chromium: paste, see stripes, mute, lose the repeat; keyboard, small screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

PROMPT = " was li thee th ne su our are lo know there was li thee th ne su our are lo know there"
"""Words that are single tokens of headscope-2l, twice: the second half can only be copied."""

SMALL: ViewportSize = {"width": 360, "height": 740}
MUTED = re.compile(r"nats \(([\d.]+)\s%\) → .*nats \((<?\s?[\d.e−]+)\s%\)")


def tokens(page: Page) -> Locator:
    return page.get_by_role("region", name=re.compile(r"^The prompt, \d+ tokens"))


def heads(page: Page) -> Locator:
    return page.get_by_role("application", name=re.compile(r"^Patterns of \d+ heads"))


def paste(page: Page, text: str) -> None:
    """Open the editor and look at a text, by keys once it is open."""
    page.get_by_role("button", name="Write a prompt").click()
    page.get_by_label("Your prompt").fill(text)
    expect(page.get_by_role("status").filter(has_text=re.compile(r"\d+ tokens ·"))).to_be_visible()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"prompt=[0-9a-f]+"))
    expect(heads(page)).to_be_visible()


def painted(page: Page) -> int:
    """Pixels of the contact sheet that are clearly blue: cells of a pattern."""
    count: int = page.evaluate(
        """() => {
            const canvas = document.querySelector('.thumb-canvas');
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let blue = 0;
            for (let i = 0; i < data.length; i += 4) if (data[i + 2] - data[i] > 60) blue += 1;
            return blue;
        }"""
    )
    return count


def last_probabilities(page: Page) -> tuple[float, float]:
    """Of the prompt's last token, ungated and gated, read from the readout in words."""
    card = page.get_by_role("region", name="Tokens", exact=True)
    expect(card).to_have_attribute("aria-busy", "false")  # the answer to the newest gates is there
    tokens(page).focus()
    page.keyboard.press("End")
    readout = card.get_by_text(MUTED)
    expect(readout).to_be_visible()
    found = MUTED.search(readout.inner_text())
    assert found is not None
    return float(found[1]), float(found[2].lstrip("<\u202f "))


def mute_the_strongest(page: Page, n: int) -> None:
    """By keys alone: the heads come strongest induction first."""
    heads(page).focus()
    page.keyboard.press("Home")
    for i in range(n):
        if i > 0:
            page.keyboard.press("ArrowRight")
        page.keyboard.press("m")


def test_a_pasted_prompt_shows_stripes_and_muting_loses_the_repeat(
    page: Page, lab: str, screenshots: Path
) -> None:
    page.goto(lab)
    expect(heads(page)).to_be_visible()
    paste(page, PROMPT)
    assert PROMPT.split()[0] not in page.url
    expect(page.get_by_text(re.compile(r"11 of them repeat an earlier one"))).to_be_visible()
    expect(page.locator(".token-arcs path")).to_have_count(11)
    page.wait_for_timeout(500)
    assert painted(page) > 200

    mute_the_strongest(page, 2)
    page.wait_for_url(re.compile(r"mute=1\.\d%2C1\.\d"))
    expect(page.get_by_role("region", name="Selected head")).to_contain_text("induction stripe")
    before, after = last_probabilities(page)
    assert after < before / 2

    view = page.url
    page.reload()
    assert page.url == view
    expect(heads(page)).to_be_visible()
    assert last_probabilities(page) == (before, after)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(400)
        page.screenshot(path=screenshots / f"lab-{scheme}.png", full_page=True)


def test_what_is_copied_is_the_text_itself(page: Page, lab: str) -> None:
    page.goto(lab)
    expect(heads(page)).to_be_visible()
    text = "a <b>bold</b> 🙂\tword\n<|endoftext|>"
    paste(page, text)
    flow = tokens(page)
    assert flow.locator("b").count() == 0
    copied = flow.evaluate(
        """flow => {
            window.getSelection().selectAllChildren(flow);
            const data = new DataTransfer();
            const how = { clipboardData: data, bubbles: true, cancelable: true };
            flow.dispatchEvent(new ClipboardEvent('copy', how));
            return data.getData('text/plain');
        }"""
    )
    assert copied == text


def test_everything_works_without_a_mouse(page: Page, lab: str) -> None:
    page.goto(lab)
    expect(heads(page)).to_be_visible()
    page.get_by_role("button", name="Write a prompt").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your prompt")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(PROMPT)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"prompt="))
    expect(heads(page)).to_be_visible()
    mute_the_strongest(page, 1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Selected head")).to_be_focused()
    tokens(page).focus()
    for key in ("End", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(re.compile(r"locked=\d+"))
    expect(page.get_by_text(re.compile(r"^Through 1\.\d this token looks at "))).to_be_visible()
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "locked" not in url)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_small_screen(page: Page, lab: str, screenshots: Path, scheme: str) -> None:
    page.set_viewport_size(SMALL)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{lab}&head=1.5")
    expect(heads(page)).to_be_visible()
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]
    page.get_by_role("button", name=re.compile(r"^Mute 1\.")).click()
    page.wait_for_url(re.compile(r"mute="))
    page.screenshot(path=screenshots / f"lab-360-{scheme}.png", full_page=True)


def test_a_file_of_prompts_is_paged_through_and_deleted(page: Page, lab: str) -> None:
    page.goto(lab)
    expect(heads(page)).to_be_visible()
    rows = b'{"text": "one two one two"}\n{"text": "three four five three four"}\n'
    page.locator("input[type=file]").set_input_files(
        {"name": "pairs.jsonl", "mimeType": "application/jsonl", "buffer": rows}
    )
    expect(page.get_by_label(re.compile(r"^Prompt .*of 2$"))).to_have_value("1")
    page.get_by_role("button", name="Next →").click()
    page.wait_for_url(re.compile(r"row=1"))
    expect(tokens(page)).to_contain_text("three four five")
    page.get_by_role("button", name="Saved prompts").click()
    page.get_by_role("button", name="Delete pairs").click()
    page.get_by_role("button", name="Delete for good").click()
    page.wait_for_url(lambda url: "prompt=" not in url)


def test_what_cant_be_looked_at_is_said(page: Page, lab: str) -> None:
    page.goto(lab)
    expect(heads(page)).to_be_visible()
    page.get_by_role("button", name="Write a prompt").click()
    page.get_by_label("Your prompt").fill("word " * 400)
    expect(page.get_by_text(re.compile(r"tokens too many: shorten the text"))).to_be_visible()
    expect(page.get_by_role("button", name="Analyse")).to_be_disabled()
    page.get_by_label("Your prompt").fill("")
    expect(page.get_by_role("button", name="Analyse")).to_be_disabled()
    page.get_by_role("button", name="Cancel").click()
    expect(tokens(page)).to_be_visible()
