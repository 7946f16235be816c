"""The mixing board in a real Chromium: by keyboard, and a view of it shared, opened elsewhere, revoked."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

MINUTE = 60_000


def next_tokens(page: Page) -> Locator:
    """The list of next tokens, once it is drawn."""
    tokens = page.get_by_role("list", name="Most likely next tokens, before and after")
    expect(tokens.get_by_role("listitem").first).to_be_visible(timeout=MINUTE)
    return tokens


def board(page: Page) -> Locator:
    return page.get_by_role("region", name="Mixing board")


def mute_the_strongest(page: Page) -> str:
    """Mute the head with the strongest induction; the next tokens as they then read."""
    tokens = next_tokens(page)
    before = tokens.inner_text()
    board(page).get_by_role("button", name="Preset").click()
    page.get_by_role("menuitem", name="Mute the strongest").click()
    expect(board(page)).to_contain_text("1 head muted")
    expect(tokens).not_to_have_text(before)
    expect(page.locator(".next-tokens [aria-busy=false]")).to_be_visible()
    return tokens.inner_text()


def make_link(page: Page) -> str:
    page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog", name="Share this view")
    expect(dialog).to_contain_text("can read the prompt’s text")
    dialog.get_by_role("button", name="Create link").click()
    link = dialog.get_by_role("textbox", name="The link").input_value()
    page.keyboard.press("Escape")
    return link


def test_a_view_is_shared_and_opened_elsewhere_without_a_worker(
    page: Page, lab: str, browser: Browser, screenshots: Path
) -> None:
    page.goto(lab)
    shown = mute_the_strongest(page)
    page.screenshot(path=screenshots / "lab-muted-light.png", full_page=True)
    link = make_link(page)
    assert re.search(r"/s/[\w-]{16,}$", link)
    stranger = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        other = stranger.new_page()
        asked: list[str] = []
        other.on("request", lambda request: asked.append(request.url))
        other.goto(link)
        assert next_tokens(other).inner_text() == shown
        expect(other.get_by_role("region", name=re.compile("The prompt, 63 tokens"))).to_be_visible()
        expect(board(other)).to_contain_text("1 head muted")
        expect(board(other).get_by_role("slider").first).to_be_disabled()
        expect(other.get_by_role("button", name="Share")).to_have_count(0)
        assert [url for url in asked if "/api/v1/lab/" in url] == []
        other.screenshot(path=screenshots / "lab-shared-light.png", full_page=True)

        other.get_by_role("button", name="open in the lab").click()
        other.wait_for_url(re.compile(r"/lab\?.*prompt="))
        expect(board(other)).to_contain_text("1 head muted")
        assert next_tokens(other).inner_text() == shown
    finally:
        stranger.close()


def test_a_revoked_view_opens_no_more(page: Page, lab: str, context: BrowserContext) -> None:
    page.goto(lab)
    next_tokens(page)
    link = make_link(page)
    page.get_by_role("button", name="Share").click()
    token = link.rsplit("/", 1)[1]
    row = page.get_by_role("listitem").filter(has_text=token[:8])
    row.get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)
    other = context.new_page()  # the browser's console rightly notes the 410
    other.goto(link)
    expect(other.get_by_role("main")).to_contain_text("no longer works")


def test_the_prompt_is_in_no_address(page: Page, lab: str) -> None:
    page.goto(lab)
    mute_the_strongest(page)
    assert "Zor" not in page.url
    assert "Zor" not in make_link(page)


def test_the_board_works_by_keyboard_alone(page: Page, lab: str) -> None:
    page.goto(lab)
    next_tokens(page)
    state = board(page).get_by_role("status")
    cells = board(page).get_by_role("grid")
    cells.locator("[tabindex='0']").focus()

    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(cells.locator(":focus")).to_have_accessible_name("1.1, open")
    page.keyboard.press("m")
    expect(cells.locator(":focus")).to_have_accessible_name("1.1, muted")
    page.keyboard.press("+")
    expect(cells.locator(":focus")).to_have_accessible_name("1.1, 10 %")
    page.wait_for_url(re.compile(r"mute=1\.1%3A0\.1(&|$)"))

    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect(state).to_contain_text("all open")
    page.keyboard.press("Control+Shift+Z")
    expect(state).to_contain_text("1 head muted")

    page.keyboard.press("l")
    expect(state).to_contain_text("selected: 8 heads")
    page.keyboard.press("m")
    expect(state).to_contain_text("8 heads muted")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    expect(state).to_contain_text("15 heads muted")
    page.reload()
    next_tokens(page)
    expect(state).to_contain_text("15 heads muted")


def test_a_fast_drag_leaves_no_queue(page: Page, lab: str) -> None:
    page.goto(lab)
    next_tokens(page)
    flying = peak = 0

    def sent(request: object) -> None:
        nonlocal flying, peak
        if "/lab/gates" in str(request):
            flying += 1
            peak = max(peak, flying)

    def answered(request: object) -> None:
        nonlocal flying
        if "/lab/gates" in str(request):
            flying -= 1

    page.on("request", lambda request: sent(request.url))
    page.on("requestfinished", lambda request: answered(request.url))
    page.on("requestfailed", lambda request: answered(request.url))
    cell = board(page).locator("[data-at='10']").bounding_box()
    assert cell is not None
    x, y = cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(x, y + 5 + step)
    page.mouse.up()
    expect(board(page)).to_contain_text("1 head lowered")
    expect(page.locator(".next-tokens [aria-busy=false]")).to_be_visible()
    assert peak == 1
    page.keyboard.press("Control+z")
    expect(board(page).get_by_role("status")).to_contain_text("all open")  # a whole drag is one step
