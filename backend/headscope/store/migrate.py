"""Bring a database's tables up to date, whoever starts first.

1. Take a lock that the other starters respect: SQLite's write lock, a Postgres advisory lock.
2. Run the Alembic scripts that are missing, all in one transaction: a crash leaves the old tables.
3. Let DBOS make or update its own tables beside ours.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from headscope.errors import Refused, Unavailable
from headscope.settings import Settings
from headscope.store.session import Store, database_url, is_sqlite, open_store, saying_what_is_wrong

_PATIENCE = 120.0
_ADVISORY_KEY = 0x68656164
"""``head`` in ASCII; any number that other programs on the database don't use."""


def upgrade(settings: Settings) -> None:
    """Make or update all tables. Safe when several processes start at once, and quick when nothing is to do.

    Raises ``Unavailable`` where the database can't be had, ``Refused`` where a newer version made its tables.
    """
    store = open_store(settings, patience=_PATIENCE)
    try:
        with saying_what_is_wrong(store.engine.url), _one_at_a_time(store) as connection:
            _upgrade_ours(connection)
        _upgrade_engine(settings)
    finally:
        store.close()


def revision(store: Store) -> str | None:
    """The revision that the database is at; None before the first migration."""
    with saying_what_is_wrong(store.engine.url), store.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def head() -> str | None:
    """The revision that this version needs."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def engine_url(settings: Settings) -> str:
    """The same database, spelled as DBOS wants it."""
    url = database_url(settings)
    if not is_sqlite(url):
        url = url.set(drivername="postgresql")
    return url.render_as_string(hide_password=False)


def scripts() -> Path:
    """Where the Alembic scripts lie: in the wheel, or at the repository's root."""
    packaged = Path(__file__).parents[1] / "_alembic"
    return packaged if packaged.exists() else Path(__file__).parents[3] / "alembic"


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", scripts().as_posix().replace("%", "%%"))
    return config


def _upgrade_ours(connection: Connection) -> None:
    config = _config()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise Refused(
            f"A newer version of Headscope made this database's tables ({error}).",
            "Install that version, or use another database.",
            code="database-newer",
        ) from error


def _upgrade_engine(settings: Settings) -> None:
    from dbos import DBOS  # takes 0.3 s to import, and only starters migrate

    logging.getLogger("dbos").setLevel(logging.WARNING)
    url = database_url(settings)
    if is_sqlite(url):
        DBOS.migrate(engine_url(settings))  # takes SQLite's write lock by itself
        return
    store = open_store(settings)
    try:
        with saying_what_is_wrong(url), _postgres_lock(store):
            DBOS.migrate(engine_url(settings))
    finally:
        store.close()


@contextmanager
def _one_at_a_time(store: Store) -> Iterator[Connection]:
    if store.kind == "sqlite":
        with _sqlite_transaction(store) as connection:
            yield connection
    else:
        with _postgres_lock(store), store.engine.begin() as connection:
            yield connection


@contextmanager
def _sqlite_transaction(store: Store) -> Iterator[Connection]:
    _write_ahead(store)
    with store.engine.connect() as connection:
        driver = cast("sqlite3.Connection", connection.connection.driver_connection)
        driver.isolation_level = None  # or the driver would commit before each CREATE TABLE
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.exec_driver_sql("ROLLBACK")
                raise
            connection.exec_driver_sql("COMMIT")
        finally:
            driver.isolation_level = "IMMEDIATE"


def _write_ahead(store: Store) -> None:
    """Switch to a write-ahead log: readers and the writer no longer wait for each other."""
    deadline = time.monotonic() + _PATIENCE
    while True:  # SQLite doesn't wait for a lock here, whatever its busy timeout
        try:
            with store.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            return
        except OperationalError as error:
            if "locked" not in str(error.orig) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@contextmanager
def _postgres_lock(store: Store) -> Iterator[None]:
    # Asked for again and again, not waited for: a session that waits inside a statement holds a snapshot,
    # and the lock's holder may be creating an index concurrently, which waits for all snapshots.
    deadline = time.monotonic() + _PATIENCE
    with store.engine.connect() as connection:
        connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        while not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": _ADVISORY_KEY}):
            if time.monotonic() > deadline:
                raise Unavailable(
                    "Another process has been migrating the database for two minutes.",
                    "Stop it, or wait until it has finished.",
                    code="database-locked",
                )
            time.sleep(0.1)
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _ADVISORY_KEY})
