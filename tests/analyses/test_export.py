"""Exports read back: numbers to the last bit, the page without network, pictures as pictures."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
from html import escape, unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from figures.results import result, without_fit
from figures.samples import SAMPLES
from headscope.analyses import figures
from headscope.analyses.base import Result
from headscope.analyses.export import EXPORTS, export, picture
from headscope.core.arrays import decode
from headscope.core.model.head_list import as_text, read_heads
from headscope.errors import Invalid, NotFound, Refused, Unavailable

RUN: dict[str, Any] = {
    "id": "0123456789abcdef0123",
    "preset": "quick",
    "wall_seconds": 700.0,
    "machine": "2 cores",
    "code_version": "0.1.0",
    "finished_at": "2026-01-02T03:04:05Z",
    "reproduce": "headscope run chg --model tiny --task 'pairs</pre><script>x()</script>'",
}


@pytest.fixture(scope="module")
def whole() -> Result:
    return without_fit(result(layers=3, heads=6, kv_heads=3, seeds=4, steps=120), 2)


def test_every_format_has_a_media_type_and_a_name(whole: Result) -> None:
    for kind in ("csv", "json", "npz", "html"):
        made = export(whole, kind, RUN)
        assert made.media_type == EXPORTS[kind]
        assert re.fullmatch(r"headscope-tiny-pairs-01234567\." + kind, made.filename)
    assert export(whole, "csv", figure="ecdf").filename == "headscope-tiny-pairs-ecdf.csv"


def test_json_is_the_result(whole: Result) -> None:
    again = Result.from_json(json.loads(export(whole, "json", RUN).content))
    assert again.model == whole.model
    assert set(again.arrays) == set(whole.arrays)
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(again.arrays[name], array)


def test_npz_is_the_result_without_pickle(whole: Result) -> None:
    with np.load(io.BytesIO(export(whole, "npz").content), allow_pickle=False) as stored:
        for name, array in whole.arrays.items():
            np.testing.assert_array_equal(stored[name], array)
        rest = json.loads(str(stored["result"]))
    assert rest["params"] == dict(whole.params)
    assert rest["seeds"] == list(whole.seeds)


@pytest.mark.parametrize("name", figures.names("chg"))
def test_csv_holds_the_table(whole: Result, name: str) -> None:
    table = figures.table(whole, name, 0.7)
    text = export(whole, "csv", figure=name, threshold=0.7).content.decode()
    header, *rows = csv.reader(io.StringIO(text))
    assert header == [column["name"] for column in table["columns"]]
    assert len(rows) == len(table["rows"])
    for row, expected in zip(rows, table["rows"], strict=True):
        for cell, value in zip(row, expected, strict=True):
            if value is None:
                assert cell == ""
            elif isinstance(value, bool):
                assert cell == str(value).lower()
            elif isinstance(value, float):
                assert float(cell) == value
            else:
                assert cell == str(value)


def test_csv_of_a_run_has_a_row_for_each_head(whole: Result) -> None:
    rows = list(csv.DictReader(io.StringIO(export(whole, "csv").content.decode())))
    assert len(rows) == 3 * 6
    assert {"layer", "head", "kv_group", "facilitation_mean", "facilitation_sd", "share_needed"} <= set(
        rows[0]
    )
    kept = whole.arrays["g_minus"][[0, 1, 3], 1, 4]
    (row,) = [row for row in rows if (row["layer"], row["head"]) == ("1", "4")]
    assert float(row["facilitation_mean"]) == pytest.approx(kept.mean(), rel=1e-5)
    assert float(row["facilitation_sd"]) == pytest.approx(kept.std(ddof=1), rel=1e-4)
    assert float(row["share_needed"]) == pytest.approx((kept >= 0.5).mean())
    assert row["kv_group"] == "2"


def test_json_of_a_figure_is_its_table_with_its_reading(whole: Result) -> None:
    content = json.loads(export(whole, "json", figure="heldout").content)
    assert content["rows"] == figures.table(whole, "heldout")["rows"]
    assert content["reading"]


def test_a_figure_about_one_head_is_exported_for_the_head_asked_for() -> None:
    made = SAMPLES["eigen"]()
    for head in ("0.1", "1.2"):
        rows = list(
            csv.reader(io.StringIO(export(made, "csv", figure="spectra", head=head).content.decode()))
        )
        assert {row[0] for row in rows[1:]} == {head}
        words = json.loads(export(made, "json", figure="spectra", head=head).content)
        assert words["title"].endswith(head)
        assert (
            f"Eigenvalues of head {head}"
            in export(made, "html", figure="spectra", head=head).content.decode()
        )


def test_what_can_not_be_exported_says_why(whole: Result) -> None:
    with pytest.raises(Invalid, match="csv, json, npz, html, ipynb, png, svg"):
        export(whole, "xlsx")
    with pytest.raises(NotFound, match="roles"):
        export(whole, "csv", figure="pie")
    with pytest.raises(Invalid):
        export(whole, "html", theme="sepia")
    with pytest.raises(Invalid):
        export(whole, "csv", threshold=0.0)


def test_without_a_browser_pictures_are_refused(whole: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHROMIUM", "BROWSER_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(picture, "_PLACES", ())
    with pytest.raises(Unavailable, match="Chromium") as refused:
        export(whole, "png")
    assert refused.value.code == "no-browser"
    assert "HTML" in refused.value.remedy


def test_a_browser_that_does_not_work_is_told_apart(
    whole: Result, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(broken))
    monkeypatch.setattr(picture, "PATIENCE", 5.0)
    with pytest.raises(Unavailable) as refused:
        export(whole, "png")
    assert refused.value.code == "picture-failed"


def test_png_and_svg_are_drawn(whole: Result, chromium_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", str(chromium_path))
    png = export(whole, "png", RUN, theme="dark")
    assert png.filename.endswith("-roles.png")
    assert png.content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png.content[16:24])
    assert width == 2 * 580
    assert height > 400
    svg = export(whole, "svg", RUN, figure="ecdf").content.decode()
    assert svg.startswith("<svg")
    assert "data:font/woff2" in svg
    assert ">tiny on a <b>task</b> & more · role at ≥ 0.50<" in unescape(svg)


def test_the_page_names_no_other_host(whole: Result) -> None:
    text = export(whole, "html", RUN).content.decode()
    page = re.sub(r'<script type="text/plain" id="plotly">.*?</script>', "", text, flags=re.DOTALL)
    assert not re.search(r"(src|href)=", page)
    assert "http:" not in page
    assert "https:" not in page


@pytest.mark.parametrize("analysis", SAMPLES)
def test_every_analysis_has_a_page_with_all_its_figures(analysis: str) -> None:
    sample = SAMPLES[analysis]()
    text = export(sample, "html", RUN).content.decode()
    for name in figures.names(analysis):
        assert escape(figures.build(sample, name)["layout"]["meta"]["reading"]) in text


def test_text_of_a_run_can_not_become_markup(whole: Result) -> None:
    text = export(whole, "html", RUN).content.decode()
    assert "<script>x()" not in text
    assert "a <b>task</b>" not in text
    assert "tiny on a &lt;b&gt;task&lt;/b&gt; &amp; more" in text


@pytest.fixture(scope="module")
def browser(chromium_path: Path) -> Any:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(chromium_path), args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, whole: Result, tmp_path: Path) -> Any:
    """The exported page, opened from disk without network; anything it logs or asks for fails the test."""
    file = tmp_path / "run.html"
    file.write_bytes(export(whole, "html", RUN, threshold=0.6).content)
    opened = browser.new_page(viewport={"width": 1180, "height": 900})
    trouble: list[str] = []
    opened.on("console", lambda message: trouble.append(message.text))
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    opened.on(
        "request", lambda request: trouble.extend([request.url] if request.url.startswith("http") else [])
    )
    opened.context.set_offline(True)
    opened.goto(file.as_uri())
    opened.wait_for_selector('html[data-drawn="true"]')
    yield opened
    assert trouble == []
    opened.close()


def test_the_page_draws_every_figure_offline(page: Page, whole: Result) -> None:
    for name in figures.names("chg"):
        assert page.locator(f"#figure-{name} .main-svg").count() > 0
    assert page.locator("h1").text_content() == "tiny on a <b>task</b> & more"
    assert page.locator("pre").text_content() == RUN["reproduce"]
    page.locator("details").first.click()
    assert page.locator("table").first.locator("tbody tr").count() == 3 * 6


def test_the_page_follows_theme_and_mode(page: Page, whole: Result) -> None:
    page.click("#theme")
    page.wait_for_function(
        "document.querySelector('#figure-ecdf').layout.template.layout.paper_bgcolor === '#1b1e24'"
    )
    page.click('[data-mode="any"]')
    expected = decode(figures.build(whole, "roles", 0.6, "any")["data"][0]["z"])
    page.wait_for_function(
        "row => Array.from(document.querySelector('#figure-roles')._fullData[0].z[0]).join() === row",
        arg=",".join(map(str, expected[0])),
    )
    assert "violet" in (page.locator("#reading-roles").text_content() or "")


def test_the_page_says_what_lies_under_the_pointer(page: Page) -> None:
    drag = page.locator("#figure-roles .nsewdrag").bounding_box()
    assert drag is not None
    page.mouse.move(drag["x"] + drag["width"] * 0.48, drag["y"] + drag["height"] * 0.07)
    page.wait_for_selector("#tip:not([hidden])")
    assert (page.locator("#tip").text_content() or "").startswith("Layer 1 · head 0\n")


# -- lists of heads -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "enough"), [("always", 3), ("every", 2), ("any", 1)])
def test_a_gating_runs_heads_are_those_that_enough_fits_need(whole: Result, mode: str, enough: int) -> None:
    g_minus = whole.arrays["g_minus"]
    ran = np.isfinite(g_minus).all(axis=(1, 2))
    assert ran.sum() == 3
    needed = np.argwhere((g_minus[ran] >= 0.6).sum(axis=0) >= enough)
    made = export(whole, "heads", RUN, threshold=0.6, mode=mode)
    assert made.filename == "headscope-tiny-pairs-01234567-heads.txt"
    assert made.content.decode().startswith(f"# {len(needed)} heads of tiny, ")
    assert [list(head) for head in read_heads(made.content.decode())] == needed.tolist()


def test_each_form_of_a_list_of_heads_is_read_again() -> None:
    for analysis, heads in (("circuit-test", "0.0, 0.2, 1.0"), ("sufficiency", "0.0, 0.2, 1.0")):
        for kind in ("heads", "heads.csv", "heads.json"):
            made = export(SAMPLES[analysis](), kind)
            assert as_text(read_heads(made.content.decode())) == heads
            assert made.media_type == EXPORTS[kind]
    assert made.filename.endswith("-heads.json")


def test_a_run_without_heads_gives_no_list() -> None:
    with pytest.raises(Refused) as refused:
        export(SAMPLES["eigen"](), "heads")
    assert refused.value.code == "no-heads"
