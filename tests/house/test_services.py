"""The services that tests rely on are the real ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg

from headscope.settings import Settings
from services.postgres import PostgresServer


def test_each_test_has_an_empty_database_of_its_own(settings: Settings) -> None:
    assert settings.url.startswith(("sqlite:///", "postgresql+psycopg://"))


def test_postgres_goes_down_and_comes_back_with_what_was_committed() -> None:
    server = PostgresServer()
    try:
        server.start()
        address = server.new_database().replace("+psycopg", "")
        with psycopg.connect(address) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
        server.stop()
        server.start()
        with psycopg.connect(address) as connection:
            assert connection.execute("SELECT n FROM kept").fetchone() == (7,)
    finally:
        server.remove()


def test_chromium_starts(chromium_path: Path) -> None:
    version = subprocess.run([chromium_path, "--version"], capture_output=True, text=True, check=True)
    assert "Chrom" in version.stdout
