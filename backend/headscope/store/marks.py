"""Things done once and for all, such as importing a gallery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from headscope.store.tables import Mark


def get(session: Session, name: str) -> dict[str, Any] | None:
    """What was noted under that name."""
    mark = session.get(Mark, name)
    return None if mark is None else mark.value


def put(session: Session, name: str, value: Mapping[str, Any]) -> None:
    """Note something under a name, in place of what stood there."""
    session.merge(Mark(name=name, value=dict(value)))
