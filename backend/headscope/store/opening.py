"""The database as commands and notebooks use it: folders made, tables brought up to date, then opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headscope.errors import Unavailable
from headscope.settings import Settings
from headscope.store import migrate
from headscope.store.session import Store, open_store


@contextmanager
def opened(settings: Settings) -> Iterator[Store]:
    """The database that the settings name; ``Unavailable`` where it or its folder can't be had."""
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"The data folder {settings.data_dir} can't be created: {error.strerror}.",
            "Set HEADSCOPE_DATA_DIR to a folder that you may write to.",
            code="data-folder",
        ) from error
    migrate.upgrade(settings)
    store = open_store(settings)
    try:
        yield store
    finally:
        store.close()
