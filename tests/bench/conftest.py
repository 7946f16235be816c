"""One record for all benchmarks of a session, and the browser of the flows."""

from __future__ import annotations

import pytest

from e2e.conftest import browser  # noqa: F401
from services.bench import Bench


@pytest.fixture(scope="session")
def bench() -> Bench:
    """Where figures go: build/bench.json."""
    return Bench()
