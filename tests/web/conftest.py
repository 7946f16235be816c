"""The real app on a migrated database of each kind, reached as a browser on this machine would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from figures.results import result as made_result
from headscope.analyses.base import Result
from headscope.analyses.request import Request
from headscope.settings import Settings
from headscope.store import migrate, runs
from headscope.store.session import Store, open_store
from headscope.web.app import create_app

BASE_URL = "http://127.0.0.1:8000"
TOKEN = "correct horse battery staple"
FINISHED_AT = datetime(2026, 1, 5, tzinfo=UTC)
HEADLINE = {"always_needed": 0.25, "any_needed": 0.5}


@contextmanager
def browser(settings: Settings, base_url: str = BASE_URL, **options: Any) -> Iterator[TestClient]:
    """A client with cookies of its own on an app of its own."""
    with TestClient(create_app(settings), base_url=base_url, **options) as client:
        yield client


@pytest.fixture
def bare(tmp_path: Path) -> Settings:
    """Settings for tests that touch no database."""
    return Settings(data_dir=tmp_path)


@pytest.fixture
def guarded(settings: Settings) -> Settings:
    """A server beyond loopback, with its token."""
    return settings.model_copy(update={"host": "192.0.2.7", "token": SecretStr(TOKEN)})


@pytest.fixture
def store(migrated: Settings) -> Iterator[Store]:
    opened = open_store(migrated)
    yield opened
    opened.close()


@pytest.fixture
def client(settings: Settings, store: Store) -> Iterator[TestClient]:
    with browser(settings) as client:
        yield client


@dataclass(frozen=True)
class Rows:
    """Puts runs into the store as jobs would."""

    store: Store

    def waiting(self, run_id: str, queue: str | None = "cpu") -> str:
        """A run that nobody computes yet."""
        with self.store.session() as session:
            runs.create_or_get(session, request_for(run_id, made_result()), queue=queue)
        return run_id

    def done(self, run_id: str, result: Result | None = None, **changes: Any) -> str:
        """A run with its result."""
        outcome = result or made_result()
        with self.store.session() as session:
            runs.add_finished(
                session,
                request_for(run_id, outcome, **changes),
                outcome,
                HEADLINE,
                origin="local",
                code_version="0.1.0",
                machine="2 cores",
                wall_seconds=42.0,
                finished_at=FINISHED_AT,
            )
        return run_id


@pytest.fixture
def rows(store: Store) -> Rows:
    return Rows(store)


def request_for(run_id: str, result: Result, **changes: Any) -> Request:
    """A request as if it had that id."""
    values: dict[str, Any] = {
        "id": run_id,
        "analysis": "chg",
        "version": 1,
        "title": "Causal head gating",
        "model": result.model,
        "attention": "sdpa",
        "task": "induction",
        "task_title": "Induction",
        "task_hash": "h1",
        "preset": "quick",
        "params": {"seeds": len(result.seeds), "clip": 2.0},
        "seeds": tuple(result.seeds),
    }
    return Request(**{**values, **changes})


@pytest.fixture(scope="session")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One app for many requests that must change nothing."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("bad"))
    migrate.upgrade(settings)
    with browser(settings) as client:
        yield client
