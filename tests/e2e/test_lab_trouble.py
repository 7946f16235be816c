"""What goes wrong in the prompt lab, and a batch from its file to the prompt where a head is strongest."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psutil
import pytest
from playwright.sync_api import BrowserContext, FilePayload, Locator, Page, expect

from services.server import Server

WORDS = "was li thee th ne su our are lo know there"


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page on which requests may fail, but nothing is ever thrown."""
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(f"uncaught: {error}"))
    yield opened
    assert errors == []


def heads(page: Page) -> Locator:
    return page.get_by_role("application", name=re.compile(r"^Patterns of \d+ heads"))


def write(page: Page, text: str) -> None:
    """Into the editor at once, as a paste does: NUL goes through no keyboard."""
    page.get_by_label("Your prompt").evaluate(
        """(area, text) => {
            const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value');
            set.call(area, text);
            area.dispatchEvent(new Event('input', { bubbles: true }));
        }""",
        text,
    )


def test_a_text_that_is_no_prompt_is_told_and_the_page_goes_on(page: Page, lab: str) -> None:
    page.goto(lab)
    expect(heads(page)).to_be_visible()
    page.get_by_role("button", name="Write a prompt").click()
    look = page.get_by_role("button", name="Analyse")
    for text, says in (
        ("x" * 1_000_000, "1,000,000 characters; a prompt has 400,000 at most"),
        ("a\0b", "Character 2 is NUL"),
    ):
        write(page, text)
        expect(page.get_by_role("alert")).to_contain_text(says)
        expect(look).to_be_disabled()
    write(page, "ab ab ab")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(look).to_be_enabled()
    look.click()
    page.wait_for_url(re.compile(r"prompt=[0-9a-f]+"))
    expect(heads(page)).to_be_visible()


def test_files_that_are_no_prompts_are_told(page: Page, lab: str) -> None:
    page.goto(lab)
    expect(heads(page)).to_be_visible()
    for name, content, says in (
        ("many.jsonl", b'{"text": "a b a b"}\n' * 10_001, "more than 10,000 prompts"),
        ("open.csv", b'text,source\n"abc,1\nfoo,2\n', "a double quote is opened and never closed"),
        ("mixed.csv", b"text\nh\xe9llo\n\xe6\x97\xa5\n", "byte 0xE9 is not UTF-8"),
        ("empty.txt", b"", "the prompt is empty"),
    ):
        chosen: FilePayload = {"name": name, "mimeType": "text/plain", "buffer": content}
        page.locator("input[type=file]").set_input_files(chosen)
        expect(page.get_by_role("alert")).to_contain_text(says)
    expect(heads(page)).to_be_visible()


def test_a_batch_leads_from_its_file_to_the_prompt_where_a_head_is_strongest(page: Page, lab: str) -> None:
    page.goto(lab)
    expect(heads(page)).to_be_visible()
    words = WORDS.split()
    turned = [" ".join(words[i:] + words[:i]) for i in range(len(words))]
    rows = "text\n" + "".join(f" {text} {text}\n" for text in turned)
    page.locator("input[type=file]").set_input_files(
        {"name": "turned.csv", "mimeType": "text/csv", "buffer": rows.encode()}
    )
    page.get_by_role("button", name="Score the whole batch").click()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f]+"))
    expect(page.get_by_text("The strongest induction heads")).to_be_visible(timeout=90_000)
    page.goto(f"{page.url.split('?')[0]}?head=1.5")
    strongest = page.get_by_role("region", name="Prompts where it is strongest")
    link = strongest.get_by_role("link").first
    number = int(link.inner_text())
    link.click()
    page.wait_for_url(re.compile(r"/lab\?.*head=1\.5"))
    expect(page.get_by_label(re.compile(r"^Prompt .*of 11$"))).to_have_value(str(number))
    expect(heads(page)).to_be_visible()


def test_the_page_finds_a_worker_again_that_was_killed(page: Page, lab: str, server: Server) -> None:
    page.goto(lab)
    expect(heads(page)).to_be_visible()
    worker = server.worker_pid()
    assert worker is not None
    psutil.Process(worker).kill()
    heads(page).focus()
    page.keyboard.press("Home")
    page.keyboard.press("m")
    card = page.get_by_role("region", name="Next token")
    expect(card.get_by_role("alert")).to_be_visible()
    expect(card.get_by_role("alert")).to_have_count(0, timeout=120_000)
    expect(card.get_by_role("list")).to_contain_text("→")
