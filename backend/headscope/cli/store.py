"""One transaction in the database, as most commands need it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from headscope.settings import Settings


@contextmanager
def transaction(settings: Settings) -> Iterator[Session]:
    """One transaction in the database that the settings name, committed at its end."""
    from headscope.store.opening import opened

    with opened(settings) as store, store.session() as session:
        yield session
