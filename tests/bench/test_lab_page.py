"""1,024 heads at a glance: the first paint within half a second of the answer, scrolling without a hitch.

No model of that size runs here, so the worker's answer is made up; page, browser and server are real.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route

from headscope.core.arrays import encode
from services.bench import Bench
from services.server import Server

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

LAYERS, HEADS, TOKENS = 32, 32, 72
SIZE, BLOCK = 36, 2

PAINTED = """() => new Promise(done => {
    const look = () => {
        const canvas = document.querySelector('.thumb-canvas');
        const inside = canvas && canvas.height > 100 && canvas.closest('.thumb-box').clientHeight > 100;
        const [answer] = performance.getEntriesByType('resource')
            .filter(({ name }) => /lab\\/look/.test(name));
        if (!inside || !answer || !window.pictures || window.pictures < window.needed()) {
            requestAnimationFrame(look);
            return;
        }
        requestAnimationFrame(() => done(performance.now() - answer.responseEnd));
    };
    look();
})"""
"""Milliseconds from the arrival of the look to the frame in which all thumbnails in sight are painted."""

COUNTED = """
window.pictures = 0;
window.needed = () => {
    const box = document.querySelector('.thumb-box');
    const row = box.firstElementChild.clientHeight / Math.ceil(1024 / window.columns());
    return window.columns() * Math.ceil(box.clientHeight / row);
};
window.columns = () => Math.max(2, Math.floor((document.querySelector('.thumb-box').clientWidth + 12) / 108));
const draw = CanvasRenderingContext2D.prototype.putImageData;
CanvasRenderingContext2D.prototype.putImageData = function (...args) {
    window.pictures += 1;
    return draw.apply(this, args);
};
"""
"""Counts the small pictures that are made: one a head."""

SCROLLED = """() => new Promise(done => {
    const box = document.querySelector('.thumb-box');
    let [last, longest] = [performance.now(), 0];
    const step = now => {
        longest = Math.max(longest, now - last);
        last = now;
        box.scrollTop += 60;
        if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) done(longest);
        else requestAnimationFrame(step);
    };
    requestAnimationFrame(now => { last = now; requestAnimationFrame(step); });
})"""
"""The longest frame, in milliseconds, on the way from the first row to the last."""


def look() -> dict[str, Any]:
    """A worker's answer for a model of 32 x 32 heads."""
    rng = np.random.default_rng(0)
    token = {"id": 7, "start": 0, "end": 2, "text": " a", "hex": "2061", "special": False}
    names = ["induction", "prefix", "duplicate", "previous", "current", "sink", "entropy"]
    cells = rng.integers(0, 255, (LAYERS, HEADS, SIZE * (SIZE + 1) // 2), dtype=np.uint8)
    return {
        "model": "headscope-2l",
        "n_kv_heads": 8,
        "tokens": [token] * TOKENS,
        "n_ctx": 2048,
        "bos": "none",
        "copies": [[i - 1] if i > 0 else [] for i in range(TOKENS)],
        "scores": [{"name": name, "title": name, "reading": name, "unit": None} for name in names],
        "values": encode(rng.random((len(names), LAYERS, HEADS), dtype=np.float32)),
        "loss": encode(rng.random(TOKENS, dtype=np.float32)),
        "loss_first": 5.0,
        "loss_repeat": 1.0,
        "sink": 0.6,
        "thumbs": {"size": SIZE, "block": BLOCK, "values": encode(cells)},
    }


@pytest.fixture
def page(tmp_path: Path, browser: Browser) -> Iterator[Page]:
    """The lab of a server without a worker, which hears of a large model."""
    running = Server(tmp_path, "--no-worker")
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    answer = json.dumps(look())

    def models(route: Route) -> None:
        known = [
            {**model, "n_layers": LAYERS, "n_heads": HEADS, "n_kv_heads": 8} for model in route.fetch().json()
        ]
        route.fulfill(json=known)

    opened.route("**/api/v1/models", models)
    opened.route(
        "**/api/v1/lab/look", lambda route: route.fulfill(body=answer, content_type="application/json")
    )
    opened.add_init_script(COUNTED)
    opened.goto(f"{running.url}/lab?model=headscope-2l")
    yield opened
    context.close()
    running.stop()


def test_a_thousand_heads_are_painted_at_once_and_scroll_smoothly(page: Page, bench: Bench) -> None:
    first = float(page.evaluate(PAINTED))
    bench.at_most("first paint of 1,024 patterns after their data", first, 500, "ms")
    page.wait_for_timeout(500)
    bench.at_most("longest frame scrolling 1,024 patterns", float(page.evaluate(SCROLLED)), 50, "ms")
