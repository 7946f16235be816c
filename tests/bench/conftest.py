"""One record for all benchmarks of a session, and the browser of the flows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from e2e.conftest import browser  # noqa: F401
from services.bench import Bench


@pytest.fixture(scope="session")
def figures() -> Bench:
    """One record for the session."""
    return Bench()


@pytest.fixture
def bench(figures: Bench) -> Iterator[Bench]:
    """Where figures go: build/bench.json. All of a benchmark's are taken before a missed one fails it."""
    figures.missed.clear()
    yield figures
    assert not figures.missed, "; ".join(figures.missed)
