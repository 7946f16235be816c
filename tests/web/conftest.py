"""The real app on a migrated database of each kind, reached as a browser on this machine would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headscope.settings import Settings
from headscope.web.app import create_app

BASE_URL = "http://127.0.0.1:8000"


@contextmanager
def browser(settings: Settings, **options: Any) -> Iterator[TestClient]:
    """A client with cookies of its own on an app of its own."""
    with TestClient(create_app(settings), base_url=options.pop("base_url", BASE_URL), **options) as client:
        yield client


@pytest.fixture
def bare(tmp_path: Path) -> Settings:
    """Settings for tests that touch no database."""
    return Settings(data_dir=tmp_path)
