"""A large run's page: 32 x 32 heads, ten seeds; its first picture within half a second of its data."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from figures.results import result
from headscope.analyses.chg import CHG
from headscope.analyses.request import Request
from headscope.settings import Settings
from headscope.store import migrate, runs
from headscope.store.session import open_store
from services.bench import Bench
from services.server import Server

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

RUN = "0123456789abcdef0123"

PAINTED = """() => new Promise(done => {
    const look = () => {
        if (!document.querySelector('.role-grid .heatmaplayer image')) {
            requestAnimationFrame(look);
            return;
        }
        const data = performance.getEntriesByType('resource')
            .filter(entry => /\\/(result|figures\\/roles)(\\?|$)/.test(entry.name))
            .map(entry => entry.responseEnd);
        requestAnimationFrame(() => done(performance.now() - Math.max(...data)));
    };
    look();
})"""
"""Milliseconds from the arrival of the result and the role grid's figure to the drawn grid."""


@pytest.fixture
def large(tmp_path: Path) -> Iterator[Server]:
    """A server whose store holds a finished run of 32 x 32 heads and ten seeds."""
    settings = Settings(data_dir=tmp_path)
    migrate.upgrade(settings)
    store = open_store(settings)
    outcome = result(layers=32, heads=32, kv_heads=8, seeds=10, steps=500)
    request = Request(
        id=RUN, analysis="chg", version=1, title="Causal head gating", model=outcome.model, attention="sdpa",
        task="singular-plural", task_title="Singular to plural", task_hash="0", preset="paper",
        params=dict(outcome.params), seeds=tuple(outcome.seeds),
    )  # fmt: skip
    with store.session() as session:
        runs.add_finished(
            session, request, outcome, CHG.headline(outcome), origin="local", code_version="0",
            machine=None, wall_seconds=1.0, finished_at=datetime.now(UTC),
        )  # fmt: skip
    store.close()
    running = Server(tmp_path, "--no-worker")
    yield running
    running.stop()


def test_the_first_picture_of_a_large_run_comes_at_once(
    large: Server, browser: Browser, bench: Bench
) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        times = []
        for _ in range(5):
            page = context.new_page()
            page.goto(f"{large.url}/runs/{RUN}")
            times.append(float(page.evaluate(PAINTED)))
            expect(page.get_by_role("region", name="Roles of all heads")).to_be_visible()
            page.close()
    finally:
        context.close()
    bench.at_most("first picture of 32 x 32 heads x 10 seeds after its data", min(times), 500, "ms")
