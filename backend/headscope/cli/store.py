"""The database as commands use it: folders made, tables brought up to date, then opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from headscope.settings import Settings
    from headscope.store.session import Store


@contextmanager
def opened(settings: Settings) -> Iterator[Store]:
    """The database that the settings name; ``Unavailable`` where it or its folder can't be had."""
    from headscope.errors import Unavailable
    from headscope.store import migrate, session

    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"The data folder {settings.data_dir} can't be made: {error.strerror}.",
            "Set HEADSCOPE_DATA_DIR to a folder that you may write to.",
            code="data-folder",
        ) from error
    migrate.upgrade(settings)
    store = session.open_store(settings)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def transaction(settings: Settings) -> Iterator[Session]:
    """One transaction in that database, committed at its end."""
    with opened(settings) as store, store.session() as session:
        yield session
