"""The database: one engine, short sessions, and its failures said in words.

``open_store`` gives a ``Store``; ``with store.session() as session`` is one transaction, committed at
its end and rolled back on an error. A locked, full, missing or stopped database becomes
``Unavailable`` with what to do about it.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session, sessionmaker

from headscope.errors import Invalid, Unavailable
from headscope.settings import Settings

T = TypeVar("T")

LOCK_PATIENCE = 15.0
"""Seconds that a writer waits for another one's lock before it gives up."""


@dataclass(frozen=True)
class Store:
    """The database of one process. Safe to use from many threads."""

    engine: Engine
    sessions: sessionmaker[Session]

    @property
    def kind(self) -> Literal["sqlite", "postgresql"]:
        """Which database it is."""
        return "sqlite" if self.engine.dialect.name == "sqlite" else "postgresql"

    @contextmanager
    def session(self) -> Iterator[Session]:
        """One transaction: committed at the end, rolled back on an error.

        Raises ``Unavailable`` where the database is locked, full, read-only, missing or down.
        """
        with saying_what_is_wrong(self.engine.url), self.sessions() as session, session.begin():
            yield session

    def patiently(self, work: Callable[[Session], T], seconds: float = 60.0) -> T:
        """One transaction, tried again while the database is down or locked, for up to ``seconds``."""
        deadline = time.monotonic() + seconds
        pause = 0.1
        while True:
            try:
                with self.session() as session:
                    return work(session)
            except Unavailable as error:
                if error.code not in _PASSING or time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, 2.0)

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()


def open_store(settings: Settings, *, patience: float = LOCK_PATIENCE) -> Store:
    """Open the database that the settings name; ``store.migrate.upgrade`` must have made its tables.

    ``patience`` is how many seconds a writer waits for a lock. ``Invalid`` for a URL that can't be used.
    """
    url = database_url(settings)
    engine = _sqlite_engine(url, patience) if is_sqlite(url) else _postgres_engine(url)
    return Store(engine, sessionmaker(engine, expire_on_commit=False))


def database_url(settings: Settings) -> URL:
    """The settings' URL with the driver we use; ``Invalid`` for other databases or malformed text."""
    try:
        url = make_url(settings.url)
    except ArgumentError:
        raise Invalid(
            "HEADSCOPE_DATABASE_URL is not a database URL.",
            "Write sqlite:////path/headscope.db or postgresql://user:password@host/database.",
            code="database-url",
        ) from None
    backend = url.get_backend_name()
    if backend == "sqlite":
        return url
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise Invalid(
        f"HEADSCOPE_DATABASE_URL names {backend}, which is not supported.",
        "Use SQLite (leave it unset) or postgresql://user:password@host/database.",
        code="database-url",
    )


def is_sqlite(url: URL) -> bool:
    """Whether the URL names a SQLite file."""
    return url.get_backend_name() == "sqlite"


def _sqlite_engine(url: URL, patience: float) -> Engine:
    if url.database:
        folder = Path(url.database).parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(
                f"The data folder {folder} can't be created: {error.strerror}.",
                "Set HEADSCOPE_DATA_DIR to a folder that you may write to.",
                code="data-folder",
            ) from error
    engine = create_engine(url, connect_args={"timeout": patience})

    @event.listens_for(engine, "connect")
    def _(connection: sqlite3.Connection, _: Any) -> None:
        # IMMEDIATE: a write takes the lock at once and so waits its turn; a transaction that upgraded
        # from reading to writing would fail as "locked" without waiting.
        connection.isolation_level = "IMMEDIATE"
        connection.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")

    return engine


def _postgres_engine(url: URL) -> Engine:
    try:
        return create_engine(
            url, pool_pre_ping=True, pool_size=10, max_overflow=10, pool_timeout=15,
            connect_args={"connect_timeout": 10, "application_name": "headscope"},
        )  # fmt: skip
    except (ModuleNotFoundError, NoSuchModuleError):
        raise Invalid(
            "Postgres needs its driver, which is not installed.",
            "pip install 'headscope[postgres]'.",
            code="database-driver",
        ) from None


@contextmanager
def saying_what_is_wrong(url: URL) -> Iterator[None]:
    """Turn what a database driver says into ``Unavailable`` with a remedy."""
    try:
        yield
    except PoolTimeout as error:
        raise Unavailable(
            "All database connections are busy.",
            "Try again in a few seconds.",
            code="database-busy",
        ) from error
    except DBAPIError as error:
        problem = _problem(error, url)
        if problem is None:
            raise
        raise problem from error


_PASSING = frozenset({"database-locked", "database-down", "database-busy"})


def _problem(error: DBAPIError, url: URL) -> Unavailable | None:
    said = str(error.orig).lower()
    where = url.database if is_sqlite(url) else url.render_as_string(hide_password=True)
    if "locked" in said or "busy" in said:
        return Unavailable(
            "The database is locked by another program.",
            "Close the program that holds it, or try again in a few seconds.",
            code="database-locked",
        )
    if "disk is full" in said or "no space left" in said or "disk full" in said:
        return Unavailable(
            "The disk is full; nothing that was stored is lost.",
            f"Free some space where {where} lies and try again.",
            code="disk-full",
        )
    if "readonly" in said or "read-only" in said:
        return Unavailable(
            f"The database {where} can't be written to.",
            "Give this user the right to write there, or set HEADSCOPE_DATA_DIR to another folder.",
            code="database-read-only",
        )
    if "no such table" in said or ("relation" in said and "does not exist" in said):
        return Unavailable(
            "The database's tables are missing or out of date.",
            "Run `headscope db upgrade`.",
            code="database-not-migrated",
        )
    if "no such column" in said or ("column" in said and "does not exist" in said):
        return Unavailable(
            "The database's tables are out of date.",
            "Run `headscope db upgrade`.",
            code="database-not-migrated",
        )
    if "malformed" in said or "not a database" in said:
        return Unavailable(
            f"{where} is damaged or not a database.",
            "Restore it from a backup, or move it away and start with an empty one.",
            code="database-damaged",
        )
    if is_sqlite(url) and ("unable to open" in said or "disk i/o error" in said):
        return Unavailable(
            f"The database {where} can't be opened.",
            "Check that its folder exists and can be written to, or set HEADSCOPE_DATA_DIR.",
            code="database-missing",
        )
    if error.connection_invalidated or type(error.orig).__name__ in _DOWN:
        return Unavailable(
            f"The database at {where} does not answer.",
            "Start it, or check HEADSCOPE_DATABASE_URL.",
            code="database-down",
        )
    return None


_DOWN = frozenset({
    "OperationalError", "AdminShutdown", "CannotConnectNow", "CrashShutdown", "ConnectionTimeout",
    "InterfaceError", "ConnectionFailure",
})  # fmt: skip
