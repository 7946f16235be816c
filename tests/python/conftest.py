"""A data folder of the test's own, a real server, and the fastest run there is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headscope import Client
from services.server import Server

TINY: dict[str, Any] = {"steps": 3, "batch_size": 4, "n_train": 16, "n_test": 8}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder that ``hs.run`` uses."""
    monkeypatch.setenv("HEADSCOPE_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """``headscope serve`` with its worker."""
    running = Server(tmp_path_factory.mktemp("server"))
    with Client(running.url) as client:
        while not any(worker.alive for worker in client.health().workers):
            time.sleep(0.1)
    yield running
    running.stop()
