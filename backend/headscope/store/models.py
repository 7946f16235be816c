"""Models that the operator added: a name and where its folder came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from headscope.errors import NotFound
from headscope.store.tables import UserModel


def load_user_models(session: Session) -> dict[str, dict[str, Any]]:
    """What was noted of each added model, by name."""
    return {row.name: row.content for row in session.scalars(select(UserModel).order_by(UserModel.name))}


def put(session: Session, name: str, content: Mapping[str, Any]) -> None:
    """Note a model, in place of one of that name."""
    session.merge(UserModel(name=name, content=dict(content)))


def remove(session: Session, name: str) -> None:
    """Forget a model's note; ``NotFound`` (unknown-model) where there is none."""
    if session.execute(delete(UserModel).where(UserModel.name == name)).rowcount == 0:  # type: ignore[attr-defined]
        raise NotFound(
            f"No model {name!r} was added.", "`headscope models list` shows them.", code="unknown-model"
        )
