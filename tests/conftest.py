"""Fixtures for every test: shapes checked while tests run, a database of each kind, a browser."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

# Before anything imports transformer-lens: nothing may phone home, and no test may need a hub.
os.environ.update(WANDB_MODE="disabled", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

from services.shapes import check_shapes

check_shapes()

import pytest

from headscope.settings import Settings
from headscope.store import migrate
from services.chromium import find_chromium
from services.postgres import PostgresServer

# A background job ignores Ctrl-C, and its children inherit that; tests that send it need it heard.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Flows in the browser come last: Playwright keeps an event loop running, in which no other can start."""
    items.sort(key=lambda item: "e2e" in item.path.parts)


@pytest.fixture(autouse=True)
def _no_settings_from_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("HEADSCOPE_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A running Postgres of this test session's own."""
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """An empty Postgres database."""
    url = postgres_server.new_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database: once a SQLite file, once Postgres."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'headscope.db'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> Settings:
    """Settings on an empty data folder and an empty database of each kind."""
    return Settings(data_dir=tmp_path, database_url=database_url)


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all tables, to copy."""
    folder = tmp_path_factory.mktemp("migrated")
    migrate.upgrade(Settings(data_dir=folder))
    return folder / "headscope.db"


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: PostgresServer) -> str:
    """The URL of a Postgres database with all tables, to copy."""
    url = postgres_server.new_database()
    migrate.upgrade(Settings(database_url=url))
    return url


@pytest.fixture
def migrated(settings: Settings, database_url: str, request: pytest.FixtureRequest) -> Settings:
    """The settings, their database with all tables: copied, which takes a tenth of making them."""
    if database_url.startswith("sqlite"):
        with (
            closing(sqlite3.connect(request.getfixturevalue("migrated_sqlite"))) as source,
            closing(sqlite3.connect(settings.data_dir / "headscope.db")) as to,
        ):
            source.backup(to)
    else:
        server = request.getfixturevalue("postgres_server")
        server.copy_database(request.getfixturevalue("migrated_postgres"), database_url)
    return settings


@pytest.fixture(scope="session")
def chromium_path() -> Path:
    """A Chromium that starts; `make test` installs one where there is none."""
    found = find_chromium()
    if found is None:
        pytest.fail("No Chromium: run `make test` once, or set CHROMIUM to its path.")
    return found
