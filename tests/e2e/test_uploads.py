"""Files that are wrong, in a real Chromium: the fault is said, nothing is lost, and they are tried again."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect


def says(page: Page, *words: str) -> None:
    """That the alert says these words, one after the other."""
    for each in words:
        expect(page.get_by_role("alert").first).to_contain_text(each)


def test_a_task_is_corrected_and_tried_again(
    context: BrowserContext, tmp_path: Path, screenshots: Path
) -> None:
    file = tmp_path / "hues.csv"
    file.write_text("prompt;target\nsky;blue\nsun;yellow;red\n")
    page = context.new_page()
    page.goto("/tasks")
    page.get_by_role("button", name="Add your own").click()
    page.get_by_label("File").set_input_files(file)
    page.get_by_label("Title").fill("Hues")
    page.get_by_role("button", name="Add", exact=True).click()
    says(page, "hues.csv, line 3, column 3: 3 columns, the first line has 2.", "in double quotes")
    page.screenshot(path=screenshots / "task-refused.png")
    file.write_bytes("prompt;target\r\nsky;blue\r\nsun;yellow\r\nsea;green\r\nsky;grey\r\n".encode("utf-16"))
    page.get_by_role("button", name="Add", exact=True).click()
    says(page, "hues.csv has changed or gone since it was chosen.", "Choose it again")
    page.get_by_label("File").set_input_files(file)
    assert page.get_by_label("Title").input_value() == "Hues", "what was filled in stays"
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("heading", name="Hues")).to_be_visible()
    expect(page.get_by_text("1 of 4 rows unused")).to_be_visible()


def test_gates_are_opened_from_a_file(
    context: BrowserContext, lab: str, tmp_path: Path, screenshots: Path
) -> None:
    file = tmp_path / "muted.csv"
    file.write_text("layer,head,gate\n0,0,1\n0,0,0.5\n")
    page = context.new_page()
    page.goto(lab)
    page.get_by_role("button", name="Preset").click()
    page.get_by_text("Saved gates…").click()
    page.get_by_label("A file with gates").set_input_files(file)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_contain_text("muted.csv, line 3: the head 0.0 stands on line 2")
    page.screenshot(path=screenshots / "gates-refused.png")
    rows = (f"{layer},{head},{int(head > 0)}\n" for layer in range(2) for head in range(8))
    file.write_text("layer,head,gate\n" + "".join(rows))
    page.get_by_label("A file with gates").set_input_files(file)
    expect(dialog.get_by_text("2 heads muted")).to_be_visible()
    expect(dialog.get_by_role("alert")).to_have_count(0)
